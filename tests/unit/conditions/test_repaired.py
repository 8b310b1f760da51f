"""The condition `repaired`."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.conditions.repaired import RepairedCondition
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request


def _request(*, repaired: bool) -> Request:
    return Request(ToolCall("bash", {"command": "ls"}, repaired=repaired), AuthContext())


@for_each("repaired", [False, True])
@for_each("wanted", [False, True])
def test_it_holds_for_the_one_or_for_the_other(*, repaired: bool, wanted: bool) -> None:
    """A call always says whether it was repaired."""
    condition = RepairedCondition(wanted)
    assert condition.holds(_request(repaired=repaired)) is (repaired is wanted)


@for_each(("repaired", "fact"), [(True, "repaired = true"), (False, "repaired = false")])
def test_its_fact_is_what_the_call_says(*, repaired: bool, fact: str) -> None:
    """As a rule file would write it."""
    assert RepairedCondition(not repaired).fact(_request(repaired=repaired)) == fact


@for_each("value", [None, 1, "true"])
def test_it_asks_for_true_or_false(value: Any) -> None:  # noqa: ANN401 -- what it must not be
    """Anything else would hold for no call."""
    with pytest.raises(TypeError):
        RepairedCondition(value)
