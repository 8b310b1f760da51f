"""The tables of rules and tools: whole names for programs, and no text of others that could be a line of its own."""

import io

import attrs
import pytest
from rich.console import Console

from permitry.cli._row import COLUMNS, Row
from permitry.cli.tables import rule_table, tool_table
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits

ROW = Row(
    "no-keys",
    "restriction",
    150,
    "block",
    "@shell",
    "user",
    "rules.toml:3",
    ("cat key", "less key"),
)


@pytest.fixture
def console() -> Console:
    """Return a console that is not a terminal, and narrow; what is printed is kept."""
    return Console(record=True, width=40, file=io.StringIO())


def _terminal(width: int) -> Console:
    return Console(record=True, width=width, file=io.StringIO(), force_terminal=True)


def test_on_a_narrow_terminal_examples_are_counted() -> None:
    """There is no room for them."""
    console = _terminal(120)
    rule_table(console, [ROW], COLUMNS)
    shown = console.export_text()
    assert "cat key" not in shown
    assert shown.split()[-1] == "2"


def test_a_rule_that_is_asked_for_is_whole() -> None:
    """Its cells are folded where there is no room."""
    console = _terminal(100)
    rule_table(console, [attrs.evolve(ROW, about="cat " * 40)], COLUMNS, is_whole=True)
    shown = console.export_text()
    assert shown.count("cat") == 41
    assert "\N{HORIZONTAL ELLIPSIS}" not in shown


def test_columns_may_be_left_out() -> None:
    """Such as the places."""
    console = _terminal(150)
    rule_table(console, [ROW], ("id", "effect"))
    assert console.export_text().split() == ["id", "effect", "no-keys", "block"]


def test_no_text_of_a_rule_is_a_line_of_its_own() -> None:
    """Nor does anything in it steer the terminal."""
    console = _terminal(150)
    rule_table(console, [Row("a\nb", "permission", None, "allow", "x\x1b[2J", "user", "f:1")], COLUMNS)
    lines = console.export_text().splitlines()
    assert len(lines) == 2
    assert "a\\nb" in lines[1]
    assert "\\u001b" in lines[1]


@pytest.mark.parametrize(
    ("traits", "does"),
    [
        (ToolTraits(), "not declared"),
        (ToolTraits(read_only=True), "reads"),
        (ToolTraits(read_only=False), "writes"),
        (ToolTraits(destructive=True), "writes"),
        (ToolTraits(destructive=False), "adds"),
        (ToolTraits(destructive=False, open_world=True), "open world"),
        (ToolTraits(read_only=True, spawns_agent=True), "delegates"),
    ],
)
def test_a_tool_does_the_worst_that_it_may(console: Console, traits: ToolTraits, does: str) -> None:
    """What is not declared is never said to be harmless."""
    tool_table(console, [ToolSpec("t", traits=traits)], ())
    assert console.export_text().splitlines()[1].startswith(f"t     {does}")


@pytest.mark.parametrize(
    ("roles", "shown"),
    [(None, "not declared"), ({"path": ArgumentRole.READ_PATH}, "path: read_path")],
)
def test_arguments_are_shown_with_their_roles(
    console: Console, roles: dict[str, ArgumentRole] | None, shown: str
) -> None:
    """And a hidden tool as one."""
    tool_table(console, [ToolSpec("t", roles=roles)], {"t"})
    line = console.export_text().splitlines()[1]
    assert shown in line
    assert "(hidden)" in line
