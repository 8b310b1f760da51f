"""One run of one tool: whatever happens, it ends with one result, one outcome, and one report to its observer."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from permitry.audit.record import MemoryRecorder
from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.authorized import AuthorizedCall
from permitry.dispatch.registry import Handler, ToolRegistry
from permitry.errors import FatalToolError, ToolError

Run: TypeAlias = Callable[[Handler], ToolResult]
Arun: TypeAlias = Callable[[Handler], Any]
Authorize: TypeAlias = Callable[[ToolCall], AuthorizedCall]


def _raises(error: BaseException) -> Handler:
    def tool(_: dict[str, Any]) -> str:
        raise error

    return tool


def _outcomes(recorder: MemoryRecorder) -> list[object]:
    return [record["outcome"] for record in recorder.records if record["event"] == "finished"]


@pytest.mark.parametrize(
    ("tool", "result", "outcome"),
    [
        (lambda _: "done", ToolResult(True, "done"), "ok"),
        (lambda _: (False, "no"), ToolResult(False, "no"), "failed"),
        (_raises(ToolError("no such file")), ToolResult(False, "no such file"), "failed"),
        (
            _raises(KeyError("secret")),
            ToolResult(False, "The tool `tool` crashed (KeyError). Try another way."),
            "crashed",
        ),
        (
            lambda _: {"ok": False},
            ToolResult(False, "The tool `tool` crashed (TypeError). Try another way."),
            "crashed",
        ),
    ],
)
def test_a_run_has_one_result_and_one_outcome(
    run: Run, recorder: MemoryRecorder, tool: Handler, result: ToolResult, outcome: str
) -> None:
    """The model learns of a crash, but not what was in the error."""
    assert run(tool) == result
    assert _outcomes(recorder) == [outcome]


def test_on_an_event_loop_it_is_the_same(arun: Arun, recorder: MemoryRecorder) -> None:
    """An async tool is awaited."""

    async def tool(_: dict[str, Any]) -> tuple[bool, str]:
        await asyncio.sleep(0)
        return False, "no"

    assert asyncio.run(arun(tool)) == ToolResult(False, "no")
    assert _outcomes(recorder) == ["failed"]


@pytest.mark.parametrize("error", [FatalToolError("the disk is full"), KeyboardInterrupt()])
def test_what_ends_the_process_goes_on(run: Run, recorder: MemoryRecorder, error: BaseException) -> None:
    """And the run is reported all the same."""
    with pytest.raises(type(error)):
        run(_raises(error))
    assert len(_outcomes(recorder)) == 1


def test_a_result_is_cut_to_the_limit_of_its_tool(run: Run) -> None:
    """Its structured form, which would bring the rest back, is left out."""
    result = run(lambda _: ToolResult(True, "x" * 500, structured={"text": "x" * 500}))
    assert result.text.count("x") == 100
    assert result.structured is None


def test_a_run_that_takes_too_long_is_told_to_stop(
    registry: ToolRegistry, authorize: Authorize, recorder: MemoryRecorder
) -> None:
    """The caller does not wait for it."""
    over = threading.Event()
    registry.register(ToolSpec("slow", timeout=0.05), lambda _: str(over.wait(20)))
    try:
        result = registry.dispatch(authorize(ToolCall("slow")))
    finally:
        over.set()
    assert result.text.startswith("The tool `slow` did not finish within 0.05 s and was asked to stop;")
    assert _outcomes(recorder) == ["timed out"]


def test_a_crash_is_logged_for_the_developer(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    """Once, with the traceback, of which the model sees nothing."""
    result = run(_raises(KeyError("password=hunter2")))
    [logged] = caplog.records
    assert (logged.name, logged.levelname) == ("permitry.dispatch", "ERROR")
    assert logged.getMessage().startswith("the tool `tool` crashed:\nTraceback (most recent call last):\n")
    assert "hunter2" in logged.getMessage()
    assert "hunter2" not in result.text


@pytest.mark.parametrize("tool", [lambda _: "done", _raises(ToolError("no such file"))])
def test_what_a_tool_reports_is_not_logged(run: Run, caplog: pytest.LogCaptureFixture, tool: Handler) -> None:
    """A failure that it names is for the model."""
    run(tool)
    assert caplog.records == []


def test_a_log_that_fails_does_not_fail_the_run(
    run: Run, recorder: MemoryRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of the run is still recorded, and shown to the model."""
    monkeypatch.setattr("permitry.dispatch.running._LOG.error", lambda *_: _raises(OSError("disk full"))({}))
    assert run(_raises(KeyError("secret"))).text == "The tool `tool` crashed (KeyError). Try another way."
    assert _outcomes(recorder) == ["crashed"]
