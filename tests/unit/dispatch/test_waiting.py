"""Threads of their own, waited for from a thread or a loop: each outcome arrives, and waiting has an end."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

import pytest
from tests.tables import for_each

from permitry.dispatch.cancel import Cancellation
from permitry.dispatch.waiting import await_thread, start, wait_for_result

R = TypeVar("R")
VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable")


def _outcome(function: Callable[[], R]) -> R:
    """Return what a function returns in a thread of its own."""
    return start(function).result(10)


def _raise(error: BaseException) -> None:
    raise error


def test_work_has_a_thread_and_the_context_of_its_caller() -> None:
    """The thread keeps no process from ending."""
    VARIABLE.set("here")
    found, thread = _outcome(lambda: (VARIABLE.get(), threading.current_thread()))
    assert (found, thread.daemon, thread is threading.current_thread()) == ("here", True, False)


@for_each("error", [ValueError("broken"), SystemExit(3), KeyboardInterrupt()])
def test_a_failure_of_any_kind_arrives(error: BaseException) -> None:
    """None of them ends the thread without an outcome."""
    with pytest.raises(type(error)):
        _outcome(lambda: _raise(error))


def test_the_end_of_an_iterator_is_an_error() -> None:
    """As it is it would end the coroutine that waits for it, without a trace."""
    with pytest.raises(RuntimeError, match="StopIteration"):
        _outcome(lambda: _raise(StopIteration()))


def test_a_thread_that_cannot_be_started_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be too many of them; who waits for the work learns of it."""
    monkeypatch.setattr(threading.Thread, "start", lambda _: _raise(RuntimeError("no more threads")))
    assert str(start(lambda: 1).exception(0)) == "no more threads"


def test_a_slow_function_does_not_hold_up_the_loop() -> None:
    """What it waits for is done on the loop."""
    go = threading.Event()

    async def both() -> bool:
        waits = asyncio.create_task(await_thread(start(lambda: go.wait(10))))
        await asyncio.sleep(0)
        go.set()
        return await waits

    assert asyncio.run(both())


async def _answer() -> str:
    await asyncio.sleep(0)
    return "answer"


def test_something_async_is_waited_for_on_the_thread_of_a_loop_too() -> None:
    """A caller that is not async may be called by one that is."""

    async def inside() -> str:
        return wait_for_result(_answer(), Cancellation())

    assert wait_for_result(_answer(), Cancellation()) == "answer"
    assert asyncio.run(inside()) == "answer"


def test_what_is_waited_for_ends_with_the_signal() -> None:
    """Even when it would take a minute."""
    cancellation = Cancellation()
    timer = threading.Timer(0.05, cancellation.cancel)
    timer.start()
    with pytest.raises(asyncio.CancelledError):
        wait_for_result(asyncio.sleep(60), cancellation)
    timer.join()
