"""The first answer to a question that is asked on a channel, and can be answered from elsewhere meanwhile."""

import asyncio
import concurrent.futures
import contextlib

from permitry.channels.channel import AsyncConfirmationChannel, ConfirmationChannel, LeavableChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.dispatch.waiting import await_thread, await_until, start
from permitry.errors import LedgerError
from permitry.guard.ledger import Ledger

__all__ = ["await_channel", "first_here", "first_on_loop"]

_PAUSE = 0.2
"""How many seconds pass between two looks at the ledger."""


def first_here(channel: ConfirmationChannel, ledger: Ledger, request: ToolConfirmationRequest) -> object:
    """Return the answer that comes first, and wait for it on this thread; the channel is asked in another one."""
    work: concurrent.futures.Future[object] = concurrent.futures.Future()
    start(work, lambda: channel.ask(request))
    try:
        while not work.done():
            if (answer := _look(ledger, request)) is not None:
                return answer
            concurrent.futures.wait([work], _PAUSE)
    finally:
        if not work.done():
            _leave(channel, request)
    return work.result()


async def await_channel(channel: ConfirmationChannel, request: ToolConfirmationRequest) -> object:
    """Return the answer of a channel; one that is not async is asked in a thread."""
    if isinstance(channel, AsyncConfirmationChannel):
        return await channel.aask(request)
    return await await_thread(concurrent.futures.Future(), lambda: channel.ask(request))


async def first_on_loop(channel: ConfirmationChannel, ledger: Ledger, request: ToolConfirmationRequest) -> object:
    """Return the answer that comes first, without blocking the event loop; a channel that is late is cancelled."""
    work = asyncio.ensure_future(await_channel(channel, request))
    try:
        while not work.done():
            answer = await await_thread(concurrent.futures.Future(), lambda: _look(ledger, request))
            if answer is not None:
                return answer
            await await_until(work, _PAUSE)
    finally:
        if not work.done():
            # How it has ended is taken note of, so that no one is warned of it.
            work.add_done_callback(lambda task: task.cancelled() or task.exception())
            work.cancel()
            _leave(channel, request)
    return work.result()


def _look(ledger: Ledger, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
    """Return an answer from elsewhere; None where there is none, or the store is away."""
    with contextlib.suppress(LedgerError):
        return ledger.answer(request.pending_id or "")
    return None


def _leave(channel: ConfirmationChannel, request: ToolConfirmationRequest) -> None:
    if isinstance(channel, LeavableChannel):
        channel.leave(request)
