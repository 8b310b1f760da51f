"""What running tools report, shown on a terminal as it comes."""

from collections.abc import Iterator
from typing import TextIO

import attrs
from rich.text import Text

from permitry.cli.render import console_on
from permitry.core.texts import one_line
from permitry.dispatch.events import ToolEvent, ToolEventKind

__all__ = ["LiveView"]

_MARKS = {"completed": "x", "in_progress": ">"}
_LONGEST = 500
_MOST_LINES = 50
"""The lines that are shown of one event: a command may write more than anybody can read."""


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
