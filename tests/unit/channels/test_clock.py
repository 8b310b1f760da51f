"""The time that deadlines go by, when a clock is set."""

import pytest
from tests.unit.channels.stored_calls import YES, asked, fresh, only

from permitry.audit.redaction import redacted
from permitry.channels.clock import Moment
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.errors import LateAnswerError, LedgerError
from permitry.guard.ledgers import questions_at
from permitry.guard.outcome import Permit
from permitry.guard.session import Session
from permitry.guard.stored_ledger import StoredLedger


@pytest.mark.parametrize(
    ("later", "is_in_time"),
    [
        (Moment(1_050.0, "boot", 100.0), True),
        (Moment(10.0, "boot", 100.0), True),  # set back: the seconds since the start count
        (Moment(10.0, "boot", 200.0), False),
        (Moment(9_000.0, "boot", 100.0), True),
        (Moment(1_050.0, "next", 1.0), True),
        (Moment(1_200.0, "next", 1.0), False),
        (Moment(900.0, "next", 1.0), False),  # set back, and nothing else to go by
        (Moment(900.0), False),
        (Moment(1_050.0), True),
    ],
)
def test_a_clock_that_is_set_makes_no_late_answer_an_early_one(
    address: str, clock: list[Moment], later: Moment, *, is_in_time: bool
) -> None:
    """Where the clock of the machine says nothing, one that is behind is not believed."""
    ledger = StoredLedger(questions_at(address), redacted, lifetime=100.0, clock=lambda: clock[0])
    guard = fresh(address, ledger=ledger)
    ask = asked(guard)
    question = only(address)
    clock[0] = later
    assert bool(questions_at(address).open(later)) is is_in_time
    if not is_in_time:
        with pytest.raises(LedgerError):
            answer_to(questions_at(address), question, YES, by="ann")
        with pytest.raises(LateAnswerError):
            guard.resolve(ask.id, YES)
    assert isinstance(guard.answer(ask.id, YES), Permit) is is_in_time


def test_a_clock_behind_another_answer_is_not_believed(address: str, clock: list[Moment]) -> None:
    """What was seen once cannot be unseen."""
    for name in ("s1", "s2"):
        ledger = StoredLedger(questions_at(address), redacted, clock=lambda: clock[0])
        asked(fresh(address, ledger=ledger, session=Session(id=name)))
    one, other = map(StoredQuestion.of, questions_at(address).open(clock[0]))
    clock[0] = Moment(3_000.0, "next", 1.0)
    answer_to(questions_at(address), one, YES, by="ann")
    clock[0] = Moment(2_000.0, "later", 1.0)
    with pytest.raises(LedgerError):
        answer_to(questions_at(address), other, YES, by="ann")
