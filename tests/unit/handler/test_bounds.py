"""Bounds: what is not kept any more is refused, never run, and never asked about again."""

import gc
import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import pytest

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.decision import Phase, Verdict
from permitry.guard.handled import HandledCalls
from permitry.guard.ledger import ConfirmationLedger
from permitry.handler import Blocked, Cause, Pending, Ready, ToolHandler

Ran = list[tuple[str, dict[str, Any]]]
Events = Callable[[], list[object]]
Ask = Callable[..., Pending]

_LOOK = ToolCall("look", {"path": "a"}, call_id="c1")
_WRITE = ToolCall("write", {"path": "a"}, call_id="c1")
_YES, _NO = ToolConfirmationResponse(True), ToolConfirmationResponse(False)


def _pass(handler: ToolHandler, count: int) -> None:
    """Handle so many other calls."""
    for number in range(count):
        handler.handle(ToolCall("look", {"path": "b"}, call_id=f"other {number}"))


@pytest.fixture
def forgetful(handler: ToolHandler) -> ToolHandler:
    """Return the handler when it keeps two outcomes, and knows three ids besides."""
    handler.handled = HandledCalls(calls=2, ids=3)
    return handler


@pytest.mark.parametrize("others", [0, 2, 4, 9])
def test_a_call_runs_once_whatever_is_forgotten(forgetful: ToolHandler, ran: Ran, others: int) -> None:
    """Kept, known by its id, or neither: the second time it does not run."""
    assert forgetful.handle(_LOOK).ok
    _pass(forgetful, others)
    again = forgetful.handle(_LOOK)
    assert (again.ok, "already been handled" in again.text) == (False, True)
    assert ran.count(("look", {"path": "a"})) == 1


@pytest.mark.parametrize("others", [0, 2, 4, 9])
def test_a_no_stays_a_no_whatever_is_forgotten(
    forgetful: ToolHandler, ask: Ask, ran: Ran, events: Events, others: int
) -> None:
    """No one is asked again, and no mode that came since lets it run."""
    forgetful.resolve(ask("a", "c1").pending_id, _NO)
    _pass(forgetful, others)
    forgetful.session.switch_mode("yolo")
    outcome = forgetful.begin(_WRITE)
    assert isinstance(outcome, Blocked)
    assert (outcome.cause, events().count("asked")) == (Cause.HANDLED if others else Cause.DECLINED, 1)
    assert ("write", {"path": "a"}) not in ran


def test_a_refusal_of_a_used_id_is_recorded(forgetful: ToolHandler, recorder: MemoryRecorder) -> None:
    """As a decision, with what was decided on, and no rule."""
    forgetful.handle(_LOOK)
    _pass(forgetful, 3)
    outcome = forgetful.begin(_LOOK)
    assert (outcome.decision.verdict, outcome.decision.phase) == (Verdict.BLOCK, Phase.INPUT)
    last = recorder.records[-1]
    assert (last["event"], last["verdict"], last["arguments"], last["rule"]) == (
        "decided",
        "block",
        {"path": "a"},
        None,
    )
    assert last["reason"] == "the call id `c1` may have been used for this call before"


def test_past_all_bounds_a_call_without_an_id_still_runs(forgetful: ToolHandler, ran: Ran) -> None:
    """The handler makes up an id that no one can have used; one that was given is refused."""
    _pass(forgetful, 9)
    before = len(ran)
    assert forgetful.handle(ToolCall("look")).ok
    assert not forgetful.handle(ToolCall("look", call_id="never seen")).ok
    assert len(ran) == before + 1


def test_an_id_that_was_made_up_cannot_be_used_again(forgetful: ToolHandler, ran: Ran) -> None:
    """A model that reads it from a result does not get its call run twice."""
    first = forgetful.begin(ToolCall("look"))
    assert isinstance(first, Ready)
    forgetful.run(first)
    for others in (0, 2, 9):
        _pass(forgetful, others)
        assert not forgetful.handle(first.call).ok
    assert ran.count(("look", {})) == 1


def test_a_call_that_is_ready_runs_also_when_it_was_forgotten(forgetful: ToolHandler, ran: Ran) -> None:
    """Who holds it may run it, once; who begins it again gets another answer."""
    ready = forgetful.begin(_LOOK)
    _pass(forgetful, 4)
    assert isinstance(forgetful.begin(_LOOK), Blocked)
    assert isinstance(ready, Ready)
    assert [forgetful.run(ready).ok, forgetful.run(ready).ok] == [True, False]
    assert ran.count(("look", {"path": "a"})) == 1


# Open questions ---------------------------------------------------------------------------------------------------


@pytest.fixture
def crowded(handler: ToolHandler, now: list[float]) -> ToolHandler:
    """Return the handler when two questions may be open."""
    handler.ledger = ConfirmationLedger(lifetime=60.0, clock=lambda: now[0], most=2)
    return handler


def test_a_question_too_many_is_a_block(crowded: ToolHandler, ask: Ask, recorder: MemoryRecorder) -> None:
    """It is not asked, the record and the model are told why, and those that are open can be answered."""
    first, second = ask("a", "c1"), ask("b", "c2")
    outcome = crowded.begin(ToolCall("write", call_id="c3"))
    assert isinstance(outcome, Blocked)
    assert (outcome.decision.verdict, outcome.cause) == (Verdict.BLOCK, Cause.QUESTIONS)
    assert "too many calls wait for one already; it did not run" in outcome.result.text
    assert [(each["event"], each.get("verdict")) for each in recorder.records][-2:] == [
        ("decided", "confirm"),
        ("decided", "block"),
    ]
    assert [type(crowded.resolve(each.pending_id, _YES)) for each in (first, second)] == [Ready, Ready]


def test_an_answer_makes_room(crowded: ToolHandler, ask: Ask) -> None:
    """The next call is asked about again; the one that was blocked stays so."""
    first, _ = ask("a", "c1"), ask("b", "c2")
    blocked = crowded.begin(ToolCall("write", call_id="c3"))
    crowded.resolve(first.pending_id, _NO)
    assert isinstance(ask("c", "c4"), Pending)
    assert crowded.begin(ToolCall("write", call_id="c3")) is blocked


def test_a_question_that_nobody_answered_in_time_makes_room(
    crowded: ToolHandler, ask: Ask, now: list[float], recorder: MemoryRecorder
) -> None:
    """It is closed, and its call stays blocked."""
    first = ask("a", "c1")
    now[0] = 30.0
    second = ask("b", "c2")
    now[0] = 70.0
    third = ask("c", "c3")
    closed = [each for each in recorder.records if each["event"] == "answered"]
    assert [(each["call_id"], each["error"]) for each in closed] == [("c1", "no answer in time")]
    assert isinstance(crowded.begin(first.call), Blocked)
    assert [type(crowded.resolve(each.pending_id, _YES)) for each in (second, third)] == [Ready, Ready]


def test_questions_have_a_bound_in_bytes(handler: ToolHandler, ask: Ask) -> None:
    """Large calls crowd the ledger sooner, and make room when they are settled."""
    handler.ledger = ConfirmationLedger(size=3_000)
    first, _ = ask("a" * 1_400, "c1"), ask("b" * 1_400, "c2")
    large = ToolCall("write", {"path": "c" * 1_400}, call_id="c3")
    assert isinstance(handler.begin(large), Blocked)
    handler.resolve(first.pending_id, _NO)
    assert isinstance(handler.begin(attrs.evolve(large, call_id="c4")), Pending)


# Memory -----------------------------------------------------------------------------------------------------------


def _grown(handler: ToolHandler, calls: Iterable[ToolCall]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        for call in calls:
            handler.begin(call)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_refused_calls_do_not_fill_the_memory(handler: ToolHandler) -> None:
    """Two hundred calls of a quarter megabyte each: what is kept has bounds in bytes."""
    handler.session.switch_mode("plan")
    handler.handled, handler.recorder = HandledCalls(size=1_000_000, ids=1_000), MemoryRecorder(size=1_000_000)
    text = "x" * 250_000
    calls = (ToolCall("write", {"path": f"{number} {text}"}, call_id=f"c{number}") for number in range(200))
    assert _grown(handler, calls) < 10_000_000


def test_calls_that_are_let_run_and_never_do_are_forgotten(handler: ToolHandler, registry: Any) -> None:  # noqa: ANN401 -- looked into
    """What no one can redeem any more goes with its token."""
    handler.handled = HandledCalls(calls=10)
    for number in range(100):
        handler.begin(ToolCall("look", call_id=f"c{number}"))
    gc.collect()
    assert len(registry._outstanding._kept) <= 11  # noqa: SLF001 -- a leak shows nowhere else
