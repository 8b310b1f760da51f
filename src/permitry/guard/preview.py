"""What would become of a call now: nothing is recorded, asked, counted or used up by it."""

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.explanation import Explanation
from permitry.guard.case import Parts
from permitry.guard.value_lines import value_lines
from permitry.undo.first import NOTHING_KEEPS, Asked, decide_unkept

__all__ = ["explain", "preview", "values_in"]


def preview(call: ToolCall, parts: Parts) -> Decision:
    """Return what rules and grants say; a grant that keeps first what is changed is none yet."""
    asked = _ask(call, parts)
    decision = _decide(asked, parts)
    if parts.grants is None or decision.verdict is not Verdict.CONFIRM:
        return decision
    granted = parts.grants.decide(asked, parts.session, decision)
    return decision if granted.keeps else granted


def explain(call: ToolCall, parts: Parts) -> Explanation:
    """Return the decision of `preview`, with the part that every rule and grant has in it."""
    asked, policy = _ask(call, parts), parts.policy
    if parts.grants is not None and _decide(asked, parts).verdict is Verdict.CONFIRM:
        policy = parts.grants.policy(policy, parts.session)
    full = policy.explain(asked.call, asked.context, asked.spec)
    return attrs.evolve(full, decision=preview(call, parts))


def values_in(call: ToolCall, parts: Parts) -> tuple[str, ...]:
    """Return what expansions in a command become, in phrases for a human."""
    asked = _ask(call, parts)
    return value_lines(parts.policy.request(asked.call, asked.context, asked.spec))


def _ask(call: ToolCall, parts: Parts) -> Asked:
    call = parts.tools.name(call)
    return Asked(parts.policy, call, AuthContext.from_state(parts.session), parts.tools.declare(call, None))


def _decide(asked: Asked, parts: Parts) -> Decision:
    """Return what the rules say here: permissions with `keep` say nothing where nothing keeps."""
    decision = asked.policy.decide(asked.call, asked.context, asked.spec)
    if parts.undo is not None or not decision.keeps:
        return decision
    return decide_unkept(asked, decision, NOTHING_KEEPS)
