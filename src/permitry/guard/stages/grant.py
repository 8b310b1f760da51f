"""What a human has granted before answers the question of now."""

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.decision import Verdict
from permitry.errors import LedgerError
from permitry.guard.case import Case, Parts, Step, inputs_of
from permitry.guard.journal import not_recorded, record
from permitry.guard.open_questions import claim, look_again
from permitry.guard.outcome import Pending

__all__ = ["use_grant"]

_YES = ToolConfirmationResponse(True)


def use_grant(case: Case, parts: Parts) -> Step:
    """Take a use of a grant for a call that would be asked about, or is already; none lifts a block."""
    granted = case
    if parts.grants is not None and case.decision.verdict is Verdict.CONFIRM:
        decision, grant = parts.grants.take(inputs_of(case, parts), parts.session, case.decision)
        granted = case._replace(decision=decision, grant=grant)
    if case.open is None:
        return granted
    return _answer(case.open, granted, parts, is_granted=granted is not case)


def _answer(question: Pending, case: Case, parts: Parts, *, is_granted: bool) -> Step:
    """Close a question with the grant that answers it, if there is one."""
    # INVARIANT: law 6. Rules that permit the call by now answer no question.
    if not is_granted or (case.grant is None and case.decision.verdict is not Verdict.ALLOW):
        return question
    try:
        claim(question.pending_id, parts, _YES)
    except LedgerError:
        # A human was first, or another process.
        return look_again(question, parts)
    grant = case.grant or str(case.decision.rule_id).removeprefix("grant-")
    if record(parts, "answered", case.call, {"pending_id": question.pending_id, "approved": True, "grant": grant}):
        return case
    return not_recorded(case)
