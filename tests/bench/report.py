"""What a question of the benchmark gives: tables, single figures for the targets, and what went wrong."""

import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import attrs

__all__ = ["QUICK", "THOROUGH", "Report", "Scale", "Table", "Tell", "markdown", "number", "tell"]

Tell: TypeAlias = Callable[[str], None]


@attrs.frozen
class Scale:
    """How much is measured.

    `seconds` is what one round of one subject may take, `processes` how many of a kind are started, `tries` how often a
    command is read, and `weighed` how many engines are weighed. A long session has
    `session` calls; `histories` and `together` are numbers of calls that ran before, and at one time. Of the
    one-liners each `one_liners`-th is asked about.
    """

    sizes: tuple[int, ...]
    calls: int
    rounds: int
    seconds: float
    processes: int
    tries: int
    weighed: int
    tools: int
    shell_sizes: tuple[int, ...]
    text_sizes: tuple[int, ...]
    session: int = 2_000
    histories: tuple[int, ...] = (10, 100)
    together: tuple[int, ...] = (1, 10)
    one_liners: int = 500

    @property
    def largest(self) -> int:
        """The rule count of the tables in detail: 10,000 where that is measured."""
        return 10_000 if 10_000 in self.sizes else self.sizes[-1]


THOROUGH = Scale(
    (10, 100, 1_000, 10_000, 100_000),
    500,
    5,
    0.15,
    15,
    5,
    99,
    1_000,
    (4, 8, 16, 32, 64),
    (100, 1_000, 100_000),
    session=200_000,
    histories=(100, 30_000, 300_000),
    together=(50, 500, 4_000),
    one_liners=2,
)
QUICK = Scale((10, 40), 40, 1, 0.02, 1, 1, 1, 30, (1, 2), (100, 1_000))


@attrs.frozen
class Table:
    """A table in Markdown: what it shows, its head, and its rows; all but the first column are numbers."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@attrs.frozen
class Report:
    """The answer to one question. `ratios` come before `figures`; `wrong` says whose answers were not equal."""

    title: str
    ratios: tuple[Table, ...]
    figures: tuple[Table, ...] = ()
    text: str = ""
    facts: Mapping[str, float] = attrs.field(default=MappingProxyType({}))
    series: Mapping[str, Sequence[tuple[int, float]]] = attrs.field(default=MappingProxyType({}))
    wrong: tuple[str, ...] = ()


def markdown(table: Table) -> str:
    """Return the table with its columns in line."""
    rows = [table.head, *((*row, *("" for _ in table.head[len(row) :])) for row in table.rows)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(table.head))]
    lines = [
        _line([_cell(text, width, at) for at, (text, width) in enumerate(zip(row, widths, strict=True))])
        for row in rows
    ]
    rule = _line(["-" * width if at == 0 else "-" * (width - 1) + ":" for at, width in enumerate(widths)])
    return "\n".join([table.caption, "", lines[0], rule, *lines[1:], ""])


def number(value: float) -> str:
    """Return a figure with as many digits as it deserves: `0.42`, `7.3`, `12,000`."""
    if value >= 1_000:
        digits = max(0, len(str(int(value))) - 3)
        return f"{round(value, -digits):,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def tell(text: str) -> None:
    """Say on standard error how far the benchmark is."""
    sys.stderr.write(f"bench: {text}\n")
    sys.stderr.flush()


def _cell(text: str, width: int, at: int) -> str:
    return text.ljust(width) if at == 0 else text.rjust(width)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
