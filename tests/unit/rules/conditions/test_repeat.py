"""The condition `repeat`."""

import pytest

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.history import History, Ran
from permitry.core.rule import Question
from permitry.rules.conditions.repeat import RepeatCondition

CALL, OTHER = ToolCall("bash", {"command": "ls"}), ToolCall("bash", {"command": "pwd"})


def _question(*ran: ToolCall) -> Question:
    history = History.of(Ran(float(at), call.tool, "main", call.digest) for at, call in enumerate(ran))
    return Question(CALL, AuthContext(history=history))


@pytest.mark.parametrize("is_generous", [False, True])
@pytest.mark.parametrize(
    ("ran", "holds"),
    [((), False), ((CALL,), False), ((CALL, CALL), True), ((CALL, OTHER, CALL), True), ((OTHER,) * 5, False)],
)
def test_it_holds_from_the_third_time_on(*, ran: tuple[ToolCall, ...], holds: bool, is_generous: bool) -> None:
    """The call that is asked about counts, what ran between does not."""
    assert RepeatCondition(3).holds(_question(*ran), is_generous=is_generous) is holds


def test_its_fact_is_how_often_the_call_would_have_run() -> None:
    """The call that is asked about included."""
    assert RepeatCondition(9).fact(_question(CALL, OTHER, CALL)) == "repeat = 3"
