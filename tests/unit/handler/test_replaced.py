"""A tool that changes on the way of a call: what runs is what was decided on and asked about, or nothing."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.decision import Phase, Verdict
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ReplayError
from permitry.guard.outcome import Permit
from permitry.guard.session import Session
from permitry.handler import Blocked, Cause, Pending, Ready, ToolHandler

Ran = list[tuple[str, dict[str, Any]]]
Ask = Callable[..., Pending]
Swap = Callable[..., None]

_YES = ToolConfirmationResponse(True, skip_future=True)
_SPEC = ToolSpec("write", "Writes, and sends it to somebody", version="2")


@attrs.define
class _At:
    """A record at which something happens once, when an event of that name has been kept."""

    inner: MemoryRecorder
    event: str
    happens: Callable[[], None] | None

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Keep the event; then let it happen."""
        self.inner.record(event, call, **details)
        happens = self.happens
        if event == self.event and happens is not None:
            self.happens = None
            happens()


@pytest.fixture
def swap(registry: ToolRegistry, ran: Ran) -> Swap:
    """Return a function that puts another tool in the place of `write`, of this declaration."""

    def swapped(spec: ToolSpec = _SPEC) -> None:
        def other(arguments: dict[str, Any]) -> str:
            ran.append(("other", arguments))
            return "another tool"

        registry.register(spec, other, replace=True)

    return swapped


@pytest.fixture
def swap_at(handler: ToolHandler, recorder: MemoryRecorder, swap: Swap) -> Callable[[str], None]:
    """Return a function that has the tool swapped right after the next event of that name is on record."""

    def at(event: str) -> None:
        handler.recorder = _At(recorder, event, swap)

    return at


def _is_refused(outcome: object) -> bool:
    assert isinstance(outcome, Blocked)
    assert (outcome.cause, outcome.decision.phase, outcome.decision.rule_id) == (Cause.POLICY, Phase.INPUT, None)
    assert outcome.decision.reason == "the tool `write` was replaced after the call was decided on"
    return outcome.result.text == (
        "The call of `write` was blocked. The tool `write` changed in the meantime, and the call did not run. "
        "Look at what the tool takes now, and make the call again if you still need it."
    )


# While a question is open -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("response", [_YES, ToolConfirmationResponse(True, arguments={"path": "b"})])
def test_a_yes_is_for_the_tool_that_was_asked_about(
    handler: ToolHandler, ask: Ask, swap: Swap, ran: Ran, response: ToolConfirmationResponse
) -> None:
    """Who approved saw the old declaration: nothing runs, with edited arguments or not, and nothing is remembered."""
    pending = ask()
    swap()
    assert _is_refused(handler.resolve(pending.pending_id, response))
    assert (ran, handler.session.tool_ignore_list, list(handler.session.history.latest())) == ([], [], [])


def test_the_refusal_is_on_record(handler: ToolHandler, ask: Ask, swap: Swap, recorder: MemoryRecorder) -> None:
    """As a second decision, with the declaration that the tool has now."""
    pending = ask()
    swap()
    handler.resolve(pending.pending_id, _YES)
    assert [each["event"] for each in recorder.records] == ["decided", "asked", "answered", "decided"]
    first, last = recorder.records[0], recorder.records[-1]
    assert (last["verdict"], last["edited"], last["tool_digest"]) == ("block", False, _SPEC.digest)
    assert first["tool_digest"] != last["tool_digest"]


def test_the_call_is_asked_about_anew(handler: ToolHandler, ask: Ask, swap: Swap, ran: Ran) -> None:
    """When the model makes it again; this answer is about the tool that runs."""
    pending = ask()
    swap()
    handler.resolve(pending.pending_id, _YES)
    again = handler.resolve(ask(call_id="c2").pending_id, _YES)
    assert handler.run(again).text == "another tool"
    assert ran == [("other", {"path": "a"})]


def test_the_refused_call_itself_is_not_asked_about_again(handler: ToolHandler, ask: Ask, swap: Swap) -> None:
    """The answer was given, and counts once."""
    pending = ask()
    swap()
    outcome = handler.resolve(pending.pending_id, _YES)
    assert handler.begin(pending.call) is outcome


def test_a_tool_that_declares_the_same_is_the_same(handler: ToolHandler, ask: Ask, swap: Swap, ran: Ran) -> None:
    """As after a reload that changed nothing: the answer holds. Limits are no part of what was decided on."""
    pending = ask()
    swap(ToolSpec("write", timeout=5.0))
    assert handler.run(handler.resolve(pending.pending_id, _YES)).ok
    assert ran == [("other", {"path": "a"})]


def test_a_question_is_about_the_tool_that_was_decided_on(
    handler: ToolHandler, ask: Ask, swap_at: Callable[[str], None], ran: Ran
) -> None:
    """Also when another one takes its place before the question is out."""
    swap_at("decided")
    assert _is_refused(handler.resolve(ask().pending_id, _YES))
    assert ran == []


def test_a_tool_that_went_away_is_told_as_such(handler: ToolHandler, ask: Ask) -> None:
    """There is nothing to look at."""
    pending = ask()
    handler.registry.unregister("write")
    outcome = handler.resolve(pending.pending_id, _YES)
    assert isinstance(outcome, Blocked)
    assert outcome.decision.reason == "the tool `write` is not registered"


# Between the decision and the run -----------------------------------------------------------------------------------


def test_another_tool_does_not_run_on_the_decision_for_the_first(
    handler: ToolHandler, swap_at: Callable[[str], None], ran: Ran, recorder: MemoryRecorder
) -> None:
    """It took the place after the rules had looked: the call is refused, and that is on record."""
    handler.session.yolo_mode = True
    swap_at("decided")
    result = handler.handle(ToolCall("write", {"path": "a"}, call_id="c1"))
    assert (result.ok, ran, list(handler.session.history.latest())) == (False, [], [])
    assert [each["verdict"] for each in recorder.records] == ["allow", "block"]
    assert _is_refused(handler.begin(ToolCall("write", {"path": "a"}, call_id="c1")))
    assert handler.handle(ToolCall("write", {"path": "a"}, call_id="c2")).text == "another tool"


def test_a_tool_that_goes_away_after_the_decision_is_no_crash(
    handler: ToolHandler, recorder: MemoryRecorder, ran: Ran
) -> None:
    """The call is refused as well."""
    handler.session.yolo_mode = True
    handler.recorder = _At(recorder, "decided", lambda: handler.registry.unregister("write"))
    assert _is_refused(handler.begin(ToolCall("write", call_id="c1")))
    assert (recorder.records[-1]["tool_digest"], ran) == (None, [])


def test_what_was_edited_does_not_run_as_another_tool(
    handler: ToolHandler, ask: Ask, swap_at: Callable[[str], None], ran: Ran
) -> None:
    """The second decision is for one tool as well; a yes that led to no run leaves nothing behind."""
    pending = ask()
    swap_at("decided")
    response = ToolConfirmationResponse(True, skip_future=True, arguments={"path": "b"})
    assert _is_refused(handler.resolve(pending.pending_id, response))
    assert (ran, handler.session.tool_ignore_list) == ([], [])


def test_a_refusal_that_cannot_be_recorded_is_told_as_such(handler: ToolHandler, recorder: MemoryRecorder) -> None:
    """Nothing ran, and the user is to know why."""

    def fail() -> None:
        handler.registry.unregister("write")
        handler.recorder = _At(recorder, "decided", broken)

    def broken() -> None:
        raise OSError("disk full")

    handler.session.yolo_mode = True
    handler.recorder = _At(recorder, "decided", fail)
    outcome = handler.begin(ToolCall("write", call_id="c1"))
    assert isinstance(outcome, Blocked)
    assert (outcome.cause, outcome.decision.verdict) == (Cause.NOT_RECORDED, Verdict.BLOCK)


def test_a_call_that_may_run_runs_the_tool_it_was_decided_on(handler: ToolHandler, swap: Swap, ran: Ran) -> None:
    """Whatever is in its place by then."""
    handler.session.yolo_mode = True
    ready = handler.begin(ToolCall("write", {"path": "a"}, call_id="c1"))
    assert isinstance(ready, Ready)
    swap()
    assert handler.run(ready).text == "write is done"
    assert ran == [("write", {"path": "a"})]


def test_a_permit_does_not_outlive_the_registry_it_was_given_for() -> None:
    """What another registry may run was never asked."""
    first, other = ToolRegistry(), ToolRegistry()
    for registry in (first, other):
        registry.register(ToolSpec("look", roles={}), lambda _: (True, "seen"))
    handler = ToolHandler(Session(yolo_mode=True), registry=first)
    permit = handler.check(ToolCall("look"))
    assert isinstance(permit, Permit)
    handler.registry = other
    with pytest.raises(ReplayError):
        permit.take()
    assert handler.handle(ToolCall("look")).ok
