"""An answer is for the very call and the very tool that a human was asked about."""

import attrs
from tests.tables import for_each
from tests.unit.guard.stubs import ALLOWED, ASKED, BLOCKED, CALL, answer_of, case_of, guard_of

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.spec import ToolSpec
from permitry.guard.case import Case
from permitry.guard.outcome import Blocked, Cause
from permitry.guard.stages.bind import bind, edit

_YES = ToolConfirmationResponse(True)
_OTHER = attrs.evolve(CALL, arguments={"path": "b"})
_BY_RULE = attrs.evolve(ASKED, rule_id="asks", phase=Phase.RESTRICTION)


@for_each(
    ("now", "call", "spec", "verdict", "is_as_asked"),
    [
        (ALLOWED, CALL, None, Verdict.CONFIRM, True),
        (BLOCKED, CALL, None, Verdict.BLOCK, False),
        (_BY_RULE, _OTHER, None, Verdict.CONFIRM, False),
        (ALLOWED, _OTHER, None, Verdict.ALLOW, False),
        (ALLOWED, CALL, ToolSpec("x"), Verdict.BLOCK, False),
        (ALLOWED, _OTHER, ToolSpec("x"), Verdict.BLOCK, False),
    ],
)
def test_the_decision_that_was_asked_about_counts_for_the_same_call_and_tool(
    now: Decision,
    call: object,
    spec: ToolSpec | None,
    verdict: Verdict,
    is_as_asked: bool,  # noqa: FBT001 -- a table
) -> None:
    """Law 1: no answer lifts a block, and none is for another tool."""
    case = bind(case_of(now, call=call, spec=spec, answer=answer_of(_YES)), guard_of())
    assert case.decision.verdict is verdict
    assert (case.decision is ASKED) is is_as_asked


@for_each(("asked", "now"), [(_BY_RULE, ALLOWED), (ASKED, _BY_RULE)])
def test_what_a_rule_asks_about_is_not_remembered(asked: Decision, now: Decision) -> None:
    """It would be asked about anyway; only what no rule is about can be."""
    always = ToolConfirmationResponse(True, skip_future=True)
    assert not bind(case_of(now, answer=answer_of(always, asked)), guard_of()).is_remembered
    assert bind(case_of(ASKED, answer=answer_of(always)), guard_of()).is_remembered


def test_without_an_answer_nothing_changes() -> None:
    """These stages are about answers alone."""
    case = case_of(ALLOWED)
    assert bind(case, guard_of()) is case
    assert edit(case, guard_of()) is case


def test_edited_arguments_make_another_call_or_none() -> None:
    """What is no call is blocked, with the reason."""
    good = edit(case_of(ASKED, answer=answer_of(ToolConfirmationResponse(True, arguments={"path": "b"}))), guard_of())
    assert isinstance(good, Case)
    assert good.call == _OTHER
    bad = ToolConfirmationResponse(True, arguments={"path": object()})
    outcome = edit(case_of(ASKED, answer=answer_of(bad)), guard_of())
    assert isinstance(outcome, Blocked)
    assert outcome.cause is Cause.BAD_EDIT
