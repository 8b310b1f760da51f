"""The same call id with the same call has the same outcome, without a second decision."""

from permitry.errors import ReplayError
from permitry.guard.case import Case, Parts, Step, asker_of
from permitry.guard.open_questions import look_again
from permitry.guard.outcome import Decided, Pending, Ready, Silence

__all__ = ["recall"]


def recall(case: Case, parts: Parts) -> Step:
    """End with what became of the call; a call that was left to the host goes on, as it may run each time.

    So does one of which the host learns that it was asked about, if its permit was not used yet.
    """
    before = parts.handled.find(asker_of(parts), case.call)
    if before is None:
        return case
    if isinstance(before, Pending):
        before = look_again(before, parts)
    if isinstance(before, Silence) or (case.is_asked and _withdraw(before, parts)):
        return case._replace(before=before)
    return before


def _withdraw(outcome: Decided, parts: Parts) -> bool:
    """Withdraw a permit that no human gave, so that its call is asked about; return whether that worked."""
    if not isinstance(outcome, Ready) or outcome.is_approved:
        return False
    try:
        parts.tools.redeem(outcome.authorized)
    except ReplayError:
        return False
    return True
