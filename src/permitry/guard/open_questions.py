"""Questions while they are open: opened, looked at again, closed without an approval."""

import contextlib
import logging
from typing import TypeAlias

import attrs

from permitry.channels.request import ToolConfirmationRequest, effect_lines
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Phase
from permitry.core.result import ToolResult
from permitry.errors import FullLedgerError, LedgerError
from permitry.guard.case import Case, Parts, asker_of
from permitry.guard.journal import not_recorded, record
from permitry.guard.ledger import PendingConfirmation
from permitry.guard.outcome import Blocked, Cause, Decided, Pending, Ready
from permitry.guard.value_lines import value_lines

__all__ = [
    "claim", "close", "decline", "give_no_answer", "interrupt", "is_open", "keep", "look_again", "open_question",
]  # fmt: skip

_LOG = logging.getLogger("permitry.questions")
_Question: TypeAlias = PendingConfirmation | Pending


def open_question(case: Case, parts: Parts) -> Pending | Blocked:
    """Open a question about a call, or raise what the ledger does."""
    call, decision, policy = case.call, case.decision, parts.policy
    request = parts.factory.create(call, decision, case.spec)
    asked = policy.request(call, case.context, case.spec)
    request = attrs.evolve(
        request,
        reason="; ".join((request.reason, *value_lines(asked))),
        origins=policy.origins(call, case.context, case.spec),
        effects=lambda: effect_lines(asked.actions),
        folder=request.folder or parts.session.workspace,
        turn=parts.session.turn,
        others=_others(case, parts),
    )
    question = _open(case, parts, request)
    request = attrs.evolve(request, pending_id=question.pending_id)
    if not record(parts, "asked", call, {"pending_id": question.pending_id}):
        with contextlib.suppress(LedgerError):
            parts.ledger.claim(question.pending_id)
        return not_recorded(case)
    return Pending(question.pending_id, call, decision, request)


def _others(case: Case, parts: Parts) -> tuple[Decision, ...]:
    """Return what further rules decide that ask about a call."""
    if case.decision.phase is not Phase.RESTRICTION:
        return ()
    found = parts.policy.restrictions_on(case.call, case.context, case.spec)
    return tuple(each for each in found if each.rule_id != case.decision.rule_id)


def _open(case: Case, parts: Parts, request: ToolConfirmationRequest) -> PendingConfirmation:
    """Open a question; if the ledger is full, questions past their deadline are closed first."""
    asker = asker_of(parts)
    try:
        return parts.ledger.open(request.call, case.decision, case.spec, asker, request)
    except FullLedgerError:
        late = parts.ledger.expire()
        for question in late:
            # Others see for themselves that theirs are gone: see `look_again`.
            if question.asker == asker:
                close(question, parts, "no answer in time")
        if not late:
            raise
        return parts.ledger.open(request.call, case.decision, case.spec, asker, request)


def is_open(pending: Pending, parts: Parts) -> bool:
    """Return whether the question is open, and the request shows the very call it is about."""
    question = parts.ledger.find(pending.pending_id)
    if question is None or question.asker != asker_of(parts):
        return False
    return question.call == pending.call == pending.request.call


def look_again(pending: Pending, parts: Parts) -> Pending | Ready | Blocked:
    """Return what has become of a question meanwhile: it may have been answered elsewhere, or be gone."""
    try:
        response = parts.ledger.answer(pending.pending_id)
    except LedgerError as error:
        # It stays open: an answer may be found later.
        return give_no_answer(pending, parts, str(error))
    if response is not None:
        return parts.take_answer(pending, response)
    if parts.ledger.find(pending.pending_id) is None:
        return close(pending, parts, "the question is not open any more")
    return pending


def claim(pending_id: str, parts: Parts, response: ToolConfirmationResponse | None = None) -> PendingConfirmation:
    """Claim a question of this session and agent, as the ledger does: the guards of others may share it."""
    question = parts.ledger.find(pending_id)
    if question is not None and question.asker != asker_of(parts):
        raise LedgerError(f"the question `{pending_id}` was asked somewhere else")
    return parts.ledger.claim(pending_id, response)


def close(question: _Question, parts: Parts, error: str | None, *, by: str | None = None) -> Blocked:
    """Settle a question that is not open any more, without an approval; an answer `by` someone does not count."""
    call, blocked = question.call, give_no_answer(question, parts, error or "")
    if error:
        _LOG.warning("no answer about a call of `%s`, so it is blocked: %s", call.tool, error)
    keep(blocked, parts)
    details: dict[str, object] = {"pending_id": question.pending_id, "approved": False, "error": error}
    if by is not None:
        details["by"] = by
    record(parts, "answered", call, details)
    return blocked


def interrupt(pending: Pending, parts: Parts, error: str) -> None:
    """Record that the wait for an answer has ended while the question is still open."""
    if parts.ledger.find(pending.pending_id) is not None:
        record(parts, "interrupted", pending.call, {"pending_id": pending.pending_id, "error": error})


def keep(outcome: Decided, parts: Parts, *others: ToolCall) -> None:
    """Keep what became of a call, and of others with it."""
    for call in (*others, outcome.call):
        parts.handled.keep(asker_of(parts), call, outcome, is_open=isinstance(outcome, Pending))


def give_no_answer(question: _Question, parts: Parts, note: str = "") -> Blocked:
    """Return the block of a call about which no one has answered."""
    call = question.call
    result = ToolResult(False, parts.notifier.unanswered(call.shown or call.tool), note=note)
    return Blocked(call, question.decision, result, Cause.UNANSWERED)


def decline(question: _Question, response: ToolConfirmationResponse, parts: Parts) -> Blocked:
    """Return the block of a call that a human has rejected, or answered in place of its tool."""
    call, decision = question.call, question.decision
    if response.result is not None:
        return Blocked(call, decision, ToolResult(True, response.result), Cause.RESPONDED)
    text = parts.notifier.rejected(call.shown or call.tool, response)
    return Blocked(call, decision, ToolResult(False, text, ends_session=response.abort), Cause.DECLINED)
