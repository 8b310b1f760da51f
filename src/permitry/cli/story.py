"""What a human reads of a run besides its calls: how many became what, and where everything is."""

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.text import Text

from permitry.cli.render import SummaryRow, console_on
from permitry.cli.tables import counts_table
from permitry.config.catalogue import PREFIX
from permitry.core.texts import visible
from permitry.errors import count

__all__ = ["last_lines", "say", "tell_counts"]

_COLUMNS = ("calls", "verdict", "what became of them")


def say(text: str) -> None:
    """Print a line to standard error; a terminal breaks it between words."""
    console_on(sys.stderr).print(Text(visible(text)), soft_wrap=not sys.stderr.isatty())


def tell_counts(rows: Iterable[SummaryRow]) -> None:
    """Print how many calls had which verdict, and what became of them."""
    counts = Counter((row.verdict, row.outcome) for row in rows)
    lines = [(str(number), *row) for row, number in counts.most_common()]
    counts_table(console_on(sys.stderr), "permitry: what happened", _COLUMNS, lines)


def last_lines(record: str, rules: tuple[str, ...], asks: str, *, prints: bool) -> Iterator[str]:
    """Yield who was asked, the rules, and where the record is, and the results for the model if any are printed."""
    yield f"questions: {asks}"
    yield f"rules: {_name(rules)}"
    yield f"recorded in {record}"
    if not prints:
        yield "results for the model: none is printed on a terminal; see them with --json, or in a file with > FILE"
        return
    path = _output_file()
    if path is not None:
        yield f"results for the model: {path}"


def _name(rules: tuple[str, ...]) -> str:
    shipped = [name for name in rules if name.startswith(PREFIX)]
    more = [f"and {count(len(shipped) - 1, 'more shipped set')}"] if len(shipped) > 1 else []
    own = [name for name in rules if not name.startswith(PREFIX)]
    names = ", ".join([*own, *shipped[:1]])
    return " ".join([names, *more]) or "the built-in ones"


def _output_file() -> Path | None:
    try:
        descriptor = sys.stdout.fileno()
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        return path if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except (OSError, ValueError):
        return None
