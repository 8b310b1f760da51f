"""A registry behind a handler that allows everything, for looking at what happens after the decision."""

from collections.abc import Callable
from typing import Any

import pytest

from permitry.audit.record import MemoryRecorder
from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.authorized import AuthorizedCall
from permitry.dispatch.registry import Handler, ToolRegistry
from permitry.guard.session import Session
from permitry.handler import Ready, ToolHandler


@pytest.fixture
def registry() -> ToolRegistry:
    """Return an empty registry."""
    return ToolRegistry()


@pytest.fixture
def recorder() -> MemoryRecorder:
    """Return the record of the handler."""
    return MemoryRecorder()


@pytest.fixture
def handler(registry: ToolRegistry, recorder: MemoryRecorder) -> ToolHandler:
    """Return a handler that allows every call of a registered tool."""
    return ToolHandler(Session(yolo_mode=True), registry=registry, recorder=recorder)


@pytest.fixture
def authorize(handler: ToolHandler) -> Callable[[ToolCall], AuthorizedCall]:
    """Return a function that has a call authorized."""

    def authorized(call: ToolCall) -> AuthorizedCall:
        outcome = handler.begin(call)
        assert isinstance(outcome, Ready)
        return outcome.authorized

    return authorized


@pytest.fixture
def ran(registry: ToolRegistry) -> list[dict[str, Any]]:
    """Return the arguments with which the registered tool `work` ran, in order."""
    runs: list[dict[str, Any]] = []

    def work(arguments: dict[str, Any]) -> tuple[bool, str]:
        runs.append(arguments)
        return True, "done"

    registry.register(ToolSpec("work"), work)
    return runs


@pytest.fixture
def run(registry: ToolRegistry, authorize: Callable[[ToolCall], AuthorizedCall]) -> Callable[[Handler], ToolResult]:
    """Return a function that registers a tool `tool` and runs it once."""

    def run_once(tool: Handler) -> ToolResult:
        registry.register(ToolSpec("tool", output_limit=100), tool)
        return registry.dispatch(authorize(ToolCall("tool", {"items": [1, 2]}, call_id="c1")))

    return run_once


@pytest.fixture
def arun(registry: ToolRegistry, authorize: Callable[[ToolCall], AuthorizedCall]) -> Callable[[Handler], Any]:
    """Return a function that registers a tool `tool` and gives the awaitable of one run."""

    def run_once(tool: Handler) -> Any:  # noqa: ANN401 -- a coroutine of a ToolResult
        registry.register(ToolSpec("tool", output_limit=100), tool)
        return registry.adispatch(authorize(ToolCall("tool", {"items": [1, 2]}, call_id="c1")))

    return run_once


@pytest.fixture
def outcomes(recorder: MemoryRecorder) -> Callable[[], list[object]]:
    """Return a function that gives the outcomes on record, in order; each run must have left one end for its start."""

    def of_runs() -> list[object]:
        records = list(recorder.records)
        ends = [each for each in records if each["event"] == "finished"]
        assert len({each["call_id"] for each in ends}) == len(ends)
        assert len([each for each in records if each["event"] == "started"]) == len(ends)
        return [each["outcome"] for each in ends]

    return of_runs
