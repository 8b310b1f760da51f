"""A grant answers what would be asked about, and nothing else."""

from typing import Any, cast

import attrs
from tests.tables import for_each
from tests.unit.guard.stubs import ALLOWED, ASKED, BLOCKED, case_of, guard_of

from permitry.core.decision import Decision
from permitry.guard.stages.grant import use_grant


@attrs.define
class _Grants:
    """Grants everything it is asked about."""

    asked: int = 0

    def take(self, *_: object) -> tuple[Decision, str | None]:
        self.asked += 1
        return ALLOWED, "g1"


def test_a_question_is_answered_by_a_grant() -> None:
    """Its id is known to the stages behind."""
    case = use_grant(case_of(ASKED), guard_of(grants=_Grants()))
    assert (case.decision, case.grant) == (ALLOWED, "g1")


@for_each("decision", [ALLOWED, BLOCKED])
def test_a_grant_lifts_no_block_and_is_not_used_up_for_nothing(decision: Decision) -> None:
    """Where there are no grants, nothing happens either."""
    case, grants = case_of(decision), cast("Any", _Grants())
    assert use_grant(case, guard_of(grants=grants)) is case
    assert grants.asked == 0
    asked = case_of(ASKED)
    assert use_grant(asked, guard_of()) is asked
