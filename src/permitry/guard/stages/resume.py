"""What is known of a call from before: that its id was used, or that it was asked about by an earlier process."""

import attrs

from permitry.core.result import ToolResult
from permitry.errors import LedgerError
from permitry.guard.case import Case, Parts, Step, asker_of
from permitry.guard.journal import not_recorded, record_decision, refuse
from permitry.guard.ledger import EarlierQuestion
from permitry.guard.open_questions import close, decline, give_no_answer, look_again
from permitry.guard.outcome import Blocked, Cause, Pending
from permitry.guard.refusal import already_handled, block_unasked, block_used_id

__all__ = ["resume"]


def resume(case: Case, parts: Parts) -> Step:
    """End with what became of the call before; where that cannot be known, it is blocked."""
    if case.before is not None:
        return case
    if parts.handled.is_used(asker_of(parts), case.call, is_given=case.is_given):
        return refuse(case, parts, block_used_id(case.call, parts.policy.version), Cause.HANDLED)
    if not (case.is_given and parts.ledger.is_durable):
        return case
    try:
        earlier = parts.ledger.earlier(case.call, case.spec, asker_of(parts))
        return case if earlier is None else _take_up(case, parts, earlier)
    except LedgerError as error:
        return refuse(case, parts, block_unasked(str(error), parts.policy.version), Cause.QUESTIONS)


def _take_up(case: Case, parts: Parts, earlier: EarlierQuestion) -> Step:
    """Return what became of a question that an earlier process asked, or go on where a grant may answer it."""
    call, question, response = case.call, earlier.pending, earlier.response
    decision = question.decision
    if not earlier.is_recorded and not record_decision(case._replace(decision=decision), parts):
        return not_recorded(question)
    if earlier.is_open:
        request = attrs.evolve(parts.factory.create(call, decision, case.spec), pending_id=question.pending_id)
        known = look_again(Pending(question.pending_id, call, decision, request), parts)
        if isinstance(known, Pending) and earlier.takes_grants:
            return case._replace(open=known)
        return known
    if response is None:
        if earlier.dropped is not None:
            close(question, parts, earlier.dropped, by=question.answered_by)
        return give_no_answer(question, parts)
    if response.is_approval:
        # INVARIANT: law 5. It may have run.
        return Blocked(call, decision, ToolResult(False, already_handled(call)), Cause.HANDLED)
    return decline(question, response, parts)
