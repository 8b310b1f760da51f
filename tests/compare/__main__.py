"""See the package: `python -m tests.compare CHECKOUT`."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import tests.compare
from tests.compare.requests import KINDS, ROOT, Line

SHOWN = 20


def main() -> int:
    """Compare the checkouts, and return the exit code: 1 where an answer is another one."""
    parser = argparse.ArgumentParser(prog="python -m tests.compare", description=tests.compare.__doc__)
    parser.add_argument("checkout", type=Path, help="the other checkout, with `src` below it")
    parser.add_argument("--only", action="append", choices=KINDS, help="ask these; may be repeated")
    parser.add_argument("--generated", type=int, default=20_000, metavar="NUMBER", help="how many requests to make up")
    parser.add_argument("--seed", type=int, default=0, metavar="NUMBER", help="from which they are made up")
    given = parser.parse_args()
    if not (given.checkout / "src" / "permitry").is_dir():
        parser.error(f"{given.checkout} is no checkout: there is no src/permitry below it")
    different = 0
    for kind in given.only or KINDS:
        lines = list(KINDS[kind](given.generated, given.seed))
        calls = sum("tool" in line for line in lines)
        sys.stderr.write(f"{kind}: {calls} requests by {len(lines) - calls} rule files\n")
        different += compare(lines, given.checkout)
    sys.stdout.write(f"{different} different\n")
    return 1 if different else 0


def compare(lines: Sequence[Line], other: Path) -> int:
    """Print answers that are different in two checkouts, twenty at most, and return how many there are."""
    different, rules = 0, ""
    for line, one, two in zip(lines, *(answers(lines, checkout) for checkout in (ROOT, other)), strict=True):
        rules = line.get("rules", rules)
        if one != two and (different := different + 1) <= SHOWN:
            call = json.dumps({name: value for name, value in line.items() if name != "rules"})
            sys.stdout.write(f"{call}\n  rules  {rules}\n  here   {one}\n  there  {two}\n")
    return different


def answers(lines: Iterable[Line], checkout: Path) -> list[str]:
    """Return what the permitry of a checkout answers, a text for each line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "requests.jsonl")
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        program = [sys.executable, "-P", str(Path(__file__).with_name("answer.py")), str(path)]
        env = {**os.environ, "PYTHONPATH": str(checkout / "src"), "HOME": folder, "XDG_CACHE_HOME": folder}
        done = subprocess.run(program, cwd=folder, env=env, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
