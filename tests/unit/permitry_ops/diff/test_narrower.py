"""Which of two conditions is the narrower one."""

import attrs
import pytest
from tests.unit.permitry_ops.diff.conftest import side_of

from permitry.conditions._conditions import Conditions
from permitry.conditions.keys import CONDITIONS, condition
from permitry.conditions.match import Match
from permitry.conditions.scope import Scope
from permitry.conditions.written import Condition
from permitry.core.rule import Request
from permitry_ops.diff.contexts import PATCHES
from permitry_ops.diff.narrower import is_narrower
from permitry_ops.diff.solve import Solver
from permitry_ops.diff.ways import Literal, Truth, ways_to_match

RULE = '[[rule]]\nid = "a"\neffect = "block"\ntools = ["x"]\nwhen.{}\n'


def part_of(line: str) -> Condition:
    """Return the condition of a line."""
    (part,) = side_of(RULE.format(line)).rules.rules[0].scope.when.plain
    return part


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('args.to = { not_from = ["user", "a#b"] }', 'args.to = { not_from = ["user"] }'),
        ("args.n = { le = 3, ge = 1 }", "args.n = { le = 3 }"),
        ("args.n = { le = 3 }", "args.n = { le = 3, optional = true }"),
        ('text = { contains = ["rm -r"] }', 'text = { contains = ["rm", "sudo"] }'),
        ('text = { contains = ["a"], regex = "b.*" }', 'text = { contains = ["a"] }'),
        ('prompt = { words = ["pay"] }', 'prompt = { words = ["pay", "buy"] }'),
        ('traits = ["read_only"]', 'traits = ["read_only", "destructive"]'),
    ],
)
def test_a_condition_with_fewer_ways_to_hold_is_narrower(one: str, other: str) -> None:
    """And not the other way round."""
    assert is_narrower(part_of(one), part_of(other))
    assert not is_narrower(part_of(other), part_of(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("args.n = 1", "args.n = true"),
        ("args.n = 1", "args.m = 1"),
        ('args.to = { not_from = ["user"] }', 'args.to = { not_from = ["user"], optional = true }'),
        ('text = { contains = ["A"] }', 'text = { contains = ["a"] }'),
        ('prompt = { words = ["pay"], regex = "a" }', 'prompt = { words = ["pay"] }'),
        ('mode = "plan"', 'mode = ["plan", "auto"]'),
    ],
)
def test_a_condition_that_may_hold_where_the_other_does_not_is_not_narrower(one: str, other: str) -> None:
    """Nor is one of a class of which that is not said: those are searched for."""
    assert not is_narrower(part_of(one), part_of(other))


@attrs.frozen
class NewCondition(Condition):
    """A condition of which the search knows nothing."""

    key = "new"

    def match(self, request: Request, needed: Match = Match.YES, /) -> Match:
        """Return that it matches calls of one tool."""
        return needed if request.call.tool == "x" else Match.NO

    def fact(self, request: Request) -> str:
        """Return the tool."""
        return request.call.tool


def test_a_condition_of_a_new_class_is_not_proven() -> None:
    """It is named, and narrower than its equal alone."""
    side = side_of(RULE.format("args.n = 1"))
    way = (*next(ways_to_match(side.rules.rules[0])), Literal(NewCondition(), frozenset({Truth.TRUE}), Match.ALIKE))
    assert "`new`" in Solver(side, side).solve(way).unsolved


def test_each_condition_is_searched_for_or_named() -> None:
    """A new key, a new class, or a new field must be added here, and to the search or to what is not proven."""
    named = {"digest", "repeat", "server", "tool_digest", "traits"}
    tried = {str(vars(each)["key"]) for each in PATCHES} | {"template", "tools", "args"}
    patterns = {"command", "path", "host", "access", "looks"}
    assert set(CONDITIONS) == named | tried | patterns
    fields = {each.name for each in attrs.fields(Conditions)}
    assert fields == {"plain", "commands", "paths", "hosts", "accesses", "runs_any", "looks"}
    assert {each.name for each in attrs.fields(Scope) if each.eq} == {"selectors", "when", "unless"}
    assert all(condition(key).key == key for key in CONDITIONS)
