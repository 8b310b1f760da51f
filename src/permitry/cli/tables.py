"""The tables of rules and of tools, drawn with rich."""

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from permitry.cli.render import widen
from permitry.core.texts import one_line

if TYPE_CHECKING:
    from permitry.cli._row import Row
    from permitry.core.spec import ToolSpec, ToolTraits

_WIDE = 140
_COLOURS = {"allow": "green", "confirm": "yellow", "block": "red"}
_SHORTENED = ("about", "examples")


def rule_table(console: Console, rows: Iterable["Row"], columns: Iterable[str], *, is_whole: bool = False) -> None:
    """Print columns of the rules as a table.

    Unless it is to be whole, what they are about is cut where there is no room, and examples may only be counted.
    """
    names = list(columns)
    table = _table(console, names)
    for row in rows:
        cells = dict(row.cells)
        if not is_whole and console.width < _WIDE:
            cells["examples"] = str(len(row.examples))
        table.add_row(*(_cell(name, cells[name], is_whole=is_whole) for name in names))
    console.print(table)


def _cell(name: str, text: str, *, is_whole: bool) -> Text:
    if name == "effect":
        return Text(text, _COLOURS.get(text, ""))
    return _cut(text) if name in _SHORTENED and not is_whole else _whole(text)


def _table(console: Console, columns: Iterable[str], title: str | None = None) -> Table:
    widen(console)
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="right" if name in ("priority", "calls") else "left", overflow="fold")
    return table


def _whole(text: str) -> Text:
    return Text(one_line(text))


def _cut(text: str) -> Text:
    return Text(one_line(text), no_wrap=True, overflow="ellipsis")


def tool_table(console: Console, specs: Iterable["ToolSpec"], hidden: Container[str]) -> None:
    """Print the tools as a table: what each does, what its arguments are, and the beginning of its digest."""
    table = _table(console, ("tool", "does", "arguments", "kinds", "digest", "description"))
    for spec in specs:
        roles = "not declared" if spec.roles is None else ", ".join(f"{k}: {v.value}" for k, v in spec.roles.items())
        does = _does(spec.traits) + (" (hidden)" if spec.name in hidden else "")
        kinds = ", ".join(sorted(kind.value for kind in spec.kinds))
        table.add_row(
            _whole(spec.name), _whole(does), _cut(roles), _whole(kinds), spec.digest[:12], _cut(spec.description)
        )
    console.print(table)


def _does(traits: "ToolTraits") -> str:
    if traits.spawns_agent:
        return "delegates"
    if traits.only_reads:
        return "reads"
    if traits.open_world and traits.destructive is False:
        # What it changes is not here; that it reaches out is what a rule is about.
        return "open world"
    if traits.destructive is False:
        return "adds"
    return "not declared" if traits.read_only is None and traits.destructive is None else "writes"


def counts_table(console: Console, title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print counts as a table; nothing where there are none."""
    table = _table(console, columns, title)
    for row in rows:
        table.add_row(*(Text(one_line(cell), _COLOURS.get(cell, "")) for cell in row))
    if table.row_count:
        console.print()
        console.print(table)
