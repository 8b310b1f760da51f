"""Questions while they are open."""

from unittest.mock import Mock

import attrs
import pytest
from tests.unit.guard.stubs import ASKED, CALL, Failing, answer_of, case_of, guard_of

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.errors import FullLedgerError, LedgerError
from permitry.guard.guard import Guard
from permitry.guard.ledger import ConfirmationLedger
from permitry.guard.open_questions import claim, close, decline, interrupt, is_open, look_again, open_question
from permitry.guard.outcome import Blocked, Cause, Pending
from permitry.guard.session import Session


def _open(guard: Guard) -> Pending:
    pending = open_question(case_of(ASKED), guard)
    assert isinstance(pending, Pending)
    return pending


def test_a_question_that_is_not_recorded_is_closed_again() -> None:
    """Nobody could be asked about it."""
    guard = guard_of(recorder=Failing())
    outcome = open_question(case_of(ASKED), guard)
    assert isinstance(outcome, Blocked)
    assert outcome.cause is Cause.NOT_RECORDED
    assert len(guard.ledger) == 0


def test_what_a_call_would_do_is_read_where_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, although the request is copied with the id of its question: that takes longest of an asked call."""
    effects = Mock(return_value=())
    monkeypatch.setattr("permitry.guard.open_questions.effect_lines", effects)
    request = _open(guard_of()).request
    effects.assert_not_called()
    assert request.effects == request.effects == ()
    effects.assert_called_once()


def test_an_undeclared_call_is_not_read_for_its_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is a command without an expansion: to read what they would do takes longest."""
    read = Mock(side_effect=AssertionError)
    monkeypatch.setattr("permitry.core.rule.Request.actions", property(read))
    guard = guard_of()
    for name, arguments in (("deploy", {"text": "$(pwd)"}), ("run_shell", {"command": "make"})):
        assert isinstance(open_question(case_of(ASKED, call=ToolCall(name, arguments)), guard), Pending)
    read.assert_not_called()


def test_late_questions_make_room() -> None:
    """Where none is late, there is none."""
    now = [0.0]
    guard = guard_of(ledger=ConfirmationLedger(lifetime=10, clock=lambda: now[0], most=1))
    first = _open(guard)
    with pytest.raises(FullLedgerError):
        _open(guard)
    now[0] = 11.0
    assert _open(guard).pending_id != first.pending_id


def test_a_question_is_of_its_asker_and_its_call() -> None:
    """A request that shows another call answers nothing, and another session closes nothing."""
    ledger = ConfirmationLedger()
    guard = guard_of(ledger=ledger)
    pending = _open(guard)
    other = guard_of(ledger=ledger, session=Session())
    assert is_open(pending, guard)
    assert not is_open(pending, other)
    assert not is_open(attrs.evolve(pending, call=CALL.with_id("c2")), guard)
    with pytest.raises(LedgerError, match="somewhere else"):
        claim(pending.pending_id, other)


def test_a_question_that_is_gone_was_not_answered() -> None:
    """One that is open stays as it is."""
    guard = guard_of()
    pending = _open(guard)
    assert look_again(pending, guard) is pending
    interrupt(pending, guard, "KeyboardInterrupt")
    claim(pending.pending_id, guard)
    outcome = look_again(pending, guard)
    assert isinstance(outcome, Blocked)
    assert outcome.cause is Cause.UNANSWERED


def test_why_there_was_no_answer_is_for_the_operator() -> None:
    """The model is told that there was none."""
    guard = guard_of()
    blocked = close(_open(guard), guard, "the channel is broken")
    assert blocked.result.note == "the channel is broken"
    assert "broken" not in blocked.result.text


def test_a_result_of_the_human_is_no_error() -> None:
    """A no is one, in the words of the human."""
    guard = guard_of()
    question = answer_of(None).question
    given = decline(question, ToolConfirmationResponse(False, result="42"), guard)
    assert (given.cause, given.result.ok, given.result.text) == (Cause.RESPONDED, True, "42")
    refused = decline(question, ToolConfirmationResponse(False, instructions="use b", abort=True), guard)
    assert (refused.cause, refused.result.ends_session) == (Cause.DECLINED, True)
    assert "use b" in refused.result.text
