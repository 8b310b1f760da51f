"""The way of a question to a human and back, written once for a thread and for an event loop."""

import contextlib

from permitry.channels.response import ToolConfirmationResponse
from permitry.errors import LedgerError, ReplayError, safe_str
from permitry.guard.case import Parts
from permitry.guard.effects import Disk, Reply, Steps
from permitry.guard.line import settle_answer, withdraw
from permitry.guard.open_questions import give_no_answer, interrupt, is_open
from permitry.guard.outcome import Blocked, Decided, Pending, Ready

__all__ = ["abandon", "ask", "take_answer"]


def ask(pending: Pending, parts: Parts) -> Steps[Ready | Blocked]:
    """Ask on the channel and settle the answer; if the channel fails, the call is blocked."""
    if not (yield Disk(parts, lambda: is_open(pending, parts))):
        return give_no_answer(pending, parts)
    try:
        response: object = yield Reply(parts.channel, parts.ledger, pending.request)
    except Exception as error:  # noqa: BLE001 -- whatever a channel does, the call must not run for it
        why = f"{type(error).__name__}: {safe_str(error)}"
        given_up: Ready | Blocked = yield Disk(parts, lambda: _give_up(pending, parts, why))
        return given_up
    except BaseException as error:
        # Ctrl-C, or a cancelled task: that is on record, and the question stays open.
        name = type(error).__name__
        yield Disk(parts, lambda: interrupt(pending, parts, name))
        raise
    settled: Ready | Blocked = yield Disk(parts, lambda: take_answer(pending, parts, response))
    return settled


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
