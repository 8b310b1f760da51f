"""The way of a question, driven by hand: what it asks of its driver, and what comes of each answer."""

from typing import Any

import pytest
from tests.tables import for_each
from tests.unit.guard.stubs import CALL, guard_of

from permitry.channels.response import ToolConfirmationResponse
from permitry.guard.asking import abandon, ask
from permitry.guard.effects import Disk, Reply
from permitry.guard.guard import Guard
from permitry.guard.outcome import Blocked, Cause, Pending, Ready


def _begin(guard: Guard) -> Pending:
    pending = guard.begin(CALL)
    assert isinstance(pending, Pending)
    return pending


def _drive(guard: Guard, pending: Pending, reply: object) -> tuple[list[str], object]:
    """Return which effects there were, and what came of the question; the reply of the channel is given."""
    steps, seen = ask(pending, guard), []
    result: Any = None
    try:
        effect = next(steps)
        while True:
            seen.append(type(effect).__name__)
            is_reply = isinstance(effect, Reply)
            if is_reply and isinstance(reply, BaseException):
                effect = steps.throw(reply)
            else:
                effect = steps.send(reply if is_reply else effect.block())
    except StopIteration as end:
        result = end.value
    return seen, result


@for_each(
    ("reply", "cause"),
    [
        (ToolConfirmationResponse(False), Cause.DECLINED),
        (None, Cause.UNANSWERED),
        ("yes", Cause.UNANSWERED),
        (KeyError("x"), Cause.UNANSWERED),
    ],
)
def test_anything_but_a_yes_blocks(reply: object, cause: Cause) -> None:
    """The record is written before and after the human has answered."""
    guard = guard_of()
    seen, outcome = _drive(guard, _begin(guard), reply)
    assert seen == [Disk.__name__, Reply.__name__, Disk.__name__]
    assert isinstance(outcome, Blocked)
    assert outcome.cause is cause
    assert len(guard.ledger) == 0


def test_a_yes_makes_the_call_ready() -> None:
    """And the question is closed."""
    guard = guard_of()
    _, outcome = _drive(guard, _begin(guard), ToolConfirmationResponse(True))
    assert isinstance(outcome, Ready)
    assert len(guard.ledger) == 0


def test_an_interrupt_leaves_the_question_open() -> None:
    """It is on record, and raised."""
    guard = guard_of()
    with pytest.raises(KeyboardInterrupt):
        _drive(guard, _begin(guard), KeyboardInterrupt())
    assert len(guard.ledger) == 1


def test_a_question_that_is_closed_is_not_asked() -> None:
    """Nobody sees it."""
    guard = guard_of()
    pending = _begin(guard)
    guard.withdraw(pending.pending_id, "gone")
    seen, outcome = _drive(guard, pending, ToolConfirmationResponse(True))
    assert seen == [Disk.__name__]
    assert isinstance(outcome, Blocked)


def test_what_a_cancelled_caller_leaves_is_ended() -> None:
    """A permit is redeemed by nobody else, and the wait for an answer has ended."""
    guard = guard_of()
    pending = _begin(guard)
    abandon(pending, guard)
    abandon(pending, guard)
    ready = guard.resolve(pending.pending_id, ToolConfirmationResponse(True))
    assert isinstance(ready, Ready)
    abandon(ready, guard)
    assert not guard.tools.is_open(ready.authorized)
    abandon(ready, guard)
