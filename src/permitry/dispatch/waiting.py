"""Threads of their own for work that may take long, and waiting for it from a thread or from an event loop."""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar, cast

from permitry.dispatch.cancel import Cancellation

__all__ = [
    "GRACE",
    "Work",
    "ended",
    "in_own_thread",
    "in_thread",
    "loop_future",
    "set_done",
    "settle",
    "start",
    "waited_for",
]

GRACE = 2.0
"""The seconds that work which was told to stop has for it."""

T = TypeVar("T")
R = TypeVar("R")
Work: TypeAlias = asyncio.Task[Any] | concurrent.futures.Future[Any]


def settle(signal: "concurrent.futures.Future[None]") -> None:
    """Make a signal be given, if it has not been."""
    with contextlib.suppress(concurrent.futures.InvalidStateError):
        signal.set_result(None)


def set_done(signal: "asyncio.Future[None]") -> None:
    """Make a signal of the loop be given, if it has not been; to be called on the loop."""
    if not signal.done():
        signal.set_result(None)


def loop_future(work: Work) -> "asyncio.Future[Any]":
    """Return a future of the loop that is done when `work` is; cancelling it does not reach `work`."""
    if isinstance(work, asyncio.Task):
        return work
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def tell(_: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may have ended before the thread
            loop.call_soon_threadsafe(set_done, done)

    work.add_done_callback(tell)
    return done


async def ended(work: Work) -> None:
    """Wait a little for work that was told to stop."""
    if isinstance(work, asyncio.Task):
        work.cancel()
    await asyncio.wait({loop_future(work)}, timeout=GRACE)


async def in_thread(function: Callable[[T], R], argument: T) -> R:
    """Return `function(argument)`, run in a thread of its own: a slow one holds up neither the loop nor another."""
    work = in_own_thread(lambda: function(argument))
    await asyncio.wait({loop_future(work)})
    return work.result()


def in_own_thread(function: Callable[[], R]) -> "concurrent.futures.Future[R]":
    """Run `function` in a new thread, with this context; a thread that does not end keeps no process from ending."""
    future: concurrent.futures.Future[R] = concurrent.futures.Future()
    start(future, function)
    return future


def start(future: "concurrent.futures.Future[R]", function: Callable[[], R]) -> None:
    """Do what `in_own_thread` does with a future that is there before: an interrupt then leaves it to be waited for."""
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = context.run(function)
        except StopIteration as error:
            # A future cannot carry it into a coroutine.
            failure = RuntimeError("raised StopIteration")
            failure.__cause__ = error
            future.set_exception(failure)
        except BaseException as error:  # noqa: BLE001 -- whoever waits is told of it
            future.set_exception(error)
        else:
            future.set_result(result)

    try:
        threading.Thread(target=work, name="permitry-tool", daemon=True).start()
    except RuntimeError as error:
        # There are too many threads, or the process is about to end.
        future.set_exception(error)


def waited_for(outcome: Awaitable[R], cancellation: Cancellation) -> R:
    """Return the outcome of something async to a caller that is not, even on the thread of a running loop.

    It is cancelled when the signal is given, and when the waiting is interrupted.
    """

    async def awaited() -> R:
        loop, task = asyncio.get_running_loop(), cast("asyncio.Task[R]", asyncio.current_task())

        def cancel() -> None:
            loop.call_soon_threadsafe(task.cancel)

        with cancellation.calling(cancel):
            return await outcome

    if not _is_on_a_loop():
        return asyncio.run(awaited())
    work = in_own_thread(lambda: asyncio.run(awaited()))
    try:
        return work.result()
    except BaseException:
        if not work.done():
            cancellation.cancel()
            concurrent.futures.wait([work], GRACE)
        raise


def _is_on_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
