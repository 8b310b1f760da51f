"""What was asked about is never allowed by rules that have changed meanwhile."""

from tests.tables import for_each
from tests.unit.guard.stubs import ALLOWED, ASKED, BLOCKED, CALL, case_of, guard_of

from permitry.core.decision import Decision, Verdict
from permitry.guard.outcome import Silence
from permitry.guard.stages.pin import pin

_LEFT = Silence(CALL, ASKED)


def test_what_the_host_asked_about_stays_a_question() -> None:
    """It says so, whatever it was left at before."""
    for before in (None, _LEFT):
        decision = pin(case_of(ALLOWED, is_asked=True, before=before), guard_of()).decision
        assert decision.verdict is Verdict.CONFIRM


def test_what_was_left_to_the_host_stays_so() -> None:
    """The decision is the one from before."""
    assert pin(case_of(ALLOWED, before=_LEFT), guard_of()).decision is ASKED


@for_each("decision", [ASKED, BLOCKED])
def test_what_is_strict_already_stays_as_it_is(decision: Decision) -> None:
    """A block that came in between holds."""
    case = case_of(decision, is_asked=True, before=_LEFT)
    assert pin(case, guard_of()) is case
