"""The way of a question to a human and back, written once for a thread and for an event loop."""

import contextlib
from collections.abc import Callable
from typing import TypeVar

from permitry.audit.recorder import waits_for_disk
from permitry.channels.response import ToolConfirmationResponse
from permitry.errors import LedgerError, ReplayError, safe_str
from permitry.guard.case import Parts
from permitry.guard.line import settle_answer, withdraw
from permitry.guard.open_questions import give_no_answer, interrupt, is_open
from permitry.guard.outcome import Blocked, Decided, Pending, Ready

__all__ = ["abandon", "ask", "do_work", "take_answer"]

T = TypeVar("T")


async def do_work(
    parts: Parts, work: Callable[[], T], *, is_on_loop: bool, abandon: Callable[[T], None] | None = None
) -> T:
    """Return what work returns that records: on a loop in turn and in a thread, where that waits for a disk.

    Where this is cancelled, that goes to `abandon`.
    """
    if is_on_loop and waits_for_disk(parts.recorder):
        return await parts.apart.run(work, abandon)
    return work()


async def ask(pending: Pending, parts: Parts, *, is_on_loop: bool) -> Ready | Blocked:
    """Ask on the channel and settle the answer; if the channel fails, the call is blocked.

    It suspends only where it `is_on_loop`; otherwise it waits on this thread.
    """
    if not await do_work(parts, lambda: is_open(pending, parts), is_on_loop=is_on_loop):
        return give_no_answer(pending, parts)
    try:
        response: object
        if is_on_loop or _has_others(parts):
            response = await _await_answer(pending, parts, is_on_loop=is_on_loop)
        else:
            response = parts.channel.ask(pending.request)
    except Exception as error:  # noqa: BLE001 -- whatever a channel does, the call must not run for it
        why = f"{type(error).__name__}: {safe_str(error)}"
        return await do_work(parts, lambda: _give_up(pending, parts, why), is_on_loop=is_on_loop)
    except BaseException as error:
        await _interrupt(pending, parts, error, is_on_loop=is_on_loop)
        raise
    return await do_work(parts, lambda: take_answer(pending, parts, response), is_on_loop=is_on_loop)


def _has_others(parts: Parts) -> bool:
    """Return whether a question may be answered on other ways than by the channel, which does not see that."""
    return parts.ledger.is_durable and not getattr(parts.channel, "is_stored", False)


async def _await_answer(pending: Pending, parts: Parts, *, is_on_loop: bool) -> object:
    """Return the answer of the channel, or one from elsewhere that comes first."""
    from permitry.guard import first_answer  # noqa: PLC0415 -- asyncio, which a hook does not need

    if not _has_others(parts):
        return await first_answer.await_channel(parts.channel, pending.request)
    return await first_answer.first_answer(
        parts.channel,
        parts.ledger,
        pending.request,
        is_on_loop=is_on_loop,
    )


async def _interrupt(pending: Pending, parts: Parts, error: BaseException, *, is_on_loop: bool) -> None:
    """Keep that there was Ctrl-C, or that the task was cancelled; the question stays open."""
    name = type(error).__name__
    if isinstance(error, GeneratorExit):
        # A coroutine that is being closed may not wait for anything.
        is_on_loop = False
    await do_work(parts, lambda: interrupt(pending, parts, name), is_on_loop=is_on_loop)


def take_answer(pending: Pending, parts: Parts, response: object) -> Ready | Blocked:
    """Return what follows from whatever was answered to a question, which is closed by it."""
    if response is None:
        return _give_up(pending, parts, None)
    if not isinstance(response, ToolConfirmationResponse):
        given = safe_str(response, repr)
        return _give_up(pending, parts, f"the channel answered {given}, not a ToolConfirmationResponse")
    try:
        return settle_answer(pending.pending_id, response, parts)
    except LedgerError as error:
        return _give_up(pending, parts, str(error))


def _give_up(pending: Pending, parts: Parts, error: str | None) -> Ready | Blocked:
    closed = withdraw(pending.pending_id, parts, error)
    if closed is None:
        # Another answer was taken already; it counts, and this one does not.
        return give_no_answer(pending, parts)
    return closed


def abandon(outcome: Decided, parts: Parts) -> None:
    """End a call that was decided while its caller was cancelled: nothing ran, and a question stays open."""
    match outcome:
        case Ready():
            with contextlib.suppress(ReplayError):
                parts.tools.redeem(outcome.authorized).record.abandon(outcome.call)
        case Pending():
            interrupt(outcome, parts, "CancelledError")
