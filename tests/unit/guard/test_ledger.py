"""The ledger: each question is answered once, in time, for one call."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from permitry.core.call import ToolCall
from permitry.core.decision import Decision
from permitry.errors import LateAnswerError, LedgerError
from permitry.guard.ledger import ConfirmationLedger, PendingConfirmation, digest_of


def test_a_question_is_claimed_with_what_it_asked(call: ToolCall, unruled: Decision) -> None:
    """Claiming gives back the very call and decision the question was opened with."""
    ledger = ConfirmationLedger(clock=lambda: 100.0, lifetime=60.0, new_id=lambda: "p1")
    assert ledger.open(call, unruled) == PendingConfirmation("p1", call, unruled, 160.0)
    assert ledger.claim("p1") == PendingConfirmation("p1", call, unruled, 160.0)


def test_a_question_is_claimed_once(call: ToolCall, unruled: Decision) -> None:
    """A second answer finds no question."""
    ledger = ConfirmationLedger()
    pending_id = ledger.open(call, unruled).pending_id
    ledger.claim(pending_id)
    with pytest.raises(LedgerError, match="unknown or already answered"):
        ledger.claim(pending_id)


def test_a_question_is_found_while_it_is_open(call: ToolCall, unruled: Decision) -> None:
    """Looking at a question does not close it; when it is claimed, it is gone."""
    ledger = ConfirmationLedger()
    question = ledger.open(call, unruled)
    assert [ledger.find(question.pending_id), ledger.find(question.pending_id)] == [question, question]
    assert ledger.claim(question.pending_id) == question
    assert ledger.find(question.pending_id) is None


def test_a_guess_finds_no_question(call: ToolCall, unruled: Decision) -> None:
    """An unknown id is not an error when nothing is to be closed."""
    ledger = ConfirmationLedger()
    ledger.open(call, unruled)
    assert (ledger.find("guess"), len(ledger)) == (None, 1)


def test_an_unknown_id_is_refused(call: ToolCall, unruled: Decision) -> None:
    """A guess closes nothing."""
    ledger = ConfirmationLedger()
    ledger.open(call, unruled)
    with pytest.raises(LedgerError, match="`guess`"):
        ledger.claim("guess")
    assert len(ledger) == 1


def test_an_answer_at_the_deadline_is_in_time(call: ToolCall, unruled: Decision) -> None:
    """The lifetime is inclusive."""
    now = [0.0]
    ledger = ConfirmationLedger(lifetime=60.0, clock=lambda: now[0])
    question = ledger.open(call, unruled)
    now[0] = 60.0
    assert ledger.claim(question.pending_id) == question


def test_an_answer_after_the_deadline_is_refused_for_good(call: ToolCall, unruled: Decision) -> None:
    """A late answer closes the question, and no clock brings it back."""
    now = [0.0]
    ledger = ConfirmationLedger(lifetime=60.0, clock=lambda: now[0])
    pending_id = ledger.open(call, unruled).pending_id
    now[0] = 60.001
    with pytest.raises(LedgerError, match="too late"):
        ledger.claim(pending_id)
    now[0] = 0.0
    with pytest.raises(LedgerError, match="already answered"):
        ledger.claim(pending_id)


def test_a_late_answer_tells_what_was_asked(call: ToolCall, unruled: Decision) -> None:
    """The one who claimed too late learns which call stays blocked."""
    now = [0.0]
    ledger = ConfirmationLedger(lifetime=60.0, clock=lambda: now[0], new_id=lambda: "p1")
    question = ledger.open(call, unruled)
    now[0] = 61.0
    with pytest.raises(LateAnswerError) as caught:
        ledger.claim("p1")
    assert caught.value.pending == question
    assert str(caught.value) == "the answer to `p1` came too late; the call stays blocked"


def test_only_a_late_answer_is_called_late(call: ToolCall, unruled: Decision) -> None:
    """An unknown id, or one that was answered, has no question to tell."""
    ledger = ConfirmationLedger(new_id=lambda: "p1")
    ledger.open(call, unruled)
    ledger.claim("p1")
    for pending_id in ("p1", "guess"):
        with pytest.raises(LedgerError) as caught:
            ledger.claim(pending_id)
        assert not isinstance(caught.value, LateAnswerError)


def test_an_id_that_is_taken_is_not_given_again(call: ToolCall, unruled: Decision) -> None:
    """An answer for the one question must never close another."""
    ledger = ConfirmationLedger(new_id=lambda: "same")
    ledger.open(call, unruled)
    with pytest.raises(LedgerError, match="`same` is already in use"):
        ledger.open(ToolCall("other"), unruled)
    assert ledger.claim("same").call == call


def test_questions_are_counted_while_they_are_open(call: ToolCall, unruled: Decision) -> None:
    """The length of a ledger is the number of open questions."""
    ledger = ConfirmationLedger()
    first, _ = ledger.open(call, unruled), ledger.open(call, unruled)
    assert len(ledger) == 2
    ledger.claim(first.pending_id)
    assert len(ledger) == 1


def test_ids_are_long_and_never_the_same(call: ToolCall, unruled: Decision) -> None:
    """An id can not be guessed from another one."""
    ledger = ConfirmationLedger()
    ids = {ledger.open(call, unruled).pending_id for _ in range(200)}
    assert len(ids) == 200
    assert all(len(pending_id) >= 12 for pending_id in ids)


def test_of_many_threads_one_claims(call: ToolCall, unruled: Decision) -> None:
    """An answer given twice at once counts once."""
    ledger = ConfirmationLedger()
    pending_id = ledger.open(call, unruled).pending_id

    def claims() -> bool:
        try:
            ledger.claim(pending_id)
        except LedgerError:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        results = [pool.submit(claims) for _ in range(64)]
    assert sum(result.result() for result in results) == 1


def test_the_ids_do_not_stand_in_the_text_of_a_ledger(call: ToolCall, unruled: Decision) -> None:
    """The one who prints a ledger gives no answerable id away."""
    ledger = ConfirmationLedger(new_id=lambda: "secret-id")
    ledger.open(call, unruled)
    assert "secret-id" not in repr(ledger)


def test_a_question_stays_with_the_process_that_asked_it(
    call: ToolCall, unruled: Decision, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork copies the ledger; the copy has nothing to answer."""
    ledger = ConfirmationLedger()
    pending_id = ledger.open(call, unruled).pending_id
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert ledger.find(pending_id) is None
    with pytest.raises(LedgerError, match="unknown or already answered"):
        ledger.claim(pending_id)


def test_a_tool_that_is_not_declared_has_no_digest() -> None:
    """None, and not that of some declaration."""
    assert digest_of(None) is None
