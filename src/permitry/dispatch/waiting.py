"""Starting work that may take long in a new thread, and waiting for it, on a thread or an event loop.

Code that waits is written once, as a coroutine that takes a `Wait`. With `block_until` it never suspends, so
that `without_suspending` can run it on a thread without an event loop.
"""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeAlias, TypeVar, cast

from permitry.dispatch.cancel import Cancellation

__all__ = [
    "GRACE",
    "Wait",
    "Work",
    "await_thread",
    "await_until",
    "block_until",
    "start",
    "wait_for_result",
]

GRACE = 2.0
"""How many seconds work that was asked to stop is waited for."""

T = TypeVar("T")
R = TypeVar("R")
Work: TypeAlias = asyncio.Task[Any] | Future[Any]
Wait: TypeAlias = Callable[[Work, float | None, Cancellation | None], Awaitable[None]]
"""Waits until work is done, the seconds have passed, or it is cancelled: `block_until`, `await_until`."""


async def block_until(work: Work, seconds: float | None, stop: Cancellation | None = None, /) -> None:
    """Wait by blocking this thread; the coroutine never suspends. `work` must not be a task."""
    if work.done():
        return
    stopped: Future[None] = Future()
    either = {cast("Future[Any]", work), stopped}
    with (stop or Cancellation()).calling(lambda: stopped.set_result(None)):
        concurrent.futures.wait(either, seconds, concurrent.futures.FIRST_COMPLETED)


async def await_until(work: Work, seconds: float | None, stop: Cancellation | None = None, /) -> None:
    """Wait without blocking the event loop; cancelling this stops no thread."""
    if work.done():
        return
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def end(_: object = None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may have ended before the thread
            loop.call_soon_threadsafe(_set_done, ended)

    work.add_done_callback(end)
    try:
        with (stop or Cancellation()).calling(end):
            await asyncio.wait([ended], timeout=seconds)
    finally:
        if isinstance(work, asyncio.Task):
            work.remove_done_callback(end)


async def await_thread(done: "Future[R]", abandon: Callable[[R], object] | None = None) -> R:
    """Return the result of work that was started; where this is cancelled, that goes to `abandon`."""
    try:
        await await_until(done, None)
    except BaseException:
        if abandon is not None:
            start(lambda: abandon(done.result()))
        raise
    return done.result()


def start(function: Callable[[], R], future: "Future[R] | None" = None) -> "Future[R]":
    """Run `function` in a new daemon thread, with a copy of this context, and return the future of its result."""
    context, done = contextvars.copy_context(), Future[R]() if future is None else future

    def work() -> None:
        try:
            result = context.run(function)
        except StopIteration as error:
            # A StopIteration cannot be raised into a coroutine that awaits the future.
            failure = RuntimeError("raised StopIteration")
            failure.__cause__ = error
            done.set_exception(failure)
        except BaseException as error:  # noqa: BLE001 -- raised again where the future is waited for
            done.set_exception(error)
        else:
            done.set_result(result)

    try:
        threading.Thread(target=work, name="permitry-tool", daemon=True).start()
    except RuntimeError as error:
        # There are too many threads, or the process is about to end.
        done.set_exception(error)
    return done


def wait_for_result(outcome: Awaitable[R], cancellation: Cancellation) -> R:
    """Return the result of an awaitable to a caller that is not async, even on the thread of a loop."""

    async def wait() -> R:
        loop, task = asyncio.get_running_loop(), cast("asyncio.Task[R]", asyncio.current_task())
        with cancellation.calling(lambda: loop.call_soon_threadsafe(task.cancel)):
            return await outcome

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    work = start(lambda: asyncio.run(wait()))
    try:
        return work.result()
    except BaseException:
        if not work.done():
            cancellation.cancel()
            concurrent.futures.wait([work], GRACE)
        raise


def _set_done(signal: "asyncio.Future[None]") -> None:
    if not signal.done():
        signal.set_result(None)
