"""The condition `attended`: whether a user can answer."""

from tests.tables import for_each

from permitry.conditions.attended import AttendedCondition
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request


@for_each("wanted", [True, False])
def test_it_holds_in_a_session_of_the_kind(*, wanted: bool) -> None:
    """The host says which it is, so there is no doubt; a near miss says what it is instead."""
    for attended in (True, False):
        request = Request(ToolCall("t"), AuthContext(attended=attended))
        condition = AttendedCondition(wanted)
        assert condition.holds(request) is (attended is wanted)
        assert condition.fact(request) == f"attended = {str(attended).lower()}"


def test_an_example_may_say_it() -> None:
    """It is the field of a context."""
    assert AttendedCondition.context(False, {}) == {"attended": False}
