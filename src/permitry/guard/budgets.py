"""Shared budgets are charged when a call may run: within what its decision relied on, or beyond what a human saw."""

import logging
from collections.abc import Callable

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.shared import Limit
from permitry.core.spec import ToolSpec
from permitry.errors import StoreError
from permitry.guard.refusal import block_uncounted
from permitry.guard.session import Session
from permitry.undo.first import Asked

__all__ = ["charge", "charge_anyway", "charge_approved"]

_LOG = logging.getLogger("permitry.limits")
_TRIES = 3


def charge(
    session: Session, asked: Asked, decision: Decision, runs: Callable[[Decision], bool]
) -> tuple[Asked, Decision]:
    """Count a call that may run by its decision; return what is decided when it is counted, and in which context.

    Where a budget that was not spent before is spent now, or cannot be counted, the rules decide again, and nothing
    makes the decision less strict. `runs` says whether a call may run by a decision.
    """
    if not any(asked.policy.within(each).shares_budgets for each in asked.context.lineage()):
        return asked, decision
    why = "others use it up each time that it is free"
    for _ in range(_TRIES):
        if not runs(decision):
            return asked, decision
        limits, relied = _limits(asked)
        try:
            if session.shared is None or not limits or session.shared.charge(limits, relied):
                return asked, decision
        except StoreError as error:
            why = str(error)
            _LOG.warning("a shared budget cannot be counted: %s", why)
            if not relied:
                break
        asked = attrs.evolve(asked, context=AuthContext.from_state(session))
        now = asked.policy.decide(asked.call, asked.context, asked.spec)
        decision = max(decision, now, key=_strictness)
    return asked, block_uncounted(decision, why) if runs(decision) else decision


def charge_approved(session: Session, asked: Asked, decision: Decision) -> Decision:
    """Count a call that a human approved, or may approve elsewhere, and return the decision, or the block of the call.

    It counts also beyond a budget that is spent, unless the rule of this budget blocks. The call was decided in the
    context of `asked`.
    """
    # INVARIANT: law 1. Of calls that are approved at the same time, none goes beyond a budget that blocks.
    return charge(session, asked, decision, lambda now: now.verdict is not Verdict.BLOCK)[1]


def charge_anyway(
    session: Session, policy: AuthorizationPolicy, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None
) -> None:
    """Count a call that may run, also beyond budgets that are spent.

    Raises: `StoreError` where it cannot be counted; then it must not run.
    """
    limits = policy.side_effects(call, context, spec).shared
    if session.shared is not None and limits:
        session.shared.charge(limits)


def _limits(asked: Asked) -> tuple[frozenset[Limit], frozenset[Limit]]:
    """Return the shared budgets for which a call counts, and those of them on which its decision relied."""
    limits = asked.policy.side_effects(asked.call, asked.context, asked.spec).shared
    counts = [each.shared for each in asked.context.lineage() if each.shared is not None]
    return limits, frozenset(limit for limit in limits if any(each.relies_on(limit) for each in counts))


def _strictness(decision: Decision) -> tuple[int, bool]:
    """Return how strict a decision is; what a rule asks about is not left to the host."""
    return decision.verdict.strictness, decision.phase is not Phase.DEFAULT
