"""A case: nothing is decided at its beginning, and what comes later does not count before."""

import attrs
from tests.tables import for_each
from tests.unit.guard.stubs import ALLOWED, ASKED, BLOCKED, CALL, answer_of, case_of, guard_of

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.spec import ToolSpec
from permitry.guard.case import Case, asker_of, may_run
from permitry.guard.session import Session


def test_a_case_is_a_block_until_it_is_decided() -> None:
    """So that a line from which `decide` is missing blocks everything."""
    assert Case(CALL).decision.verdict is Verdict.BLOCK


def test_what_was_decided_is_not_of_another_declaration() -> None:
    """A new declaration, or a new decision, begins anew; who made the call and what was answered stay."""
    case = case_of(ALLOWED, is_given=False, grant="g1", answer=answer_of(ToolConfirmationResponse(True)))
    other = case.with_spec(ToolSpec("x"))
    assert (other.decision.verdict, other.grant, other.is_given) == (Verdict.BLOCK, None, False)
    assert other.answer is case.answer
    decided = case.with_decision(AuthContext(is_plan_mode=True), ALLOWED)
    assert (decided.decision, decided.grant, decided.context.is_plan_mode) == (ALLOWED, None, True)
    assert decided.answer is case.answer


def test_a_human_or_a_grant_approves() -> None:
    """An edit is one only if it changes the call."""
    answer = answer_of(ToolConfirmationResponse(True))
    assert not case_of(ALLOWED).is_approved
    assert case_of(ALLOWED, grant="g1").is_approved
    assert case_of(ALLOWED, answer=answer).is_approved
    assert not case_of(ALLOWED, answer=answer).is_edited
    assert case_of(ALLOWED, answer=answer, call=ToolCall("x", {"path": "b"}, call_id="c1")).is_edited


_BY_RULE = attrs.evolve(ASKED, rule_id="asks", phase=Phase.RESTRICTION)


@for_each(
    ("decision", "unmatched", "is_asked", "expected"),
    [
        (ALLOWED, "confirm", False, True),
        (ASKED, "confirm", False, False),
        (ASKED, "silence", False, True),
        (ASKED, "silence", True, False),
        (_BY_RULE, "silence", False, False),
        (BLOCKED, "silence", False, False),
    ],
)
def test_a_call_runs_that_is_allowed_or_left_to_its_host(
    decision: Decision,
    unmatched: str,
    is_asked: bool,  # noqa: FBT001 -- a table
    expected: bool,  # noqa: FBT001 -- as above
) -> None:
    """What a rule asks about, or the host was asked about, is not left to it."""
    guard = guard_of(unmatched=unmatched)
    assert may_run(decision, case_of(decision, is_asked=is_asked), guard) is expected


def test_an_asker_is_a_session_and_an_agent() -> None:
    """A sub-agent is another one."""
    session = Session(id="s1")
    assert asker_of(guard_of(session=session)) == ("s1", "main")
    assert asker_of(guard_of(session=session.child("helper", id="s2"))) == ("s2", "helper")
