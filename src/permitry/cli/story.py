"""What a human reads of a run besides its calls: what tools report, how many became what, and where everything is."""

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

import attrs
from rich.text import Text

from permitry.cli.render import SummaryRow, console_on
from permitry.cli.tables import counts_table
from permitry.config.catalogue import PREFIX
from permitry.core.texts import one_line, visible
from permitry.dispatch.events import ToolEvent, ToolEventKind
from permitry.errors import count

__all__ = ["LiveView", "last_lines", "say", "tell_counts"]

_COLUMNS = ("calls", "verdict", "what became of them")
_MARKS = {"completed": "x", "in_progress": ">"}
_LONGEST = 500
_MOST_LINES = 50
"""The lines that are shown of one event: a command may write more than anybody can read."""


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


@attrs.define(eq=False)
class LiveView:
    """Prints events dimmed, by whole lines; nothing in them can look like a line of permitry's own."""

    stream: TextIO
    _rest: str = attrs.field(default="", init=False)
    _run: tuple[str, str | None] | None = attrs.field(default=None, init=False)

    def __call__(self, event: ToolEvent) -> None:
        """Print one event."""
        console = console_on(self.stream)
        for line in self._lines(event):
            console.print(Text(f"  {line}", "dim"), soft_wrap=True)

    def _lines(self, event: ToolEvent) -> Iterator[str]:
        run = event.agent, event.call_id
        if event.kind is not ToolEventKind.OUTPUT or run != self._run:
            yield from self._last_line()
        self._run = run
        if event.kind is ToolEventKind.OUTPUT:
            if omitted := event.data.get("omitted"):
                yield f"| ... {omitted} characters not shown ..."
            # A terminal ends its lines with both.
            *lines, self._rest = (self._rest + event.text.replace("\r\n", "\n")).split("\n")
            if len(lines) > _MOST_LINES:
                yield f"| ... {len(lines) - _MOST_LINES} lines not shown ..."
            yield from (f"| {one_line(line)[:_LONGEST]}" for line in lines[-_MOST_LINES:])
            # No more of it would be shown.
            self._rest = self._rest[:_LONGEST]
            return
        yield from _report(event)

    def _last_line(self) -> Iterator[str]:
        if self._rest:
            yield f"| {one_line(self._rest)[:_LONGEST]}"
            self._rest = ""


def _report(event: ToolEvent) -> Iterator[str]:
    text = one_line(event.text)[:_LONGEST]
    match event.kind:
        case ToolEventKind.STATUS | ToolEventKind.STEP:
            yield f"- {text}"
        case ToolEventKind.PROGRESS:
            done, total = event.data.get("done"), event.data.get("total")
            of = "" if total is None else f" of {one_line(str(total))}"
            yield f"- {one_line(str(done))}{of} {text}".rstrip()
        case ToolEventKind.PLAN:
            for step in event.data.get("steps", ()):
                yield f"[{_MARKS.get(step['status'], ' ')}] {one_line(step['step'])}"
        case _:
            return
