"""Cancelling: one terminal outcome each, whoever is first, and nothing left behind."""

import asyncio
import contextvars
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from permitry.audit.recorder import MemoryRecorder
from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.dispatch.cancel import SIGNAL, Cancellation, SetFor, current_cancellation
from permitry.dispatch.limits import ToolLimits
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import FatalToolError
from permitry.guard.session import Session
from permitry.handler import ToolHandler

Outcomes = Callable[[], list[object]]
CANCELLED = "The call of `tool` was cancelled; it may have had effects."


# The signal -------------------------------------------------------------------------------------------------------


def test_the_signal_is_given_once() -> None:
    """Every callback runs once, one that fails keeps no other from running, and one that is over does not run."""
    cancellation, called = Cancellation(), list[object]()
    with cancellation.calling(lambda: called.append("over")):
        pass
    with cancellation.calling(lambda: called.append(1 // 0)), cancellation.calling(lambda: called.append("a")):
        cancellation.cancel()
        cancellation.cancel()
    assert (called, cancellation.is_cancelled) == (["a"], True)


def test_who_comes_late_is_told_at_once() -> None:
    """The signal is never taken back."""
    cancellation, called = Cancellation(), []
    cancellation.cancel()
    with cancellation.calling(lambda: called.append("late")):
        assert called == ["late"]
    assert called == ["late"]


def test_no_callback_runs_after_its_block() -> None:
    """What it would end may be something else by then."""
    cancellation, called = Cancellation(), []
    first, second = threading.Event(), threading.Event()

    def hold() -> None:
        first.set()
        second.wait(5)

    with cancellation.calling(hold):
        with cancellation.calling(lambda: called.append("late")):
            canceller = threading.Thread(target=cancellation.cancel)
            canceller.start()
            assert first.wait(5)
        second.set()
        canceller.join()
    assert called == []


def test_leaving_a_block_waits_for_its_callback() -> None:
    """While something is being ended, it is not let go."""
    cancellation, order = Cancellation(), []
    inside = threading.Event()

    def end() -> None:
        inside.set()
        time.sleep(0.05)
        order.append("ended")

    with cancellation.calling(end):
        canceller = threading.Thread(target=cancellation.cancel)
        canceller.start()
        assert inside.wait(5)
    order.append("left")
    canceller.join()
    assert order == ["ended", "left"]


def test_outside_of_a_call_nothing_is_ever_cancelled() -> None:
    """There is a signal to ask, and no one gives it."""
    assert (SIGNAL.get(), current_cancellation().is_cancelled) == (None, False)
    cancellation = Cancellation()
    with SetFor(SIGNAL, cancellation):
        assert current_cancellation() is cancellation
    assert SIGNAL.get() is None


# A run ------------------------------------------------------------------------------------------------------------


def _waits(_: dict[str, Any]) -> str:
    stop = threading.Event()
    with current_cancellation().calling(stop.set):
        assert stop.wait(10)
    return "stopped"


def _crashes(_: dict[str, Any]) -> str:
    _waits({})
    raise ValueError("because it was asked to stop")


async def _awaits(_: dict[str, Any]) -> str:
    await asyncio.sleep(10)
    return "never"


def _cancel_when_running(registry: ToolRegistry, call_id: str) -> None:
    for _ in range(1_000):
        if registry.cancel(call_id):
            return
        time.sleep(0.005)
    raise AssertionError("it never ran")


@pytest.mark.parametrize("timeout", [None, 30.0])
@pytest.mark.parametrize("tool", [_waits, _crashes, _awaits])
@pytest.mark.parametrize("on_loop", [True, False])
def test_a_cancelled_call_is_cancelled(
    registry: ToolRegistry,
    handler: ToolHandler,
    outcomes: Outcomes,
    tool: Callable[..., Any],
    *,
    on_loop: bool,
    timeout: float | None,
) -> None:
    """From another thread, whatever kind the tool is, however it ends, and with or without a time limit."""
    registry.register(ToolSpec("tool", timeout=timeout), tool)
    call = ToolCall("tool", call_id="c1")
    with ThreadPoolExecutor(1) as pool:
        canceller = pool.submit(_cancel_when_running, registry, "c1")
        result = asyncio.run(handler.ahandle(call)) if on_loop else handler.handle(call)
        canceller.result()
    so_far = f"{CANCELLED} What it gave until then:\nstopped"
    assert result.text in (CANCELLED, so_far, "The call of `tool` was cancelled; it did not run.")
    assert (outcomes(), registry.cancel("c1")) == (["cancelled"], False)


def test_a_fatal_error_stays_fatal(registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes) -> None:
    """Being cancelled hides no end of the run."""

    def tool(_: dict[str, Any]) -> str:
        registry.cancel("c1")
        raise FatalToolError("disk gone")

    registry.register(ToolSpec("tool"), tool)
    with pytest.raises(FatalToolError):
        handler.handle(ToolCall("tool", call_id="c1"))
    assert outcomes() == ["fatal"]


def test_cancelling_what_waits_for_its_turn(registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes) -> None:
    """It never ran, and the one it waited for is not touched."""
    release, inside = threading.Event(), threading.Event()

    def first(_: dict[str, Any]) -> str:
        inside.set()
        return str(release.wait(10))

    registry.register(ToolSpec("first"), first)
    registry.register(ToolSpec("tool"), lambda _: "ran")
    with ThreadPoolExecutor(3) as pool:
        running = pool.submit(handler.handle, ToolCall("first"))
        assert inside.wait(5)
        waiting = [
            pool.submit(handler.handle, ToolCall("tool", call_id="a")),
            pool.submit(lambda: asyncio.run(handler.ahandle(ToolCall("tool", call_id="b")))),
        ]
        for call_id in ("a", "b"):
            _cancel_when_running(registry, call_id)
        assert {each.result(5).text for each in waiting} == {"The call of `tool` was cancelled; it did not run."}
        release.set()
        assert running.result().ok
    assert outcomes() == ["cancelled", "cancelled", "ok"]


def test_a_task_cancelled_twice_leaves_one_end(
    registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes
) -> None:
    """The second time while the first is being seen to."""

    async def tool(_: dict[str, Any]) -> str:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            await asyncio.sleep(0.2)
        return "late"

    async def host() -> None:
        task = asyncio.create_task(handler.ahandle(ToolCall("tool")))
        for _ in range(2):
            await asyncio.sleep(0.02)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    registry.register(ToolSpec("tool"), tool)
    asyncio.run(host())
    assert outcomes() == ["cancelled"]
    assert registry._shared.locks._queues == {}  # noqa: SLF001 -- a leak shows nowhere else


def test_an_async_tool_that_cancels_itself_cancels_nobody_else(
    registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes
) -> None:
    """The host's task goes on with a result."""

    async def tool(_: dict[str, Any]) -> str:
        raise asyncio.CancelledError

    registry.register(ToolSpec("tool"), tool)
    told = asyncio.run(handler.ahandle(ToolCall("tool")))
    assert told == ToolResult(False, "The tool `tool` was interrupted; it may have had effects.")
    assert outcomes() == ["cancelled"]


def test_ctrl_c_reaches_a_tool_in_a_thread(
    registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes, recorder: MemoryRecorder
) -> None:
    """The thread is told to stop, the interrupt goes on, and the run has its end on record."""
    ends = []

    def tool(_: dict[str, Any]) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        ends.append(_waits({}))
        return "done"

    registry.register(ToolSpec("tool", timeout=10), tool)
    with pytest.raises(KeyboardInterrupt):
        handler.handle(ToolCall("tool"))
    assert (ends, outcomes(), recorder.records[-1]["error"]) == (["stopped"], ["cancelled"], "KeyboardInterrupt")


def test_closing_a_registry_cancels_what_runs(registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes) -> None:
    """And ends what tools keep alive, last come first, whatever fails on the way."""
    ended: list[object] = []
    for each in (lambda: ended.append("first"), lambda: ended.append(1 // 0), lambda: ended.append("last")):
        registry.closing(each)
    inside = threading.Event()

    def tool(_: dict[str, Any]) -> str:
        inside.set()
        return _waits({})

    registry.register(ToolSpec("tool"), tool)
    with ThreadPoolExecutor(1) as pool:
        with registry:
            run = pool.submit(handler.handle, ToolCall("tool"))
            assert inside.wait(5)
        assert run.result(5).text == f"{CANCELLED} What it gave until then:\nstopped"
    registry.close()
    assert (ended, outcomes()) == (["last", "first"], ["cancelled"])


# Many -------------------------------------------------------------------------------------------------------------


def test_of_fifty_calls_cancelled_in_the_middle_each_has_one_end_and_no_process_is_left(
    registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes, tmp_path: Path
) -> None:
    """Readers and writers with processes of their own, cancelled while some run and others wait."""
    started: list[subprocess.Popen[bytes]] = []

    def tool(_: dict[str, Any]) -> str:
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd=tmp_path) as process:
            started.append(process)
            with current_cancellation().calling(process.kill):
                process.wait(30)
        return "done"

    registry.register(ToolSpec("look", timeout=60, traits=ToolTraits(read_only=True)), tool)
    registry.register(ToolSpec("write", timeout=60), tool, limits=ToolLimits(wait=30))

    async def host() -> list[ToolResult | BaseException]:
        names = ["look"] * 8 + ["write"] * 42
        tasks = [asyncio.create_task(handler.ahandle(ToolCall(name, {"n": n + 1}))) for n, name in enumerate(names)]
        while len(started) < 8:  # noqa: ASYNC110 -- what tools have started is seen by asking
            await asyncio.sleep(0.01)
        for n, task in enumerate(tasks):
            if n % 2:
                task.cancel()
        registry.close()
        return await asyncio.gather(*tasks, return_exceptions=True)

    results = asyncio.run(host())
    assert sum(isinstance(each, asyncio.CancelledError) for each in results) == 25
    assert (len(outcomes()), {*outcomes()} == {"cancelled"}) == (50, True)
    assert [process for process in started if process.poll() is None] == []
    assert registry._shared.locks._queues == {}  # noqa: SLF001 -- a leak shows nowhere else


def test_whoever_is_first_there_is_one_end(registry: ToolRegistry) -> None:
    """A hundred runs that finish, time out and are cancelled at the same moment."""
    recorder = MemoryRecorder()
    handler = ToolHandler(Session(yolo_mode=True), registry=registry, recorder=recorder)

    def tool(arguments: dict[str, Any]) -> str:
        current_cancellation()
        time.sleep(0.005 + arguments["n"] % 3 * 0.0005)
        return "done"

    registry.register(ToolSpec("tool", timeout=0.0055), tool, limits=ToolLimits(resource=None))

    def one(n: int) -> ToolResult:
        timer = threading.Timer(0.0055, registry.cancel, [f"c{n}"])
        timer.start()
        result = handler.handle(ToolCall("tool", {"n": n}, call_id=f"c{n}"))
        timer.join()
        return result

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(one, range(100)))
    ends = {each["call_id"]: each for each in recorder.records if each["event"] == "finished"}
    assert len([each for each in recorder.records if each["event"] == "finished"]) == len(ends) == 100
    for n, result in enumerate(results):
        end = ends[f"c{n}"]
        assert (end["ok"], end["outcome"] == "ok") == (result.ok, result.ok)


def test_a_variable_is_set_for_a_block() -> None:
    """Also in a context that is copied there; whatever ends the block, it is as before."""
    variable = contextvars.ContextVar("variable", default=0)
    with SetFor(variable, 1):
        context = contextvars.copy_context()
        with pytest.raises(KeyError), SetFor(variable, 2):
            raise KeyError
        assert variable.get() == 1
    assert (variable.get(), context.run(variable.get)) == (0, 1)
