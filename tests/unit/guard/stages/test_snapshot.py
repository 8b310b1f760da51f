"""What a call changes is kept first, or its permission does not count."""

import attrs
from tests.tables import for_each
from tests.unit.guard.stubs import ALLOWED, ASKED, BLOCKED, case_of, guard_of

from permitry.core.decision import Decision, Verdict
from permitry.guard.stages.snapshot import take_snapshot

_KEEPS = attrs.evolve(ALLOWED, keeps=True)


@for_each("decision", [ALLOWED, attrs.evolve(ASKED, keeps=True), attrs.evolve(BLOCKED, keeps=True)])
def test_only_what_runs_for_that_permission_is_kept(decision: Decision) -> None:
    """A call that is asked about, or blocked, changes nothing yet."""
    case = case_of(decision)
    assert take_snapshot(case, guard_of()) is case


def test_where_nothing_keeps_the_permission_does_not_count() -> None:
    """The rules decide as if it were not there."""
    case = take_snapshot(case_of(_KEEPS), guard_of())
    assert (case.decision.verdict, case.kept) == (Verdict.CONFIRM, None)
