"""Single flight: the same idempotent call, made again while it runs, runs once."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.dispatch.limits import ToolLimits
from permitry.dispatch.registry import ToolRegistry
from permitry.handler import ToolHandler

ONCE = ToolTraits(idempotent=True)
Outcomes = Callable[[], list[object]]


class Gate:
    """A tool that waits at a gate, and knows how often it ran."""

    def __init__(self) -> None:
        self.open, self.inside, self.runs = threading.Event(), threading.Event(), 0
        self.answers: list[str | Exception] = []

    def __call__(self, _: dict[str, Any]) -> str:
        """Wait, and answer."""
        self.runs += 1
        answer = self.answers.pop(0) if self.answers else f"run {self.runs}"
        self.inside.set()
        assert self.open.wait(10)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def gate(registry: ToolRegistry) -> Gate:
    """Return the gate of the registered tool `tool`."""
    gate = Gate()
    registry.register(ToolSpec("tool", traits=ONCE), gate, limits=ToolLimits(resource=None))
    return gate


def _until(condition: Callable[[], bool]) -> None:
    for _ in range(1_000):
        if condition():
            return
        threading.Event().wait(0.005)
    raise AssertionError("it did not happen")


def _started(outcomes_of: ToolHandler, number: int) -> Callable[[], bool]:
    return lambda: len(outcomes_of.registry._shared.running) >= number  # noqa: SLF001 -- to know that all wait


def test_the_same_call_runs_once(handler: ToolHandler, gate: Gate, outcomes: Outcomes) -> None:
    """All get its result, and each has a record of its own."""
    with ThreadPoolExecutor(5) as pool:
        calls = [pool.submit(handler.handle, ToolCall("tool", {"x": 1})) for _ in range(5)]
        _until(_started(handler, 5))
        gate.open.set()
        assert {call.result() for call in calls} == {ToolResult(True, "run 1")}
    assert (gate.runs, outcomes()) == (1, ["ok"] * 5)


def test_on_a_loop_it_runs_once_too(handler: ToolHandler, gate: Gate) -> None:
    """Also where the others wait on the loop itself."""

    async def host() -> list[ToolResult]:
        tasks = [asyncio.create_task(handler.ahandle(ToolCall("tool"))) for _ in range(4)]
        await asyncio.sleep(0.05)
        gate.open.set()
        return await asyncio.gather(*tasks)

    assert set(asyncio.run(host())) == {ToolResult(True, "run 1")}
    assert gate.runs == 1


def test_a_later_call_runs_again(handler: ToolHandler, gate: Gate) -> None:
    """What is over is not remembered."""
    gate.open.set()
    assert [handler.handle(ToolCall("tool")).text for _ in range(2)] == ["run 1", "run 2"]


@pytest.mark.parametrize("traits", [ToolTraits(), ToolTraits(idempotent=False)])
def test_what_is_not_known_to_be_idempotent_runs_each_time(
    registry: ToolRegistry, handler: ToolHandler, traits: ToolTraits
) -> None:
    """Unknown counts as the worse answer."""
    gate = Gate()
    registry.register(ToolSpec("tool", traits=traits), gate, limits=ToolLimits(resource=None))
    with ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(handler.handle, ToolCall("tool")) for _ in range(3)]
        _until(_started(handler, 3))
        gate.open.set()
        assert len({call.result().text for call in calls}) == 3


@pytest.mark.parametrize("on_loop", [True, False])
def test_who_waits_for_a_failure_gets_a_try_of_its_own(
    handler: ToolHandler, gate: Gate, outcomes: Outcomes, *, on_loop: bool
) -> None:
    """A crash is the crash of one run."""
    gate.answers = [ValueError("once")]

    def handle() -> ToolResult:
        call = ToolCall("tool")
        return asyncio.run(handler.ahandle(call)) if on_loop else handler.handle(call)

    with ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(handle) for _ in range(3)]
        _until(_started(handler, 3))
        gate.open.set()
        results = [call.result() for call in calls]
    assert sorted(each.ok for each in results) == [False, True, True]
    assert sorted(map(str, outcomes())) == ["crashed", "ok", "ok"]


def test_who_waits_for_a_cancelled_one_gets_a_try_of_its_own(
    handler: ToolHandler, gate: Gate, outcomes: Outcomes
) -> None:
    """The one that runs is cancelled, the others are not."""

    async def host() -> list[object]:
        first = asyncio.create_task(handler.ahandle(ToolCall("tool", call_id="first")))
        await asyncio.to_thread(gate.inside.wait, 5)
        second = asyncio.create_task(handler.ahandle(ToolCall("tool", call_id="second")))
        await asyncio.sleep(0.02)
        handler.registry.cancel("first")
        gate.open.set()
        return [each.text for each in await asyncio.gather(first, second)]

    cancelled = "The call of `tool` was cancelled; it may have had effects. What it gave until then:\nrun 1"
    assert asyncio.run(host()) == [cancelled, "run 2"]
    assert sorted(map(str, outcomes())) == ["cancelled", "ok"]


def test_who_waits_can_be_cancelled_alone(handler: ToolHandler, gate: Gate) -> None:
    """The one it waits for goes on; the one cancelled never ran."""
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(handler.handle, ToolCall("tool", call_id="first"))
        assert gate.inside.wait(5)
        second = pool.submit(handler.handle, ToolCall("tool", call_id="second"))
        _until(_started(handler, 2))
        handler.registry.cancel("second")
        assert second.result(5).text == "The call of `tool` was cancelled; it did not run."
        gate.open.set()
        assert first.result(5).ok


@pytest.mark.parametrize("on_loop", [True, False])
def test_who_has_waited_long_enough_runs_by_itself(
    registry: ToolRegistry, handler: ToolHandler, *, on_loop: bool
) -> None:
    """One that does not end keeps no other for ever."""
    release, runs = threading.Event(), []

    def tool(_: dict[str, Any]) -> str:
        runs.append(1)
        if len(runs) == 1:
            release.wait(10)
        return "done"

    registry.register(ToolSpec("tool", traits=ONCE), tool, limits=ToolLimits(resource=None, wait=0.05))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(handler.handle, ToolCall("tool"))
        _until(lambda: len(runs) == 1)
        call = ToolCall("tool")
        assert (asyncio.run(handler.ahandle(call)) if on_loop else handler.handle(call)).text == "done"
        assert not first.done()
        release.set()
    assert len(runs) == 2


def test_a_tool_that_makes_its_own_call_again_does_not_wait_for_itself(
    registry: ToolRegistry, handler: ToolHandler
) -> None:
    """What others wait for waits for no one."""
    depth = []

    def tool(_: dict[str, Any]) -> str:
        depth.append(1)
        return handler.handle(ToolCall("tool")).text if len(depth) < 3 else "deep"

    registry.register(ToolSpec("tool", traits=ONCE), tool, limits=ToolLimits(wait=5))
    assert handler.handle(ToolCall("tool")).text == "deep"


def test_a_replaced_tool_does_not_answer_for_the_new_one(
    registry: ToolRegistry, handler: ToolHandler, gate: Gate
) -> None:
    """The same call to another tool of that name is another call."""
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(handler.handle, ToolCall("tool"))
        assert gate.inside.wait(5)
        spec = ToolSpec("tool", "the new one", traits=ONCE)
        registry.register(spec, lambda _: "new", limits=ToolLimits(resource=None), replace=True)
        assert handler.handle(ToolCall("tool")).text == "new"
        gate.open.set()
        assert first.result().text == "run 1"
