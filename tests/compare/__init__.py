"""Holds two checkouts against each other: what is decided about the same calls, to the byte.

    python -m tests.compare CHECKOUT [--only KIND]... [--generated NUMBER] [--seed NUMBER]

prints each answer of this checkout that is another one in CHECKOUT, and fails if there is any. KIND is one of `golden`,
`disguises`, `cases` and `generated`.
"""
