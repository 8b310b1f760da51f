"""The rules decide, and then the tool has a say."""

import logging

import pytest
from tests.unit.core.stubs import PlainRule
from tests.unit.guard.stubs import CALL, answer_of, guard_of

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.spec import ToolSpec
from permitry.dispatch.arguments import with_check
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ToolError
from permitry.guard.case import Case
from permitry.guard.guard import Guard
from permitry.guard.outcome import Blocked, Cause
from permitry.guard.session import Session
from permitry.guard.stages.decide import decide
from permitry.guard.tools import Tools
from permitry.handler import ToolHandler


def _fussy() -> Guard:
    """Return a guard of a tool that takes no arguments."""

    def check(_: object) -> None:
        raise ToolError("`path` is too short")

    registry = ToolRegistry()
    registry.register(ToolSpec("x"), with_check(lambda _: "done", check))
    return ToolHandler(registry=registry).guard


def test_the_session_as_it_is_now_counts() -> None:
    """Its mode is in the context that goes on with the case."""
    guard = guard_of(PlainRule("plan", Verdict.BLOCK, 150, lambda request: request.context.is_plan_mode))
    guard.session.switch_mode("plan")
    case = decide(Case(CALL), guard)
    assert isinstance(case, Case)
    assert (case.decision.verdict, case.context.mode) == (Verdict.BLOCK, "plan")


def test_a_call_that_its_tool_cannot_take_ends_with_the_words_of_the_tool() -> None:
    """No human is asked; after an answer, `bind` has the last word."""
    outcome = decide(Case(CALL), _fussy())
    assert isinstance(outcome, Blocked)
    assert outcome.cause is Cause.MISFIT
    assert "too short" in outcome.result.text
    answered = decide(Case(CALL, answer=answer_of(ToolConfirmationResponse(True))), _fussy())
    assert isinstance(answered, Case)
    assert (answered.decision.verdict, answered.cause) == (Verdict.BLOCK, Cause.MISFIT)


def test_a_mode_that_no_rule_knows_is_warned_about_once(caplog: pytest.LogCaptureFixture) -> None:
    """Such a session is without plan mode; what is nearly `plan` is an error."""
    guard = guard_of(session=Session(mode="review"))
    with caplog.at_level(logging.WARNING, "permitry.guard"):
        decide(Case(CALL), guard)
        decide(Case(CALL), guard)
    assert [record.getMessage() for record in caplog.records] == [
        "no rule knows the mode `review`; known: default, plan, yolo"
    ]


class _Unfit(Tools):
    """Tools that say that a call does not fit, and leave the decision as it is."""

    def check(self, _call: ToolCall, _context: AuthContext, decision: Decision) -> tuple[Decision, Cause]:
        return decision, Cause.MISFIT


def test_what_does_not_fit_ends_here_whatever_the_decision() -> None:
    """The cause alone is enough: an allowed call that its tool cannot take does not go on."""
    guard = guard_of(PlainRule("may", Verdict.ALLOW, 250))
    guard.tools = _Unfit()
    assert isinstance(decide(Case(CALL), guard), Blocked)
