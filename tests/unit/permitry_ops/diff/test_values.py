"""Values of arguments: one of each kind that tests tell apart."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permitry.conditions.args import ArgumentCondition, argument_condition
from permitry.conditions.match import Match
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.errors import UnevaluableError
from permitry_ops.diff.values import ABSENT, candidates

TESTS: tuple[dict[str, Any], ...] = (
    {"le": 3}, {"gt": 2.5}, {"in": [1, 4]}, {"eq": "ab"}, {"ne": "a"}, {"in": ["a", "bc"]}, {"not_in": ["b", ""]},
    {"glob": "a*"}, {"glob": ["*b", "?c"]}, {"prefix": "ab"}, {"suffix": ["c", "bb"]}, {"contains": "b"},
    {"regex": "[ab]+c?"}, {"type": "string"}, {"type": "integer"}, {"exists": True}, {"exists": False},
    {"eq": True}, {"le": 3, "optional": True}, {"prefix": "a", "suffix": "b"},
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    "", "a", "b", "ab", "abc", "bc", "bb", "xb", "zz", 0, 1, 2, 2.7, 3, 3.5, 4, 5, True, False, None, [], ["a"], {},
    ABSENT,
)  # fmt: skip


def truth(condition: ArgumentCondition, value: object) -> bool | None:
    """Return whether a value passes, None where that is undefined."""
    arguments = {} if value is ABSENT else {"x": value}
    try:
        return condition.match(Request(ToolCall("t", arguments), AuthContext()), Match.YES) is Match.YES
    except UnevaluableError:
        return None


@given(st.lists(st.sampled_from(TESTS), min_size=1, max_size=3))
def test_every_value_fares_as_a_candidate_does(raw: list[dict[str, Any]]) -> None:
    """Where it is said that the candidates are all there are."""
    conditions = [argument_condition("x", each) for each in raw]
    found, is_all = candidates([each.test for each in conditions])
    assert is_all
    known = {tuple(truth(each, value) for each in conditions) for value in found}
    assert {tuple(truth(each, value) for each in conditions) for value in VALUES} <= known


@pytest.mark.parametrize(
    "raw",
    [
        {"lt": "b"},
        {"all": {"in": ["a"]}},
        {"length": {"le": 3}},
        {"regex": r"\bx"},
        {"each": {"le": 3}},
        {"eq": ["a", "b"]},
    ],
)
def test_what_is_not_solved_is_said(raw: dict[str, Any]) -> None:
    """Values are tried, and nothing is proven by them."""
    condition = argument_condition("x", raw)
    found, is_all = candidates([condition.test])
    assert not is_all
    assert found


def test_values_that_rules_name_go_first() -> None:
    """Before those that are made."""
    found, _ = candidates([argument_condition("x", {"in": ["main", "dev"]}).test])
    assert found[:2] == ["main", "dev"]
    assert candidates([])[0][0] == "value"
