from invoice import total

want, have = 7, total([(2, 3), (1, 1)])
print("ok" if have == want else f"total is {have}, want {want}")
raise SystemExit(have != want)
