"""The way of a question: what comes of each answer, on a thread and on a loop."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.tables import for_each
from tests.unit.guard.stubs import CALL, guard_of

from permitry.audit.recorder import MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.dispatch.apart import without_suspending
from permitry.guard.asking import abandon, ask
from permitry.guard.guard import Guard
from permitry.guard.outcome import Blocked, Cause, Pending, Ready


class _Disk(MemoryRecorder):
    """A recorder that waits for a disk."""

    @contextmanager
    def together(self) -> Iterator[None]:
        """Keep what is recorded meanwhile together."""
        yield


def _begin(guard: Guard) -> Pending:
    pending = guard.begin(CALL)
    assert isinstance(pending, Pending)
    return pending


def _drive(guard: Guard, pending: Pending, reply: object, *, is_on_loop: bool) -> object:
    """Return what came of the question; the reply of the channel is given."""

    def answer(_: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        if isinstance(reply, BaseException):
            raise reply
        return reply  # type: ignore[return-value]  # some of it is no answer

    guard.channel = CallbackChannel(answer)
    steps = ask(pending, guard, is_on_loop=is_on_loop)
    return asyncio.run(steps) if is_on_loop else without_suspending(steps)


@for_each("is_on_loop", [False, True])
@for_each(
    ("reply", "cause"),
    [
        (ToolConfirmationResponse(False), Cause.DECLINED),
        (None, Cause.UNANSWERED),
        ("yes", Cause.UNANSWERED),
        (KeyError("x"), Cause.UNANSWERED),
        (StopIteration(), Cause.UNANSWERED),
    ],
)
def test_anything_but_a_yes_blocks(reply: object, cause: Cause, *, is_on_loop: bool) -> None:
    """Whatever a channel does."""
    guard = guard_of(recorder=_Disk())
    outcome = _drive(guard, _begin(guard), reply, is_on_loop=is_on_loop)
    assert isinstance(outcome, Blocked)
    assert outcome.cause is cause
    assert len(guard.ledger) == 0


@for_each("is_on_loop", [False, True])
def test_a_yes_makes_the_call_ready(*, is_on_loop: bool) -> None:
    """And the question is closed."""
    guard = guard_of(recorder=_Disk())
    outcome = _drive(guard, _begin(guard), ToolConfirmationResponse(True), is_on_loop=is_on_loop)
    assert isinstance(outcome, Ready)
    assert len(guard.ledger) == 0


def test_an_interrupt_leaves_the_question_open() -> None:
    """It is on record, and raised."""
    guard = guard_of(recorder=_Disk())
    with pytest.raises(KeyboardInterrupt):
        _drive(guard, _begin(guard), KeyboardInterrupt(), is_on_loop=False)
    assert len(guard.ledger) == 1
    assert isinstance(guard.recorder, _Disk)
    assert guard.recorder.records[-1]["error"] == "KeyboardInterrupt"


def test_a_coroutine_that_is_closed_waits_for_nothing_more() -> None:
    """That it was interrupted is recorded here."""
    asked = asyncio.Event()

    class Form:
        def ask(self, request: ToolConfirmationRequest) -> None:
            del request

        async def aask(self, request: ToolConfirmationRequest) -> None:
            del request
            asked.set()
            await asyncio.sleep(30)

    guard = guard_of(recorder=_Disk(), channel=Form())
    steps = ask(_begin(guard), guard, is_on_loop=True)

    async def drive() -> None:
        future = steps.send(None)
        while not asked.is_set():
            await asyncio.wait([future])
            future = steps.send(None)
        steps.close()

    asyncio.run(drive())
    assert isinstance(guard.recorder, _Disk)
    assert guard.recorder.records[-1]["error"] == "GeneratorExit"


def test_a_question_that_is_closed_is_not_asked() -> None:
    """Nobody sees it."""
    guard = guard_of()
    pending = _begin(guard)
    guard.withdraw(pending.pending_id, "gone")
    outcome = _drive(guard, pending, AssertionError("it is asked"), is_on_loop=False)
    assert isinstance(outcome, Blocked)
    assert [each["event"] for each in guard.recorder.records].count("answered") == 1  # type: ignore[attr-defined]


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
