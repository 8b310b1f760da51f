"""The first answer to a question that is asked on a channel, and may be answered from elsewhere meanwhile."""

import asyncio
import contextlib
import functools

from permitry.channels.channel import AsyncConfirmationChannel, ConfirmationChannel, LeavableChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.dispatch.waiting import Work, await_thread, await_until, block_until, start
from permitry.errors import LedgerError
from permitry.guard.ledger import Ledger

__all__ = ["await_channel", "first_answer"]

_PAUSE = 0.2
"""How many seconds pass between two looks at the ledger."""


async def first_answer(
    channel: ConfirmationChannel, ledger: Ledger, request: ToolConfirmationRequest, *, is_on_loop: bool
) -> object:
    """Return the answer of a channel, or the one that a ledger has before.

    On a thread the channel is asked in another one, and this never suspends. On a loop an async channel is awaited, and
    cancelled if it is late; any other one is asked in a thread.
    """
    work: Work
    if is_on_loop:
        work, wait = asyncio.ensure_future(await_channel(channel, request)), await_until
    else:
        work, wait = start(lambda: channel.ask(request)), block_until
    look = functools.partial(_look, ledger, request)
    try:
        while not work.done():
            answer = await await_thread(start(look)) if is_on_loop else look()
            if answer is not None:
                return answer
            await wait(work, _PAUSE)
    finally:
        if not work.done():
            _leave(work, channel, request)
    return work.result()


async def await_channel(channel: ConfirmationChannel, request: ToolConfirmationRequest) -> object:
    """Return the answer of a channel; one that is not async is asked in a thread."""
    if isinstance(channel, AsyncConfirmationChannel):
        return await channel.aask(request)
    return await await_thread(start(lambda: channel.ask(request)))


def _look(ledger: Ledger, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
    """Return an answer from elsewhere; None where there is none, or the store is away."""
    with contextlib.suppress(LedgerError):
        return ledger.answer(request.pending_id or "")
    return None


def _leave(work: Work, channel: ConfirmationChannel, request: ToolConfirmationRequest) -> None:
    if isinstance(work, asyncio.Task):
        # How it has ended is taken note of, so that no one is warned of it.
        work.add_done_callback(lambda task: task.cancelled() or task.exception())
        work.cancel()
    if isinstance(channel, LeavableChannel):
        channel.leave(request)
