"""What a human has granted before answers the question of now."""

from permitry.core.decision import Verdict
from permitry.guard.case import Case
from permitry.guard.parts import Parts

__all__ = ["use_grant"]


def use_grant(case: Case, parts: Parts) -> Case:
    """Take a use of a grant for a call that would be asked about; none lifts a block."""
    if parts.grants is None or case.decision.verdict is not Verdict.CONFIRM:
        return case
    decision, grant = parts.grants.take(parts.policy, case.call, parts.session, case.spec, case.decision)
    return case._replace(decision=decision, grant=grant)
