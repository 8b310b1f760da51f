"""The table of docs/reference/adapters.md: `run_all.sh` asks for the row of each adapter, and then for the table.

`python tests/adapters/matrix.py row langchain` prints a row, in the environment of its framework; `write` takes all
rows from standard input.
"""

import importlib
import re
import sys
from importlib.metadata import requires, version
from pathlib import Path

from permitry.capabilities import Capabilities
from permitry.testing.conformance import CASES

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/adapters.md"
HEAD = """| adapter | seen with | asks | edits | answers in another process | cases passed |
|---|---|---|---|---|---|
"""


def row(adapter: str) -> str:
    """Return the row of an adapter whose tests have passed."""
    module = importlib.import_module(f"permitry.adapters.{adapter.replace('-', '_')}")
    capabilities: Capabilities = module.CAPABILITIES
    needed = [text for text in requires("permitry") or () if re.search(rf"extra == ['\"]{adapter}['\"]", text)]
    names = sorted({re.split(r"[^\w.-]", text)[0] for text in needed})
    frameworks = ", ".join(f"{name} {version(name)}" for name in names) or f"Python {sys.version.split()[0]}"
    passed = sum(case.needs(capabilities) for case in CASES)
    words = {True: "yes", False: "no"}
    cells = (
        f"`{module.__name__}`", frameworks, capabilities.asks, words[capabilities.edits],
        words[capabilities.outlives], f"{passed} of {len(CASES)}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def write(rows: str) -> None:
    """Put the rows into the page, in place of those that are there."""
    text = PAGE.read_text(encoding="utf-8")
    table = re.compile(r"(?<=<!-- written by tests/adapters/run_all.sh -->\n)(\|.*\n)*")
    PAGE.write_text(table.sub(lambda _: HEAD + rows, text), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "row":
        sys.stdout.write(row(sys.argv[2]))
    else:
        write(sys.stdin.read())
