"""A call that was asked about, or left to the host, stays so."""

from permitry.core.decision import Verdict
from permitry.guard.case import Case, Parts
from permitry.guard.refusal import ask_as_before

__all__ = ["pin"]


def pin(case: Case, _: Parts) -> Case:
    """Return the case, with the earlier question in place of an ALLOW."""
    # INVARIANT: law 6. A rule that changes while a human is asked makes no run of a "no".
    if case.decision.verdict is not Verdict.ALLOW:
        return case
    if case.is_asked or case.before is None:
        return case._replace(decision=ask_as_before(case.decision))
    return case._replace(decision=case.before.decision)
