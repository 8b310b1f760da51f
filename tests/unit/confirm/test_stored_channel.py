"""The channel that waits for an answer from elsewhere."""

import asyncio
import threading
from collections.abc import Callable

import pytest
from tests.unit.confirm.stored_calls import CALL, NO, YES, closed, fresh, only, respond

from permitry.audit.record import MemoryRecorder
from permitry.confirm.response import ToolConfirmationResponse
from permitry.confirm.stored_channel import StoredChannel
from permitry.ledgers import ledger_at, questions_at
from permitry.outcome import Cause, Permit, Refusal


def later(work: Callable[[], None]) -> threading.Thread:
    """Do something in a moment."""
    timer = threading.Timer(0.2, work)
    timer.start()
    return timer


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("response", "wanted"), [(YES, Permit), (NO, Refusal)])
def test_the_channel_waits_for_an_answer(
    address: str, response: ToolConfirmationResponse, wanted: type, *, is_async: bool
) -> None:
    """On the event loop as well."""
    guard = fresh(address, channel=StoredChannel(questions_at(address), pause=0.02))
    human = later(lambda: respond(address, response))
    outcome = asyncio.run(guard.ainline(CALL)) if is_async else guard.inline(CALL)
    human.join()
    assert isinstance(outcome, wanted)


@pytest.mark.parametrize("is_async", [False, True])
def test_no_answer_is_a_refusal_with_a_reason_of_its_own(address: str, *, is_async: bool) -> None:
    """And the question is closed."""
    store = questions_at(address)
    guard = fresh(address, ledger=ledger_at(address, lifetime=0.1), channel=StoredChannel(store, pause=0.02))
    outcome = asyncio.run(guard.ainline(CALL)) if is_async else guard.inline(CALL)
    assert isinstance(outcome, Refusal)
    assert outcome.cause is Cause.UNANSWERED
    assert closed(address)[0]["closed_at"]
    assert isinstance(guard.recorder, MemoryRecorder)
    answered = list(guard.recorder.records)[-1]
    assert "before its deadline" in str(answered["error"])


def test_a_question_that_is_closed_meanwhile_is_not_waited_for(address: str) -> None:
    """The call is refused."""
    guard = fresh(address, channel=StoredChannel(questions_at(address), pause=0.02))
    human = later(lambda: guard.withdraw(only(address).id, "gone"))
    assert isinstance(guard.inline(CALL), Refusal)
    human.join()


def test_a_channel_of_another_store_answers_nothing(new_address: Callable[[], str]) -> None:
    """Nor does it wait."""
    other = questions_at(new_address())
    guard = fresh(new_address(), channel=StoredChannel(other))
    assert isinstance(guard.inline(CALL), Refusal)
