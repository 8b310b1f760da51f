"""What a call changes is kept first, where only that permits it."""

from permitry.core.decision import Verdict
from permitry.guard.case import Case, Parts, inputs_of
from permitry.undo.first import keep_first

__all__ = ["take_snapshot"]


def take_snapshot(case: Case, parts: Parts) -> Case:
    """Keep what the call changes; where that fails in any way, its permission does not count."""
    if not case.decision.keeps or case.decision.verdict is not Verdict.ALLOW:
        return case
    asked = inputs_of(case, parts)
    session = str(getattr(parts.recorder, "session", parts.session.id))
    decision, kept = keep_first(asked, case.decision, parts.undo, session)
    return case._replace(decision=decision, kept=kept)
