"""The same call has the same outcome."""

from tests.tables import for_each
from tests.unit.core.stubs import PlainRule
from tests.unit.guard.stubs import CALL, guard_of

from permitry.core.decision import Verdict
from permitry.guard.case import Case
from permitry.guard.outcome import Ready, Silence
from permitry.guard.stages.known import recall


def test_what_is_not_known_goes_on_as_it_is() -> None:
    """The very same case."""
    case = Case(CALL)
    assert recall(case, guard_of()) is case


@for_each("effect", [Verdict.ALLOW, Verdict.BLOCK])
def test_what_is_known_ends_the_way(effect: Verdict) -> None:
    """Without another decision."""
    guard = guard_of(PlainRule("r", effect, 150 if effect is Verdict.BLOCK else 250))
    outcome = guard.begin(CALL)
    assert recall(Case(CALL), guard) is outcome


def test_what_was_left_to_the_host_is_decided_again() -> None:
    """It may run each time."""
    guard = guard_of(unmatched="silence")
    outcome = guard.begin(CALL)
    assert isinstance(outcome, Silence)
    known = recall(Case(CALL), guard)
    assert isinstance(known, Case)
    assert known.before is outcome


def test_a_permit_is_withdrawn_once_the_host_has_asked() -> None:
    """One that was used, or that a human gave, is not."""
    guard = guard_of(PlainRule("may", Verdict.ALLOW, 250))
    ready = guard.begin(CALL)
    assert isinstance(ready, Ready)
    assert isinstance(recall(Case(CALL, is_asked=True), guard), Case)
    assert not guard.tools.is_open(ready.authorized)
    assert recall(Case(CALL, is_asked=True), guard) is ready
