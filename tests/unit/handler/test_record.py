"""No run without a record: a record that fails before the start leaves the tool unrun."""

import asyncio
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.decision import Verdict
from permitry.errors import AuditError
from permitry.handler import Blocked, Cause, Pending, ToolHandler

Ran = list[tuple[str, dict[str, Any]]]

_LOOK = ToolCall("look", call_id="c1")
_WRITE = ToolCall("write", {"path": "a"}, call_id="c1")
_YES = ToolConfirmationResponse(True)
_NOT_RECORDED = "The call could not be recorded, so it did not run. Tell the user; do not retry."


@attrs.define
class _Broken:
    """Keeps events until the one that fails."""

    event: str
    error: Exception
    kept: list[str] = attrs.field(factory=list)

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Keep an event or fail."""
        assert call.tool
        assert isinstance(details, dict)
        if event == self.event:
            raise self.error
        self.kept.append(event)


@pytest.fixture
def broken(handler: ToolHandler) -> Callable[..., _Broken]:
    """Return a function that gives the handler a record that fails at one event."""

    def breaking(event: str, error: Exception | None = None) -> _Broken:
        handler.recorder = recorder = _Broken(event, error or AuditError("the disk is full"))
        return recorder

    return breaking


@pytest.mark.parametrize("call", [_LOOK, _WRITE])
@pytest.mark.parametrize("error", [AuditError("full"), OSError("gone"), TypeError("bad"), RuntimeError()])
def test_a_decision_that_is_not_recorded_leads_nowhere(
    handler: ToolHandler, broken: Callable[..., _Broken], ran: Ran, call: ToolCall, error: Exception
) -> None:
    """However the record fails, the call is blocked, and the model is instructed not to retry."""
    broken("decided", error)
    assert handler.handle(call).text == _NOT_RECORDED
    assert ran == []


def test_a_block_that_is_not_recorded_is_still_a_block(handler: ToolHandler, broken: Callable[..., _Broken]) -> None:
    """A failing record changes no verdict."""
    broken("decided")
    handler.session.switch_mode("plan")
    outcome = handler.begin(_WRITE)
    assert isinstance(outcome, Blocked)
    assert (outcome.decision.verdict, outcome.cause) == (Verdict.BLOCK, Cause.NOT_RECORDED)


def test_a_question_that_is_not_recorded_is_not_asked(
    handler: ToolHandler, broken: Callable[..., _Broken], answer: Callable[[object], list[object]]
) -> None:
    """The call is blocked without bothering anybody."""
    asked = answer(_YES)
    broken("asked")
    assert handler.handle(_WRITE).text == _NOT_RECORDED
    assert asked == []


def test_a_question_that_is_not_recorded_is_not_open(handler: ToolHandler, broken: Callable[..., _Broken]) -> None:
    """No one could answer it, so it is not kept."""
    broken("asked")
    outcome = handler.begin(_WRITE)
    assert isinstance(outcome, Blocked)
    assert (outcome.cause, len(handler.ledger)) == (Cause.NOT_RECORDED, 0)


def test_a_question_that_is_recorded_too_slowly_and_then_not_is_blocked(handler: ToolHandler, now: list[float]) -> None:
    """However late the recorder fails, the call has an outcome."""

    class Slow:
        def record(self, event: str, call: ToolCall, /, **details: object) -> None:
            assert (call, bool(details)) == (_WRITE, True)
            if event == "asked":
                now[0] += 100
                raise OSError

    handler.recorder = Slow()
    outcome = handler.begin(_WRITE)
    assert isinstance(outcome, Blocked)
    assert (outcome.cause, len(handler.ledger)) == (Cause.NOT_RECORDED, 0)


@pytest.mark.parametrize("approved", [True, False])
def test_an_answer_that_is_not_recorded_does_not_count(
    handler: ToolHandler,
    broken: Callable[..., _Broken],
    ask: Callable[[], Pending],
    ran: Ran,
    approved: bool,  # noqa: FBT001 -- a table of flags
) -> None:
    """Not even a yes."""
    pending = ask()
    broken("answered")
    outcome = handler.resolve(pending.pending_id, ToolConfirmationResponse(approved, skip_future=True))
    assert isinstance(outcome, Blocked)
    assert outcome.result.text == _NOT_RECORDED
    assert (ran, handler.session.tool_ignore_list) == ([], [])


def test_an_unanswered_question_needs_no_record_to_be_blocked(
    handler: ToolHandler, broken: Callable[..., _Broken], ask: Callable[[], Pending]
) -> None:
    """Nothing runs, so a failing record costs nothing."""
    pending = ask()
    broken("answered")
    assert isinstance(handler.ask(pending), Blocked)


def test_an_edit_that_is_not_recorded_does_not_run(
    handler: ToolHandler, broken: Callable[..., _Broken], ask: Callable[[], Pending], ran: Ran
) -> None:
    """The arguments that would run are not on record, so they do not, and nothing is remembered."""
    pending = ask()
    broken("decided")
    response = ToolConfirmationResponse(True, skip_future=True, arguments={"path": "b"})
    outcome = handler.resolve(pending.pending_id, response)
    assert isinstance(outcome, Blocked)
    assert (outcome.result.text, outcome.cause) == (_NOT_RECORDED, Cause.NOT_RECORDED)
    assert (ran, handler.session.tool_ignore_list) == ([], [])


def test_a_block_that_came_in_between_needs_no_record_to_block(
    handler: ToolHandler, broken: Callable[..., _Broken], ask: Callable[[], Pending], ran: Ran
) -> None:
    """A yes does not run against the new decision because that one could not be recorded."""
    pending = ask()
    broken("decided")
    handler.session.switch_mode("plan")
    outcome = handler.resolve(pending.pending_id, _YES)
    assert isinstance(outcome, Blocked)
    assert (outcome.decision.verdict, outcome.result.text) == (Verdict.BLOCK, _NOT_RECORDED)
    assert ran == []


def test_without_a_recorded_start_the_tool_does_not_start(
    handler: ToolHandler, broken: Callable[..., _Broken], ran: Ran
) -> None:
    """Nothing runs, the call counts as let run, and the authorization is spent."""
    broken("started")
    ready: Any = handler.begin(_LOOK)
    with pytest.raises(AuditError):
        handler.run(ready)
    assert (ran, handler.session.counts) == ([], {"look": 1})
    assert "already been handled" in handler.run(ready).text


def test_without_a_recorded_start_an_async_tool_does_not_start_either(
    handler: ToolHandler, broken: Callable[..., _Broken], ran: Ran
) -> None:
    """The other way to run has the same door."""
    broken("started")
    with pytest.raises(AuditError):
        asyncio.run(handler.ahandle(_LOOK))
    assert ran == []


def test_an_end_that_is_not_recorded_reaches_the_host(
    handler: ToolHandler, broken: Callable[..., _Broken], ran: Ran
) -> None:
    """The tool ran once, its start is on record, and the host learns that the end is not."""
    recorder = broken("finished")
    with pytest.raises(AuditError):
        handler.handle(_LOOK)
    assert len(ran) == 1
    assert recorder.kept == ["decided", "started"]


def test_the_record_comes_before_the_run(handler: ToolHandler, ran: Ran) -> None:
    """When the start is recorded, the tool has not begun."""
    runs_at: dict[str, int] = {}

    class Watching:
        def record(self, event: str, _: ToolCall, /, **details: object) -> None:
            runs_at[event] = len(ran)
            assert "event" not in details

    handler.recorder = Watching()
    handler.handle(_LOOK)
    assert runs_at == {"decided": 0, "started": 0, "finished": 1}
