"""What goes on record about a call, and the blocks that no rule makes."""

import logging
from collections.abc import Mapping

from permitry.audit.recorder import decision_fields
from permitry.core.call import ToolCall
from permitry.core.decision import Decision
from permitry.core.result import ToolResult
from permitry.errors import safe_str
from permitry.guard.case import Case, Parts
from permitry.guard.ledger import PendingConfirmation, digest_of
from permitry.guard.outcome import Blocked, Cause

__all__ = ["block", "not_recorded", "record", "record_decision", "refuse"]

_LOG = logging.getLogger("permitry.questions")
_NOT_RECORDED = "The call could not be recorded, so it did not run. Tell the user; do not retry."
_WORDED_BY_TOOL = (Cause.MISFIT, Cause.UNAVAILABLE)


def record(parts: Parts, event: str, call: ToolCall, details: Mapping[str, object], case: Case | None = None) -> bool:
    """Record the event; return whether that worked: else the call must not run.

    With the `case` of a decision, the start as well if it is started, and the rules first where the recorder keeps any.
    """
    recorder = parts.recorder
    try:
        if case is not None and hasattr(recorder, "keep_policy"):
            version = case.decision.policy_version
            recorder.keep_policy(version, parts.policy, case.context)
        if case is not None and case.is_started and hasattr(recorder, "together"):
            with recorder.together():
                recorder.record(event, call, **details)
                recorder.record("started", call)
        else:
            recorder.record(event, call, **details)
    except Exception as error:  # noqa: BLE001 -- a sink may fail in any way, and each way means: not recorded
        _LOG.warning("`%s` of a call of `%s` could not be recorded: %s", event, call.tool, safe_str(error))
        return False
    return True


def record_decision(case: Case, parts: Parts, *, is_edited: bool = False) -> bool:
    """Record a decision that is not the first one about the call, or that no rule made; return whether that worked."""
    details = decision_fields(case.decision)
    details["arguments"] = case.call.to_dict()
    details["edited"] = is_edited
    details["tool_digest"] = digest_of(case.spec)
    return record(parts, "decided", case.call, details, case._replace(is_started=False))


def refuse(case: Case, parts: Parts, decision: Decision, cause: Cause) -> Blocked:
    """Block a call that no rule blocks, and record that."""
    case = case._replace(decision=decision, cause=cause)
    return block(case, parts) if record_decision(case, parts) else not_recorded(case)


def block(case: Case, parts: Parts) -> Blocked:
    """Return a block, with the text for the model."""
    call, decision = case.call, case.decision
    if case.cause in _WORDED_BY_TOOL:
        text = decision.message or ""
    else:
        text = parts.notifier.blocked(call.shown or call.tool, decision)
    return Blocked(call, decision, ToolResult(False, text), case.cause)


def not_recorded(asked: Case | PendingConfirmation) -> Blocked:
    """Return the block of a call that could not be recorded."""
    return Blocked(asked.call, asked.decision, ToolResult(False, _NOT_RECORDED), Cause.NOT_RECORDED)
