"""Telemetry: counts, durations, bytes and outcomes by tool."""

import threading
from typing import Any

import pytest

from permitry.core.call import ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.telemetry import Outcome, ToolMetrics, ToolRun, ToolTotals
from permitry.errors import ToolError
from permitry.handler import ToolHandler


def test_every_run_is_counted_by_its_outcome(registry: ToolRegistry, handler: ToolHandler) -> None:
    """With its time, and the bytes that went in and came out."""

    def tool(arguments: dict[str, Any]) -> ToolResult:
        if arguments["n"]:
            raise ToolError("no")
        return ToolResult(True, "ü", parts=[MediaPart(b"1234", "image/png")])

    registry.telemetry = metrics = ToolMetrics()
    registry.register(ToolSpec("tool"), tool)
    registry.register(ToolSpec("crash"), lambda _: 1 // 0)  # type: ignore[arg-type, return-value]  # it crashes
    for call in (ToolCall("tool", {"n": 0}), ToolCall("tool", {"n": 1}), ToolCall("crash")):
        handler.handle(call)
    totals = metrics.totals()
    assert list(totals) == ["crash", "tool"]
    assert totals["tool"].outcomes == {Outcome.OK: 1, Outcome.FAILED: 1}
    assert (totals["tool"].runs, totals["tool"].bytes_in, totals["tool"].bytes_out) == (2, 14, 2 + 4 + 2)
    assert totals["crash"].outcomes == {Outcome.CRASHED: 1}
    assert totals["tool"].seconds >= totals["tool"].longest > 0


def test_waiting_is_not_running(registry: ToolRegistry, handler: ToolHandler) -> None:
    """A tool that waits for its turn is not slow."""
    runs: list[ToolRun] = []

    class Sink:
        def ran(self, run: ToolRun) -> None:
            runs.append(run)

    begun, end = threading.Event(), threading.Event()

    def hold(_: dict[str, Any]) -> str:
        begun.set()
        return str(end.wait(10))

    registry.telemetry = Sink()
    registry.register(ToolSpec("hold"), hold)
    registry.register(ToolSpec("quick"), lambda _: "done")
    first = threading.Thread(target=handler.handle, args=(ToolCall("hold"),))
    first.start()
    assert begun.wait(10)
    threading.Timer(0.2, end.set).start()
    handler.handle(ToolCall("quick"))
    first.join()
    quick = next(run for run in runs if run.tool == "quick")
    assert quick.waiting > 0.1 > quick.running > 0
    assert next(run for run in runs if run.tool == "hold").waiting < 0.1


def test_sums_add_up() -> None:
    """Seconds and bytes are sums, the longest run is one."""
    totals = ToolTotals()
    for seconds in (1.0, 3.0, 2.0):
        totals = totals.plus(ToolRun("tool", Outcome.OK, seconds, 5, 7, waiting=0.5))
    assert totals == ToolTotals(totals.outcomes, 6.0, 3.0, 15, 21, 1.5)
    assert totals.running == 4.5
    assert totals.runs == 3


@pytest.mark.parametrize("error", [ValueError(), RecursionError()])
def test_a_sink_that_fails_disturbs_no_run(registry: ToolRegistry, handler: ToolHandler, error: Exception) -> None:
    """What it raises is skipped."""

    class Broken:
        def ran(self, run: ToolRun) -> None:
            assert run.tool == "tool"
            raise error

    registry.telemetry = Broken()
    registry.register(ToolSpec("tool"), lambda _: "done")
    assert handler.handle(ToolCall("tool")).ok
