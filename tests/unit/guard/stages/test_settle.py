"""The end of the way."""

from typing import Any

from tests.tables import for_each
from tests.unit.guard.stubs import ALLOWED, ASKED, BLOCKED, Failing, answer_of, case_of, guard_of

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.decision import Decision
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.ledger import ConfirmationLedger
from permitry.guard.outcome import Blocked, Cause, Pending, Ready, Silence
from permitry.guard.stages.settle import settle
from permitry.handler import ToolHandler

_YES = answer_of(ToolConfirmationResponse(True))


@for_each(
    ("decision", "known", "outcome"),
    [
        (ALLOWED, {}, Ready),
        (ASKED, {}, Pending),
        (ASKED, {"answer": _YES}, Ready),
        (ASKED, {"grant": "g1"}, Ready),
        (BLOCKED, {}, Blocked),
        (BLOCKED, {"answer": _YES}, Blocked),
        (BLOCKED, {"grant": "g1"}, Blocked),
    ],
)
def test_what_becomes_of_a_call(decision: Decision, known: dict[str, Any], outcome: type) -> None:
    """An answer or a grant lets run what would be asked about, and never what is blocked."""
    guard = guard_of()
    found = settle(case_of(decision, **known), guard)
    assert type(found) is outcome
    assert guard.session.counts["x"] == (outcome is Ready)


def test_a_call_that_is_left_to_its_host_counts() -> None:
    """It may run there."""
    guard = guard_of(unmatched="silence")
    assert isinstance(settle(case_of(ASKED), guard), Silence)
    assert guard.session.counts["x"] == 1


def test_a_grant_that_is_not_recorded_answers_nothing() -> None:
    """Law 7."""
    outcome = settle(case_of(ASKED, grant="g1"), guard_of(recorder=Failing()))
    assert isinstance(outcome, Blocked)
    assert outcome.cause is Cause.NOT_RECORDED


def test_a_ledger_that_is_full_blocks() -> None:
    """Nobody could be asked."""
    outcome = settle(case_of(ASKED), guard_of(ledger=ConfirmationLedger(most=0)))
    assert isinstance(outcome, Blocked)
    assert outcome.cause is Cause.QUESTIONS


def test_a_tool_that_was_replaced_since_is_not_authorized() -> None:
    """The decision was about another one; a start that is on record gets an end."""
    registry = ToolRegistry()
    registry.register(ToolSpec("x"), lambda _: (True, ""))
    handler = ToolHandler(registry=registry)
    outcome = settle(case_of(ALLOWED, spec=ToolSpec("x"), is_started=True), handler.guard)
    assert isinstance(outcome, Blocked)
    assert "was replaced after" in outcome.decision.reason
    assert [each["event"] for each in handler.recorder.records] == ["finished", "decided"]  # type: ignore[attr-defined]  # in memory


def test_the_tool_is_remembered_that_a_human_will_not_be_asked_about_again() -> None:
    """From the next call on."""
    guard = guard_of()
    settle(case_of(ASKED, answer=_YES, is_remembered=True), guard)
    assert guard.session.tool_ignore_list == ["x"]
