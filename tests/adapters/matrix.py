"""The tables of docs/reference/adapters.md and docs/how-to/other-frameworks.md, of rows that `run_all.sh` asks for.

`python -m tests.adapters.matrix adapter langchain` and `… recipe smolagents` print a row, in the environment of the
framework; `… write` takes all rows from standard input.
"""

import importlib
import re
import sys
from importlib.metadata import requires, version
from pathlib import Path

from permitry.guard.capabilities import Capabilities
from permitry.testing.conformance import CASES

DOCS = Path(__file__).resolve().parents[2] / "docs"
MARK = "<!-- written by tests/adapters/run_all.sh -->\n"
ADAPTERS = """| adapter | seen with | asks | edits | answers in another process | cases passed |
|---|---|---|---|---|---|
"""
RECIPES = """| recipe | seen with | asks | edits | answers in another process | cases passed |
|---|---|---|---|---|---|
"""


def adapter(name: str) -> str:
    """Return the row of an adapter whose tests have passed."""
    module = importlib.import_module(f"permitry_hosts.adapters.{name.replace('-', '_')}")
    capabilities: Capabilities = module.CAPABILITIES
    needed = [text for text in requires("permitry") or () if re.search(rf"extra == ['\"]{name}['\"]", text)]
    names = sorted({re.split(r"[^\w.-]", text)[0] for text in needed})
    frameworks = ", ".join(f"{each} {version(each)}" for each in names) or f"Python {sys.version.split()[0]}"
    passed = sum(case.needs(capabilities) for case in CASES)
    return _row(f"`{module.__name__}`", frameworks, capabilities, passed)


def recipe(name: str) -> str:
    """Return the row of a recipe whose tests have passed."""
    module = importlib.import_module(f"tests.adapters.recipes.test_{name.replace('-', '_')}")
    link = f"[{module.SECTION}](#{module.SECTION.lower().replace(' ', '-')})"
    return _row(link, f"{name} {version(name)}", module.CAPABILITIES, len(module.CASES))


def _row(name: str, frameworks: str, capabilities: Capabilities, passed: int) -> str:
    words = {True: "yes", False: "no"}
    cells = (
        name, frameworks, capabilities.asks, words[capabilities.edits], words[capabilities.outlives],
        f"{passed} of {len(CASES)}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def write(rows: list[str]) -> None:
    """Put the rows into the pages, in place of those that are there."""
    recipes = [row for row in rows if row.startswith("| [")]
    for page, head, table in (
        ("reference/adapters.md", ADAPTERS, [row for row in rows if row not in recipes]),
        ("how-to/other-frameworks.md", RECIPES, recipes),
    ):
        text = (DOCS / page).read_text(encoding="utf-8")
        before, _, after = text.partition(MARK)
        after = re.sub(r"^(\|.*\n)*", "", after)
        (DOCS / page).write_text(before + MARK + head + "".join(table) + after, encoding="utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["adapter", name]:
            sys.stdout.write(adapter(name))
        case ["recipe", name]:
            sys.stdout.write(recipe(name))
        case _:
            write(sys.stdin.readlines())
