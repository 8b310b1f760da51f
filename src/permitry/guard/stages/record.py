"""The decision is durable before anything runs."""

from permitry.audit.recorder import decision_fields, waits_for_disk
from permitry.core.decision import Verdict
from permitry.guard.case import Case, Parts, Step
from permitry.guard.journal import not_recorded, record, record_decision
from permitry.guard.ledger import digest_of

__all__ = ["record_answer", "record_call"]

# Looked up once: that takes longer than to compare it.
_ALLOW = Verdict.ALLOW


def record_call(case: Case, parts: Parts) -> Step:
    """Record the decision, with the start of a call that runs at once; what is not recorded does not run."""
    call, decision = case.call, case.decision
    details = decision_fields(decision)
    details["arguments"] = call.to_dict()
    details["mode"] = case.context.mode
    details["tool_digest"] = digest_of(case.spec)
    details["agent"] = case.context.agent
    if parts.policy.observed is not None and (would := parts.policy.would(call, case.context, case.spec)) is not None:
        details["would"] = {"verdict": would.verdict.value, "rule": would.rule_id}
    # What is kept first is recorded in between.
    is_at_once = case.runs and decision.verdict is _ALLOW and not decision.keeps
    if is_at_once and waits_for_disk(parts.recorder):
        case = case._replace(is_started=True)
    return case if record(parts, "decided", call, details, case) else not_recorded(case)


def record_answer(case: Case, parts: Parts) -> Step:
    """Record the decision about a call that was approved, where it is another one than was asked about."""
    if case.answer is not None and not case.is_edited and case.decision is case.answer.question.decision:
        return case
    if record_decision(case, parts, is_edited=case.is_edited):
        return case
    return not_recorded(case)
