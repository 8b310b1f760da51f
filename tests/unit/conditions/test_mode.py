"""The condition `mode`."""

from typing import Any

import pytest
from tests.matching import matches
from tests.tables import for_each

from permitry.conditions.keys import condition
from permitry.conditions.match import Match
from permitry.conditions.mode import ModeCondition, mode_problem
from permitry.conditions.written import bare_type
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.errors import RuleError


def _request(**context: Any) -> Request:  # noqa: ANN401 -- passed on to the context
    return Request(ToolCall("bash"), AuthContext(**context))


@for_each(
    ("modes", "context", "surely", "generously"),
    [
        (("default",), {}, True, True),
        (("plan",), {}, False, False),
        (("plan", "review"), {"mode": "review"}, True, True),
        (("yolo",), {"yolo_mode": True}, True, True),
        (("yolo",), {"yolo_mode": True, "is_plan_mode": True}, False, True),
        (("review",), {"mode": "review", "yolo_mode": True}, True, True),
        (("yolo",), {"mode": "review", "yolo_mode": True}, False, True),
        (("review",), {"mode": "review", "is_plan_mode": True}, False, True),
        (("default",), {"is_plan_mode": True}, False, False),
    ],
)
def test_a_permission_goes_by_the_name_and_a_restriction_by_all_that_is_true(
    *, modes: tuple[str, ...], context: dict[str, Any], surely: bool, generously: bool
) -> None:
    """One mode can hide another from its name, but not from a restriction."""
    condition, request = ModeCondition(modes), _request(**context)
    assert matches(condition, request) is surely
    assert matches(condition, request, Match.ALIKE) is generously


def test_its_fact_is_the_mode_in_force() -> None:
    """A near miss names it."""
    assert ModeCondition(("plan",)).fact(_request(yolo_mode=True)) == "mode = yolo"


def test_one_string_is_no_list_of_modes() -> None:
    """Its letters would become modes, and none of them is ever in force."""
    with pytest.raises(RuleError, match="not the one string `plan`"):
        ModeCondition("plan")


def test_a_word_that_is_never_the_case_is_a_problem() -> None:
    """The metadata of the type says so, with a hint."""
    _, (problem,) = bare_type(condition("mode").table)
    assert problem("review") is None
    assert all(problem("Plan"))


def test_a_mode_is_excepted_under_unless() -> None:
    """A sign before it says nothing."""
    assert mode_problem("!plan") == ("unknown mode `!plan`", 'write `unless.mode = "plan"`')
