"""One side of a comparison: what its rules say of a call."""

import pytest
from tests.unit.permitry_ops.diff.conftest import side_of

from permitry.conditions.args import argument_condition
from permitry.conditions.match import Match
from permitry.conditions.tools import ToolSelector
from permitry.core.decision import Verdict
from permitry_ops.diff.ways import Literal, Patterns, Truth

RULE = '[[rule]]\nid = "a"\neffect = "allow"\ntools = ["pay"]\nwhen.args.n = { le = 3 }\n'


def test_a_line_is_decided_by_its_rules() -> None:
    """With its templates, and in its workspace."""
    side = side_of(RULE)
    assert side.decide({"name": "pay", "arguments": {"n": 3}}).verdict is Verdict.ALLOW
    assert side.decide({"name": "pay", "arguments": {"n": 4}}).verdict is Verdict.CONFIRM
    assert list(side.by_id) == ["a"]
    assert side.tool("run_shell") is not None
    assert side.roots.workspace == ("/permitry-diff/workspace",)


@pytest.mark.parametrize(("value", "truth"), [(3, Truth.TRUE), (4, Truth.FALSE), ("3", Truth.UNKNOWN)])
def test_a_condition_is_true_or_false_or_neither(value: object, truth: Truth) -> None:
    """Of patterns only a rule can say."""
    side = side_of(RULE)
    request = side.request({"name": "pay", "arguments": {"n": value}})
    condition = argument_condition("n", {"le": 3})
    assert side.truth(Literal(condition, frozenset(), Match.YES), request) is truth
    assert side.truth(Literal((ToolSelector("pa?"),), frozenset(), Match.YES), request) is Truth.TRUE
    assert side.truth(Literal(Patterns("command", ()), frozenset(), Match.YES), request) is None


def test_what_is_observed_is_not_on_the_side() -> None:
    """Neither among its rules, nor in what it decides."""
    side = side_of(f"{RULE}enforce = false\n")
    assert not side.by_id
    assert side.decide({"name": "pay", "arguments": {"n": 3}}).verdict is Verdict.CONFIRM
