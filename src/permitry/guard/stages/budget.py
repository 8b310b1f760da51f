"""A call that may run counts for the budgets that its session shares with others."""

from permitry.guard import budgets
from permitry.guard.case import Case
from permitry.guard.parts import Parts, inputs_of, may_run

__all__ = ["charge"]


def charge(case: Case, parts: Parts) -> Case:
    """Count the call; where a budget is spent by now, or cannot be counted, the decision only gets stricter."""
    if parts.session.shared is None:
        return case
    asked = inputs_of(case, parts)
    asked, decision = budgets.charge(parts.session, asked, case.decision, lambda now: may_run(now, case, parts))
    return case._replace(context=asked.context, decision=decision)
