"""A tool has so much time: then the model is shown, the tool is reported, and the run has one end."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.cancel import current_cancellation
from permitry.dispatch.limits import ToolLimits
from permitry.dispatch.registry import ToolRegistry
from permitry.handler import ToolHandler

Outcomes = Callable[[], list[object]]
OVER = "The tool `tool` did not finish within 0.05 s and was asked to stop; it may have had effects."
SO_FAR = " What it gave until then:\n"


def _waits(_: dict[str, Any]) -> str:
    stop = threading.Event()
    with current_cancellation().calling(stop.set):
        stop.wait(10)
    return "stopped"


async def _awaits(_: dict[str, Any]) -> str:
    await asyncio.sleep(10)
    return "never"


def _gives_awaitable(arguments: dict[str, Any]) -> Awaitable[str]:
    return _awaits(arguments)


@pytest.mark.parametrize("tool", [_waits, _awaits, _gives_awaitable])
@pytest.mark.parametrize("on_loop", [True, False])
def test_a_tool_that_takes_too_long_is_over(
    registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes, tool: Callable[..., Any], *, on_loop: bool
) -> None:
    """Whatever kind it is and whoever waits, it is asked to stop, and the next one gets the lock."""
    registry.register(ToolSpec("tool", timeout=0.05), tool)
    registry.register(ToolSpec("next"), lambda _: "next", limits=ToolLimits(wait=1))
    so_far = f"{SO_FAR}stopped" if tool is _waits else ""
    for name, expected in (("tool", ToolResult(False, OVER + so_far)), ("next", ToolResult(True, "next"))):
        call = ToolCall(name)
        assert (asyncio.run(handler.ahandle(call)) if on_loop else handler.handle(call)) == expected
    assert outcomes() == ["timed out", "ok"]


def test_a_sync_dispatch_on_the_thread_of_a_loop_has_its_time(registry: ToolRegistry, handler: ToolHandler) -> None:
    """The loop stands still meanwhile; the tool has one of its own."""
    registry.register(ToolSpec("tool", timeout=0.05), _awaits)

    async def host() -> ToolResult:
        return handler.handle(ToolCall("tool"))

    assert asyncio.run(host()) == ToolResult(False, OVER)


@pytest.mark.parametrize("timeout", [None, 5.0])
@pytest.mark.parametrize("tool", [lambda _: "done", lambda _: ToolResult(True, "done")])
def test_a_tool_in_time_is_not_disturbed(
    registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes, tool: Callable[..., Any], timeout: float | None
) -> None:
    """With or without a limit."""
    registry.register(ToolSpec("tool", timeout=timeout), tool)
    assert handler.handle(ToolCall("tool")).ok
    assert asyncio.run(handler.ahandle(ToolCall("tool"))).ok
    assert outcomes() == ["ok", "ok"]


@pytest.fixture
def stubborn(registry: ToolRegistry, monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Return the events that end, and tell the end of, a registered tool that hears nothing."""
    release, over = threading.Event(), threading.Event()
    monkeypatch.setattr("permitry.dispatch.attempt.GRACE", 0.01)

    def tool(_: dict[str, Any]) -> str:
        release.wait(10)
        over.set()
        raise ValueError("too late to be heard")

    registry.register(ToolSpec("tool", timeout=0.05), tool)
    return release, over


@pytest.mark.parametrize("on_loop", [True, False])
def test_a_tool_that_does_not_stop_keeps_its_turn_until_it_has(
    registry: ToolRegistry,
    handler: ToolHandler,
    outcomes: Outcomes,
    stubborn: tuple[threading.Event, threading.Event],
    *,
    on_loop: bool,
) -> None:
    """The caller gets its answer; what else would change the same waits for the thread, also past the loop's end."""
    release, over = stubborn
    registry.register(ToolSpec("write"), lambda _: "wrote", limits=ToolLimits(wait=0.02))
    call = ToolCall("tool")
    assert (asyncio.run(handler.ahandle(call)) if on_loop else handler.handle(call)).text == OVER
    assert "waited 0.02 s for its turn" in handler.handle(ToolCall("write")).text
    release.set()
    assert over.wait(5)
    for _ in range(500):
        if not registry._shared.locks._queues:  # noqa: SLF001 -- to know that the thread is over
            break
        time.sleep(0.005)
    assert handler.handle(ToolCall("write")).ok
    assert outcomes() == ["timed out", "refused", "ok"]


def test_an_async_tool_that_swallows_its_cancellation_is_over_too(
    registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may say what it likes afterwards, and fail unheard."""
    monkeypatch.setattr("permitry.dispatch.attempt.GRACE", 0.01)
    logged: list[object] = []

    async def tool(_: dict[str, Any]) -> str:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)
        raise ValueError("too late")

    async def host() -> ToolResult:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: logged.append(context))
        result = await handler.ahandle(ToolCall("tool"))
        await asyncio.sleep(0.1)
        return result

    registry.register(ToolSpec("tool", timeout=0.05), tool)
    assert asyncio.run(host()).text == OVER
    assert (outcomes(), logged) == (["timed out"], [])


def test_the_time_ends_what_the_tool_has_others_do(
    registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes
) -> None:
    """A call inside the call is cancelled with it, and is on record as well."""
    registry.register(ToolSpec("inner", timeout=10), _waits)
    registry.register(ToolSpec("tool", timeout=0.05), lambda _: handler.handle(ToolCall("inner")))
    inner = f"The call of `inner` was cancelled; it may have had effects.{SO_FAR}stopped"
    assert handler.handle(ToolCall("tool")).text == f"{OVER}{SO_FAR}{inner}"
    assert outcomes() == ["cancelled", "timed out"]


def test_what_is_begun_after_the_end_does_not_run(
    registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes
) -> None:
    """A tool that goes on when it was asked to stop gets nothing done any more."""
    told: list[str] = []

    def tool(_: dict[str, Any]) -> str:
        _waits({})
        told.append(handler.handle(ToolCall("inner")).text)
        return "done"

    registry.register(ToolSpec("inner"), lambda _: "inner")
    registry.register(ToolSpec("tool", timeout=0.05), tool)
    assert handler.handle(ToolCall("tool")).text == f"{OVER}{SO_FAR}done"
    assert told == ["The call of `inner` was cancelled; it did not run."]
    assert outcomes() == ["cancelled", "timed out"]
