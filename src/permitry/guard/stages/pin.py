"""A call that was asked about once stays asked about."""

from permitry.core.decision import Verdict
from permitry.guard.case import Case
from permitry.guard.parts import Parts
from permitry.guard.refusal import ask_as_before

__all__ = ["pin"]


def pin(case: Case, _: Parts) -> Case:
    """Return the case with no decision less strict than the one before it."""
    # INVARIANT: law 6. A rule that changed while someone asked a human makes no run of a "no".
    if case.decision.verdict is not Verdict.ALLOW:
        return case
    if case.is_asked or case.before is None:
        return case._replace(decision=ask_as_before(case.decision))
    return case._replace(decision=case.before.decision)
