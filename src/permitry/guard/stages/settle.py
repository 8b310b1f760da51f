"""The end of the way: the call may run, waits for a human, is left to its host, or is blocked."""

from typing import Final, assert_never

from permitry.audit.recorder import RunRecord
from permitry.core.decision import Verdict
from permitry.errors import FullLedgerError, LedgerError, UnknownToolError
from permitry.guard.case import Case, Parts, may_run
from permitry.guard.journal import block, not_recorded, record, refuse
from permitry.guard.open_questions import open_question
from permitry.guard.outcome import Blocked, Cause, Decided, Pending, Ready, Silence
from permitry.guard.refusal import block_changed_tool, block_too_many_questions, block_unasked
from permitry.guard.stages.budget import charge_approved
from permitry.undo.first import Snapshot

__all__ = ["settle"]

# Looked up once: that takes longer than to compare them.
_ALLOW: Final = Verdict.ALLOW
_CONFIRM: Final = Verdict.CONFIRM
_BLOCK: Final = Verdict.BLOCK


def settle(case: Case, parts: Parts) -> Decided:
    """Return what becomes of a call whose decision is on record."""
    verdict = case.decision.verdict
    if verdict is _BLOCK:
        return block(case, parts)
    if verdict is _CONFIRM:
        return _ask(case, parts) if case.answer is None else _authorize(case, parts)
    if verdict is _ALLOW:
        return _authorize(case, parts)
    assert_never(verdict)


def _ask(case: Case, parts: Parts) -> Decided:
    """Open a question about a call, unless a grant is its answer, or its host asks."""
    if case.grant is not None:
        # The answer to a question that was open is on record already.
        answer = {"approved": True, "grant": case.grant}
        if case.open is None and not record(parts, "answered", case.call, answer):
            return not_recorded(case)
        return _authorize(case, parts)
    if may_run(case.decision, case, parts):
        # The host may let it run, so it counts as one that may.
        _apply_side_effects(case, parts)
        return Silence(case.call, case.decision)
    try:
        outcome = open_question(case, parts)
    except FullLedgerError as error:
        return refuse(case, parts, block_too_many_questions(case.decision, str(error)), Cause.QUESTIONS)
    except LedgerError as error:
        return refuse(case, parts, block_unasked(str(error), case.decision.policy_version), Cause.QUESTIONS)
    is_shown_by_host = parts.asked_by == "host" and isinstance(outcome, Pending)
    return _count_asked(case, parts, outcome) if is_shown_by_host else outcome


def _count_asked(case: Case, parts: Parts, outcome: Decided) -> Decided:
    """Count a call whose host asks about it, and may let it run; return its outcome, or a block by a spent budget."""
    now = charge_approved(case, parts)
    if now.verdict is _BLOCK:
        return refuse(case, parts, now, Cause.POLICY)
    _apply_side_effects(case, parts)
    return outcome


def _apply_side_effects(case: Case, parts: Parts) -> None:
    parts.session.apply(case.call, parts.policy.side_effects(case.call, case.context, case.spec))


def _authorize(case: Case, parts: Parts) -> Ready | Blocked:
    """Create the one permission to run a call; its side effects apply now, so that each call counts for the next."""
    if case.kept is not None and not record(parts, "kept", case.call, {"entry": case.kept.entry}):
        return not_recorded(case)
    # All others were counted before, by the stage `charge`.
    is_approved = case.is_approved
    if is_approved and (now := charge_approved(case, parts)).verdict is _BLOCK:
        return refuse(case, parts, now, Cause.POLICY)
    try:
        authorized = parts.tools.authorize(case.call, case.spec, case.context, _record_run(case, parts), parts.session)
    except UnknownToolError:
        return _refuse_replaced(case, parts)
    _apply_side_effects(case, parts)
    if case.is_remembered:
        parts.session.ignore(case.call.tool)
    approved_by = None if case.answer is None else case.answer.question.answered_by
    return Ready(case.call, case.decision, authorized, is_approved, approved_by)


def _record_run(case: Case, parts: Parts) -> RunRecord:
    """Return what records the run, of which the start may be on record already."""
    if case.kept is None or parts.undo is None:
        return RunRecord(parts.recorder, parts.session.returned, is_started=case.is_started)
    # A call with something kept has no start on record yet: see `record_call`.
    snapshot = Snapshot(case.kept, parts.undo, parts.recorder)
    return RunRecord(parts.recorder, parts.session.returned, snapshot.renew, snapshot.end)


def _refuse_replaced(case: Case, parts: Parts) -> Blocked:
    """Block a call whose tool was replaced between the decision and the authorization."""
    if case.is_started:
        ended = {"ok": False, "outcome": "refused", "seconds": 0.0, "error": None}
        record(parts, "finished", case.call, ended)
    spec = parts.tools.declare(case.call, case.spec)
    return refuse(case._replace(spec=spec), parts, block_changed_tool(case.call, case.decision), Cause.POLICY)
