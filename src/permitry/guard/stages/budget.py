"""A call counts for the budgets that its session shares: within what its decision relied on, or what a human saw."""

import logging
from collections.abc import Callable

import attrs

from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.shared import Limit, SharedLimits
from permitry.errors import StoreError
from permitry.guard.case import Case, Parts, inputs_of, may_run
from permitry.guard.refusal import block_uncounted
from permitry.undo.first import Asked

__all__ = ["charge", "charge_approved"]

_LOG = logging.getLogger("permitry.limits")
_TRIES = 3


def charge(case: Case, parts: Parts) -> Case:
    """Count the call; where a budget is spent by now, or cannot be counted, the decision only gets stricter."""
    if parts.session.shared is None:
        return case
    context, decision = _count(case, parts, parts.session.shared, lambda now: may_run(now, case, parts))
    return case._replace(context=context, decision=decision)


def charge_approved(case: Case, parts: Parts) -> Decision:
    """Count a call that a human approved, or may approve elsewhere, and return the decision, or the block of the call.

    It counts also beyond a budget that is spent, unless the rule of this budget blocks.
    """
    shared = parts.session.shared
    if shared is None:
        return case.decision
    # INVARIANT: law 1. Of calls that are approved at the same time, none goes beyond a budget that blocks.
    return _count(case, parts, shared, lambda now: now.verdict is not Verdict.BLOCK)[1]


def _count(
    case: Case, parts: Parts, shared: SharedLimits, runs: Callable[[Decision], bool]
) -> tuple[AuthContext, Decision]:
    """Count a call that may run by its decision; return what is decided when it is counted, and in which context.

    Where a budget that was not spent before is spent now, or cannot be counted, the rules decide again, and nothing
    makes the decision less strict. `runs` says whether a call may run by a decision.
    """
    asked, decision = inputs_of(case, parts), case.decision
    if not any(asked.policy.within(each).shares_budgets for each in asked.context.lineage()):
        return asked.context, decision
    why = "others use it up each time that it is free"
    for _ in range(_TRIES):
        if not runs(decision):
            return asked.context, decision
        limits, relied = _limits(asked)
        try:
            if not limits or shared.charge(limits, relied):
                return asked.context, decision
        except StoreError as error:
            why = str(error)
            _LOG.warning("a shared budget cannot be counted: %s", why)
            if not relied:
                break
        asked = attrs.evolve(asked, context=AuthContext.from_state(parts.session))
        now = asked.policy.decide(asked.call, asked.context, asked.spec)
        decision = max(decision, now, key=_strictness)
    return asked.context, block_uncounted(decision, why) if runs(decision) else decision


def _limits(asked: Asked) -> tuple[frozenset[Limit], frozenset[Limit]]:
    """Return the shared budgets for which a call counts, and those of them on which its decision relied."""
    limits = asked.policy.side_effects(asked.call, asked.context, asked.spec).shared
    counts = [each.shared for each in asked.context.lineage() if each.shared is not None]
    return limits, frozenset(limit for limit in limits if any(each.relies_on(limit) for each in counts))


def _strictness(decision: Decision) -> tuple[int, bool]:
    """Return how strict a decision is; what a rule asks about is not left to the host."""
    return decision.verdict.strictness, decision.phase is not Phase.DEFAULT
