"""The tables of rules and tools: whole names for programs, and no text of others that could be a line of its own."""

import io

import pytest
from rich.console import Console

from permitry.cli._row import Row
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


def test_a_rule_is_one_line_for_other_programs(console: Console) -> None:
    """However narrow the console is, with its examples."""
    rule_table(console, [ROW], [])
    _, line = console.export_text().splitlines()
    assert line.split()[:5] == ["restriction", "150", "no-keys", "block", "@shell"]
    assert "2: cat key, less key" in line


def test_on_a_narrow_terminal_examples_are_counted() -> None:
    """There is no room for them."""
    console = Console(record=True, width=120, file=io.StringIO(), force_terminal=True)
    rule_table(console, [ROW], [])
    shown = console.export_text()
    assert "cat key" not in shown
    assert shown.split()[-1] == "2"


def test_no_text_of_a_rule_is_a_line_of_its_own(console: Console) -> None:
    """Nor does anything in it steer the terminal; notices come below."""
    rule_table(console, [Row("a\nb", "permission", None, "allow", "x\x1b[2J", "user", "f:1")], ["n\nm"])
    lines = console.export_text().splitlines()
    assert len(lines) == 3
    assert "a\\nb" in lines[1]
    assert "\\u001b" in lines[1]
    assert lines[2] == "n\\nm"


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
