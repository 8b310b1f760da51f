"""A grant answers what would be asked about, and nothing else."""

from typing import Any, cast

import attrs
from tests.tables import for_each
from tests.unit.guard.stubs import ALLOWED, ASKED, BLOCKED, case_of, guard_of

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.decision import Decision
from permitry.guard.case import Case
from permitry.guard.open_questions import open_question
from permitry.guard.outcome import Pending
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
    assert isinstance(case, Case)
    assert (case.decision, case.grant) == (ALLOWED, "g1")


@for_each("decision", [ALLOWED, BLOCKED])
def test_a_grant_lifts_no_block_and_is_not_used_up_for_nothing(decision: Decision) -> None:
    """Where there are no grants, nothing happens either."""
    case, grants = case_of(decision), cast("Any", _Grants())
    assert use_grant(case, guard_of(grants=grants)) is case
    assert grants.asked == 0
    asked = case_of(ASKED)
    assert use_grant(asked, guard_of()) is asked


@for_each("decision", [ALLOWED, BLOCKED])
def test_rules_answer_no_question_that_is_open(decision: Decision) -> None:
    """Law 6: whatever they say by now, a human is asked."""
    case = case_of(decision)
    question = cast("Pending", object())
    for grants in (_Grants(), None):
        assert use_grant(case._replace(open=question), guard_of(grants=cast("Any", grants))) is question


@for_each("response, is_granted", [(None, True), (ToolConfirmationResponse(False), False)])
def test_a_question_that_is_open_is_answered_once(
    response: ToolConfirmationResponse | None, *, is_granted: bool
) -> None:
    """By the grant, which is on record; where a human was first, by them."""
    guard = guard_of(grants=cast("Any", _Grants()))
    question = open_question(case_of(ASKED), guard)
    assert isinstance(question, Pending)
    if response is not None:
        guard.resolve(question.pending_id, response)
    step = use_grant(case_of(ASKED, open=question), guard)
    assert isinstance(step, Case) is is_granted
    last = list(cast("Any", guard.recorder).records)[-1]
    assert last.get("grant") == ("g1" if is_granted else None)
    assert guard.ledger.find(question.pending_id) is None
