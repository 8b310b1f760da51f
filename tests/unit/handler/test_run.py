"""Running: once per call, counted, and recorded whatever happens."""

from collections.abc import Callable
from typing import Any

import pytest

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import Handler, ToolRegistry
from permitry.errors import FatalToolError
from permitry.handler import Blocked, Pending, Ready, ToolHandler

Ran = list[tuple[str, dict[str, Any]]]

_LOOK = ToolCall("look", call_id="c1")


def _raising(error: BaseException) -> Handler:
    def tool(_: dict[str, Any]) -> tuple[bool, str]:
        raise error

    return tool


@pytest.fixture
def crash(handler: ToolHandler, registry: ToolRegistry) -> Callable[[BaseException], Ready]:
    """Return a function that makes a call ready whose tool raises."""

    def ready(error: BaseException) -> Ready:
        handler.session.switch_mode("yolo")
        registry.register(ToolSpec("crash"), _raising(error))
        outcome = handler.begin(ToolCall("crash", call_id="c1"))
        assert isinstance(outcome, Ready)
        return outcome

    return ready


def test_a_run_is_recorded_from_beginning_to_end(handler: ToolHandler, recorder: MemoryRecorder) -> None:
    """Decision, start and end are on record, each naming the call."""
    handler.handle(_LOOK)
    assert [each["event"] for each in recorder.records] == ["decided", "started", "finished"]
    assert {(each["call_id"], each["digest"]) for each in recorder.records} == {("c1", _LOOK.digest)}
    finished = recorder.records[-1]
    assert (finished["ok"], finished["error"]) == (True, None)
    assert isinstance(finished["seconds"], float)


def test_runs_are_counted_in_the_session(handler: ToolHandler) -> None:
    """Only what ran counts: not what was blocked, declined or never there."""
    handler.handle(ToolCall("look"))
    handler.handle(ToolCall("look"))
    handler.handle(ToolCall("write"))
    handler.handle(ToolCall("missing"))
    assert handler.session.counts == {"look": 2}


def test_a_blocked_call_has_its_result_already(handler: ToolHandler, recorder: MemoryRecorder) -> None:
    """Running it runs nothing."""
    blocked = handler.begin(ToolCall("missing"))
    assert isinstance(blocked, Blocked)
    assert handler.run(blocked) is blocked.result
    assert len(recorder.records) == 1


def test_an_abort_reaches_the_loop_with_the_result(
    handler: ToolHandler, answer: Callable[[object], list[object]], ran: Ran
) -> None:
    """Also a loop that only calls `handle` learns that the user wants to stop."""
    answer(ToolConfirmationResponse(False, abort=True))
    assert handler.handle(ToolCall("write")).ends_session is True
    assert handler.handle(ToolCall("look")).ends_session is False
    assert [name for name, _ in ran] == ["look"]


def test_a_handled_call_is_not_run_again(handler: ToolHandler, ran: Ran) -> None:
    """A replay of the same id is refused, and the model is shown how to go on."""
    handler.handle(_LOOK)
    result = handler.handle(_LOOK)
    assert result.ok is False
    assert result.text == "The call `c1` has already been handled; give every call an id of its own."
    assert len(ran) == 1


def test_an_approved_call_is_not_run_again(handler: ToolHandler, ask: Callable[[], Pending], ran: Ran) -> None:
    """One approval is one run."""
    outcome = handler.resolve(ask().pending_id, ToolConfirmationResponse(True))
    assert handler.run(outcome).ok
    assert not handler.run(outcome).ok
    assert len(ran) == 1


def test_a_ready_of_another_handler_does_not_run(handler: ToolHandler, ran: Ran) -> None:
    """What one registry authorized, another does not run."""
    ready = handler.begin(_LOOK)
    assert isinstance(ready, Ready)
    assert not ToolHandler().run(ready).ok
    assert ran == []


def test_a_crash_is_told_shortly_and_recorded_in_full(
    handler: ToolHandler, crash: Callable[[BaseException], Ready], recorder: MemoryRecorder
) -> None:
    """The traceback is for the operator."""
    result = handler.run(crash(ValueError("password=hunter2")))
    assert (result.ok, result.text) == (False, "The tool `crash` crashed (ValueError). Try another way.")
    assert "hunter2" in str(recorder.records[-1]["error"])


def test_a_fatal_error_reaches_the_host(
    handler: ToolHandler, crash: Callable[[BaseException], Ready], recorder: MemoryRecorder
) -> None:
    """The run ends, on record."""
    with pytest.raises(FatalToolError):
        handler.run(crash(FatalToolError("disk gone")))
    assert (recorder.records[-1]["event"], recorder.records[-1]["ok"]) == ("finished", False)


def test_an_interrupted_tool_is_recorded(
    handler: ToolHandler, crash: Callable[[BaseException], Ready], recorder: MemoryRecorder
) -> None:
    """Ctrl-C inside a tool goes on to the host, and leaves an end in the record."""
    with pytest.raises(KeyboardInterrupt):
        handler.run(crash(KeyboardInterrupt()))
    assert (recorder.records[-1]["event"], recorder.records[-1]["ok"]) == ("finished", False)


def test_a_tool_may_use_the_handler(handler: ToolHandler, registry: ToolRegistry, ran: Ran) -> None:
    """A tool that makes calls of its own goes through the same door."""

    def outer(_: dict[str, Any]) -> tuple[bool, str]:
        return True, handler.handle(ToolCall("look")).text + handler.handle(ToolCall("write")).text

    handler.session.tool_ignore_list.append("outer")
    registry.register(ToolSpec("outer"), outer)
    assert "and got none" in handler.handle(ToolCall("outer")).text
    assert [name for name, _ in ran] == ["look"]
