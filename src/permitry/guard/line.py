"""The three lines of stages, and what is done before and after them."""

import logging

from permitry.channels.response import ToolConfirmationResponse
from permitry.errors import LateAnswerError, LedgerError
from permitry.guard.case import Answer, Case, Parts, Stage, asker_of
from permitry.guard.journal import not_recorded, record
from permitry.guard.ledger import PendingConfirmation
from permitry.guard.open_questions import claim, close, decline, give_no_answer, keep
from permitry.guard.outcome import Blocked, Decided, Pending, Ready
from permitry.guard.stages.bind import bind, edit
from permitry.guard.stages.budget import charge
from permitry.guard.stages.decide import decide
from permitry.guard.stages.grant import use_grant
from permitry.guard.stages.known import recall
from permitry.guard.stages.pin import pin
from permitry.guard.stages.record import record_answer, record_call
from permitry.guard.stages.resolve import resolve
from permitry.guard.stages.resume import resume
from permitry.guard.stages.settle import settle
from permitry.guard.stages.snapshot import take_snapshot

__all__ = ["AGAIN", "ANSWER", "CALL", "decide_call", "settle_answer", "withdraw"]

CALL: tuple[Stage, ...] = (
    resolve,
    resume,
    decide,
    use_grant,
    charge,
    take_snapshot,
    record_call,
    settle,
)
"""For a call of which `recall` found nothing."""

# INVARIANT: law 6. No grant takes the place of a question that is open somewhere.
AGAIN: tuple[Stage, ...] = (
    resolve,
    resume,
    decide,
    pin,
    charge,
    take_snapshot,
    record_call,
    settle,
)
"""For a call that was asked about, or left to the host, before."""

ANSWER: tuple[Stage, ...] = (edit, resolve, decide, bind, record_answer, settle)
"""For an answer that approves, once it is recorded."""

_LOG = logging.getLogger("permitry.questions")


def decide_call(case: Case, parts: Parts) -> Decided:
    """Return the kept outcome of this call, or run its stages, not twice at a time, and keep theirs."""
    # The lock is that of the whole family of agents: no two calls are decided on the same budget.
    with parts.session.lock:
        known = recall(case, parts)
        if type(known) is not Case:
            return known
        asker, call = asker_of(parts), case.call
        parts.handled.enter(asker, call)
        try:
            is_new = known.before is None and not known.is_asked
            outcome = _run_stages(known, parts, CALL if is_new else AGAIN)
        finally:
            parts.handled.leave(asker, call)
        parts.handled.keep(asker, call, outcome, is_open=type(outcome) is Pending)
        return outcome


def settle_answer(pending_id: str, response: ToolConfirmationResponse, parts: Parts) -> Ready | Blocked:
    """Claim a question with its answer, once, and return what follows: see `Guard.resolve`."""
    with parts.session.lock:
        try:
            question = claim(pending_id, parts, response)
        except LateAnswerError as error:
            close(error.pending, parts, "the answer came too late", by=error.pending.answered_by)
            raise
        return _conclude(Answer(question, response), parts)


def withdraw(pending_id: str, parts: Parts, error: str | None) -> Ready | Blocked | None:
    """Close a question without an answer, or by one from elsewhere; None for one that is closed already."""
    with parts.session.lock:
        try:
            question: PendingConfirmation = claim(pending_id, parts)
        except LateAnswerError as late:
            question = late.pending
        except LedgerError:
            return None
        if question.response is None:
            return close(question, parts, error, by=question.answered_by)
        if error:
            _LOG.warning("an answer from elsewhere counts, as it came first: %s", error)
        return _conclude(Answer(question, question.response), parts)


def _conclude(answer: Answer, parts: Parts) -> Ready | Blocked:
    """Record the answer to a question that has been claimed, and return what follows from it."""
    question, response = answer.question, answer.response
    call = question.call
    # If an interrupt comes before the outcome is known, the question counts as unanswered: the call is blocked.
    keep(give_no_answer(question, parts), parts)
    outcome: Decided
    if not record(parts, "answered", call, _answer_fields(answer)):
        outcome = not_recorded(question)
    elif response.is_approval:
        outcome = _run_stages(Case(call, spec=question.spec, answer=answer), parts, ANSWER)
    else:
        outcome = decline(question, response, parts)
    if isinstance(outcome, Ready | Blocked):
        # An edited call is another call; both have this outcome.
        keep(outcome, parts, call)
        return outcome
    raise AssertionError("an answer opens no question")


def _run_stages(case: Case, parts: Parts, stages: tuple[Stage, ...]) -> Decided:
    for stage in stages:
        step = stage(case, parts)
        if type(step) is not Case:
            return step
        case = step
    raise AssertionError("the last stage ends the way")


def _answer_fields(answer: Answer) -> dict[str, object]:
    question, response = answer.question, answer.response
    details: dict[str, object] = {
        "pending_id": question.pending_id,
        "approved": response.is_approval,
        "by": question.answered_by,
        "skip_future": response.skip_future,
        "abort": response.abort,
        "instructions": response.instructions,
        "edited": response.arguments is not None,
    }
    if response.result is not None:
        details |= {"responded": True, "result": response.result}
    return details
