"""Work in a process of its own, which is ended when it takes too long, or no one waits for it."""

import asyncio
import contextlib
import multiprocessing
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from typing import Any

from starlette.concurrency import run_in_threadpool

__all__ = ["run_apart"]

_PAUSE = 0.01


async def run_apart(
    work: Callable[..., None], *given: object, most: int, seconds: float, is_wanted: Callable[[], Awaitable[bool]]
) -> list[Any]:
    """Return what `work`, with what is `given`, sends on the connection that it gets last: `most` things, or fewer.

    It has so many seconds, and only as long as it is wanted. What it is given, and what it sends, is pickled.
    """
    # Forked from a process that does nothing else: of threads, only one would go on in it.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([work.__module__])
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(*given, sending), daemon=True)
    await run_in_threadpool(process.start)
    sending.close()
    try:
        return await _receive(receiving, most, time.monotonic() + seconds, is_wanted)
    finally:
        process.kill()
        process.join()
        receiving.close()


async def _receive(
    receiving: "Connection[Any, Any]", most: int, deadline: float, is_wanted: Callable[[], Awaitable[bool]]
) -> list[Any]:
    received: list[Any] = []
    with contextlib.suppress(EOFError):
        while len(received) < most and time.monotonic() < deadline and await is_wanted():
            if receiving.poll():
                received.append(receiving.recv())
            else:
                await asyncio.sleep(_PAUSE)
    return received
