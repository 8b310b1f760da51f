"""What humans see: decisions, explanations, requests and summaries, drawn with rich."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TextIO

import attrs
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from permitry.channels.request import ToolConfirmationRequest
from permitry.core.explanation import Explanation, Line, action_lines, lines_of
from permitry.core.texts import one_line, shorten, visible

__all__ = [
    "SummaryRow", "busy", "console_on", "diff", "explanation", "one_line", "print_table", "request", "shorten",
    "visible", "widen",
]  # fmt: skip

_COLOURS = {"allow": "green", "confirm": "yellow", "block": "red"}
_DIFF_STYLES = (
    ("diff --git ", "bold"), ("--- ", "bold"), ("+++ ", "bold"), ("@@ ", "cyan"), ("-", "red"), ("+", "green"),
    ("...[", "yellow"),
)  # fmt: skip
_LONGEST = 500
_NARROW = 80
_PIPED = 200
_MOST_DIFF_LINES = 1000
_MOST_LINES = 100
_MOST_ACTIONS = 20


@attrs.frozen
class SummaryRow:
    """One call in the summary of a run; `seconds` covers the decision, the human and the tool."""

    call_id: str | None
    tool: str
    verdict: str
    rule: str | None
    outcome: str
    seconds: float = 0.0
    reason: str = attrs.field(default="", kw_only=True)
    has_run: bool = attrs.field(default=False, kw_only=True)


def console_on(stream: TextIO) -> Console:
    """Return a console on `stream`; colours only on a terminal, nothing read as markup."""
    return Console(file=stream, markup=False, highlight=False, emoji=False)


def widen(console: Console) -> None:
    """Give a console long lines, unless it is a terminal: other programs read lines, and not parts of them."""
    if not console.is_terminal:
        console.width = max(console.width, _PIPED)


def print_table(stream: TextIO, columns: Sequence[str], rows: Iterable[Sequence[str | Text]], title: str = "") -> None:
    """Print rows as a table, or on a narrow terminal as a paragraph each; elsewhere with long lines."""
    console = console_on(stream)
    if console.is_terminal and console.width < _NARROW:
        for row in rows:
            console.print(Text("  ").join(Text.assemble(cell) for cell in row if cell))
        return
    widen(console)
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text.assemble(cell) for cell in row))
    console.print(table)


@contextlib.contextmanager
def busy(text: str) -> Iterator[Callable[[str], None]]:
    """Show at a terminal, on standard error, that something goes on until the block ends; yield what says how far."""
    console = console_on(sys.stderr)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status(Text(text)) as status:
        yield lambda said: status.update(Text(said))


def request(
    console: Console,
    asked: ToolConfirmationRequest,
    explained: Explanation | None = None,
    *,
    in_full: bool = False,
) -> bool:
    """Print a confirmation request, shortened unless `in_full`; return whether all of it was shown.

    Where rules ask where a value comes from, that is shown as well: a human would not see that a page chose it.
    """
    console.print()
    reason = Text(f"  {one_line(asked.reason)}")
    console.print(Text(f"? {visible(asked.tool)}", "bold yellow"), reason, sep="", soft_wrap=True)
    is_whole = _arguments(console, asked, in_full=in_full)
    actions = [] if explained is None else list(map(_colour, action_lines(explained)))
    is_whole = _section(console, "  what it would do:", actions, in_full=in_full) and is_whole
    # What was heard is known to the process that asks, and not to one that shows the question of another.
    origins = asked.origins or (() if explained is None else explained.origins)
    seen = [Text(f"    {one_line(str(origin))}") for origin in origins]
    is_whole = _section(console, "  where values were seen:", seen, in_full=in_full) and is_whole
    if not asked.preview:
        return is_whole
    lines = visible(asked.preview).splitlines()
    shown = "\n".join(lines if in_full else lines[:_MOST_LINES])
    console.print(Syntax(shown, "diff", theme="ansi_dark", background_color="default", word_wrap=True))
    return _is_short(console, len(lines), _MOST_LINES, in_full=in_full) and is_whole


def _section(console: Console, title: str, lines: Sequence[Text], *, in_full: bool) -> bool:
    if lines:
        console.print(Text(title))
    for line in lines if in_full else lines[:_MOST_ACTIONS]:
        console.print(line, soft_wrap=True)
    return _is_short(console, len(lines), _MOST_ACTIONS, in_full=in_full)


def _arguments(console: Console, asked: ToolConfirmationRequest, *, in_full: bool) -> bool:
    is_whole = True
    for name, value in asked.arguments.items():
        text = value if isinstance(value, str) else json.dumps(value)
        shown = _indent(text) if in_full else shorten(text, _LONGEST)
        is_shown = in_full or len(one_line(text)) <= _LONGEST or _is_in_diff(asked.preview, text)
        is_whole = is_whole and is_shown
        console.print(Text(f"  {one_line(name)}: {shown}"), soft_wrap=True)
    return is_whole


def _is_in_diff(preview: str | None, text: str) -> bool:
    """Return whether a diff, which is shown as well, has each line of a text without a gap."""
    lines = visible(preview or "").splitlines()
    wanted = f"\n{visible(text).rstrip()}\n"
    kinds = ("+ ", "- ")
    sides = ([line[1:] for line in lines if line[:1] in kind] for kind in kinds)
    return any(wanted in "\n".join(["", *side, ""]) for side in sides)


def _is_short(console: Console, count: int, most: int, *, in_full: bool) -> bool:
    """Return whether nothing was left out of so many lines; print that something was."""
    if in_full or count <= most:
        return True
    console.print(Text(f"  ... {count - most} more lines"))
    return False


def _indent(text: str) -> str:
    # A line of a value must not look like a line of ours.
    return visible(text).replace("\n", "\n      ")


def diff(console: Console, text: str) -> None:
    """Print a unified diff: whole where it is written to a file, on a terminal its first 1,000 lines in colour."""
    lines = visible(text).removesuffix("\n").split("\n")
    if not console.is_terminal:
        console.file.write("".join(f"{line}\n" for line in lines))
        return
    for line in lines[:_MOST_DIFF_LINES]:
        style = next((style for start, style in _DIFF_STYLES if line.startswith(start)), "")
        console.print(Text(line, style), soft_wrap=True)
    if len(lines) > _MOST_DIFF_LINES:
        console.print(Text(f"... {len(lines) - _MOST_DIFF_LINES} more lines", "yellow"))


def explanation(console: Console, tool: str, explained: Explanation, *, is_verbose: bool = False) -> None:
    """Print a decision in full: the deciding rule, what the model is shown, all matches, all near misses."""
    for line in lines_of(explained, tool, is_verbose=is_verbose):
        console.print(_colour(line), soft_wrap=True)


def _colour(line: Line) -> Text:
    text = Text(line.before, "red" if line.before.startswith("  error ") else "")
    if line.verdict is not None:
        text.append(line.verdict.value, _COLOURS[line.verdict.value])
    return text.append(line.after)
