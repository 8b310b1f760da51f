"""Calls that fulfil the literals of a way."""

import pytest
from tests.unit.permitry_ops.diff.conftest import side_of

from permitry.rules.configured import ConfiguredRule
from permitry_ops.diff.side import Line, Side
from permitry_ops.diff.solve import Solution, Solver
from permitry_ops.diff.ways import ways_to_match, ways_to_miss


def rule_of(*lines: str) -> tuple[Side, ConfiguredRule]:
    """Return a side with one rule, and the rule."""
    side = side_of("\n".join(("[[rule]]", 'id = "a"', *lines)))
    return side, side.rules.rules[0]


def solved(*lines: str) -> Solution:
    """Return the calls that a restriction of some lines matches."""
    side, rule = rule_of('effect = "block"', *lines)
    return Solver(side, side).solve(next(ways_to_match(rule)))


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ('tools = ["pay"]', {"name": "pay", "arguments": {}}),
        ('tools = ["send_*"]', {"name": "send_", "arguments": {}}),
        ('when.command = ["git push *"]', {"name": "run_shell", "arguments": {"command": "git push"}}),
        ('when.path = ["src/*.py"]', {"name": "read_file", "arguments": {"path": "src/.py"}}),
        ('when.host = ["*.example.com"]', {"name": "web_fetch", "arguments": {"url": "https://a.example.com"}}),
        ('when.mode = "review"', {"name": "tool", "arguments": {}, "context": {"mode": "review"}}),
        ('when.agent = "sub-*"', {"name": "tool", "arguments": {}, "agent": "sub-"}),
        ('when.label = "seen"', {"name": "tool", "arguments": {}, "context": {"labels": ["seen"]}}),
        ("when.attended = false", {"name": "tool", "arguments": {}, "context": {"attended": False}}),
        ("when.repaired = true", {"name": "tool", "arguments": {}, "repaired": True}),
        ('when.args.to = "ann"', {"name": "tool", "arguments": {"to": "ann"}}),
        ("when.args.a.b = { gt = 3 }", {"name": "tool", "arguments": {"a": {"b": 4}}}),
        ('when.prompt = { words = ["pay"] }', {"name": "tool", "arguments": {}, "context": {"heard": ["pay"]}}),
    ],
)
def test_a_call_fulfils_a_condition(line: str, first: Line) -> None:
    """The first one is a natural one."""
    assert solved(line).lines[0] == first


def test_a_path_is_touched_as_the_rule_is_about() -> None:
    """By a tool, or a command."""
    found = solved('when.path = ["src/**"]', 'when.access = "write"').lines
    assert found[0] == {"name": "write_file", "arguments": {"path": "src/b"}}
    assert {"name": "run_shell", "arguments": {"command": "touch src/b"}} in found


def test_what_is_missed_is_solved_too() -> None:
    """A call that a rule does not match, by each of its conditions."""
    side, rule = rule_of('effect = "allow"', 'tools = ["pay"]', "when.args.n = { le = 3 }")
    found = [Solver(side, side).solve(way).lines[0] for way in ways_to_miss(rule)]
    assert found[0]["name"] != "pay"
    assert found[1]["arguments"]["n"] > 3


def test_what_is_not_solved_is_named() -> None:
    """A digest, a list of elements, and the roles of a tool that is not declared."""
    assert solved("when.repeat = 3").unsolved == ("`repeat`",)
    assert solved("when.args.to = { all = { le = 3 } }").unsolved == ("`args.to`",)
    assert (
        "what the arguments of `get_it` are" in solved('tools = ["get_it"]', 'when.host = ["a.example.com"]').unsolved
    )
