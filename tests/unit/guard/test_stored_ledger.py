"""The ledger in a store: what was asked and answered outlasts the process."""

import os
from collections.abc import Callable
from typing import Any, cast

import attrs
import pytest
from tests.unit.channels.stored_calls import ALLOWS, ASKS, BLOCKS, CALL, NO, YES, asked, closed, fresh, respond

from permitry.audit.record import MemoryRecorder
from permitry.audit.redaction import redacted
from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import Row, StoredQuestion
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.errors import LedgerError, StoreError
from permitry.guard.guard import Guard
from permitry.guard.ledgers import ledger_at, questions_at
from permitry.guard.outcome import Cause, Permit, Refusal
from permitry.guard.session import Session
from permitry.guard.stored_ledger import StoredLedger
from permitry.store.questions import StoredQuestions


def test_what_was_asked_is_not_forgotten(address: str) -> None:
    """The question stays as it is, also where the rules would allow the call by now."""
    first = asked(fresh(address))
    guards = [fresh(address), fresh(address, ALLOWS)]
    for guard in guards:
        again = asked(guard)
        assert (again.id, again.request, again.decision) == (first.id, first.request, first.decision)
    assert isinstance(guards[1].answer(first.id, YES), Permit)


def test_what_was_answered_is_not_asked_again(address: str) -> None:
    """An answer that no one has taken yet is taken then, once."""
    asked(fresh(address))
    respond(address)
    guards = [fresh(address), fresh(address)]
    assert isinstance(guards[0].check(CALL), Permit)
    for guard in (guards[1], fresh(address)):
        outcome = guard.check(CALL)
        assert isinstance(outcome, Refusal)
        assert outcome.cause is Cause.HANDLED


def test_the_record_names_who_answered(address: str) -> None:
    """Elsewhere; who answers where it was asked has no name there."""
    for response, by in ((YES, "ann"), (NO, "ann"), (None, None)):
        guard = fresh(address)
        call = CALL.with_id(f"{response}")
        ask = asked(guard, call)
        if response is None:
            guard.answer(ask.id, YES)
        else:
            respond(address, response)
            guard.check(call)
        assert isinstance(guard.recorder, MemoryRecorder)
        (answered,) = [each for each in guard.recorder.records if each["event"] == "answered"]
        assert (answered["by"], answered["approved"]) == (by, response is not NO)


@pytest.mark.parametrize("is_taken", [False, True])
@pytest.mark.parametrize("rules", [ASKS, ALLOWS, BLOCKS])
def test_a_no_stays_one(address: str, rules: str, *, is_taken: bool) -> None:
    """Whatever the rules say by now."""
    guard = fresh(address)
    asked(guard)
    respond(address, NO)
    if is_taken:
        guard.check(CALL)
    outcome = fresh(address, rules).check(CALL)
    assert isinstance(outcome, Refusal)
    assert outcome.cause is Cause.DECLINED


def test_a_yes_lifts_no_block(address: str) -> None:
    """A rule that is there by now counts."""
    asked(fresh(address))
    respond(address)
    outcome = fresh(address, BLOCKS).check(CALL)
    assert isinstance(outcome, Refusal)
    assert outcome.cause is Cause.POLICY


def test_a_yes_is_for_the_tool_that_was_shown(address: str) -> None:
    """One that is declared otherwise by now does not run, nor does one that is not declared any more."""
    for number, spec in enumerate((None, ToolSpec("write", "another"))):
        session = Session(id=f"s{number}")
        asked(fresh(address, session=session), spec=ToolSpec("write", "as it was"))
        respond(address)
        assert isinstance(fresh(address, session=Session(id=session.id)).check(CALL, spec), Refusal)


def test_a_yes_is_for_its_session_and_agent(address: str) -> None:
    """And its call, with its id."""
    asked(fresh(address))
    respond(address)
    other = Session(id="s2")
    asked(fresh(address, session=other))
    asked(fresh(address, session=Session(id="s1", agent="sub")))
    asked(fresh(address), CALL.with_id("c2"))
    asked(fresh(address), ToolCall("write", {"path": "b"}, call_id="c1"))


def test_a_yes_grows_old(address: str, clock: list[Moment]) -> None:
    """It counts for as long again after its deadline; a question without an answer only until then."""
    for after, answered, wanted in ((150, True, Permit), (250, True, Refusal), (150, False, Refusal)):
        clock[0] = Moment(1_000.0, "boot", 50.0)
        name = f"{after}{answered}"

        def restarted(name: str = name) -> Guard:
            ledger = StoredLedger(questions_at(address), redacted, lifetime=100.0, clock=lambda: clock[0])
            return fresh(address, ledger=ledger, session=Session(id=name))

        asked(restarted())
        if answered:
            respond(address)
        clock[0] = clock[0].after(after)
        assert isinstance(restarted().check(CALL), wanted)
        questions_at(address).expire(clock[0])


@pytest.mark.parametrize(("after", "wanted"), [(150, Permit), (250, Refusal)])
def test_a_yes_grows_old_for_the_process_that_asked(
    address: str, clock: list[Moment], after: float, wanted: type
) -> None:
    """As it does after a restart."""
    ledger = StoredLedger(questions_at(address), redacted, lifetime=100.0, clock=lambda: clock[0])
    guard = fresh(address, ledger=ledger)
    asked(guard)
    respond(address)
    clock[0] = clock[0].after(after)
    assert isinstance(guard.check(CALL), wanted)


class Away:
    """Questions in a store that fails."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def fail(*_: object) -> None:
            raise StoreError("the disk is full")

        return fail


class Interrupting:
    """Questions in a store, to which something happens when one has been looked at."""

    def __init__(self, store: Any, happens: Callable[[], None]) -> None:  # noqa: ANN401 -- questions in a store
        self._store, self._happens, self._looks = store, happens, 0

    def find(self, name: str) -> Row | None:
        """Return a question as it was before that; it happens at the second look, which is the one before its end."""
        row: Row | None = self._store.find(name)
        self._looks += 1
        if self._looks == 2:
            self._happens()
        return row

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- as above
        return getattr(self._store, name)


@pytest.fixture
def breaking(address: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Guard, Callable[[], None]]:
    """Return a guard, and what makes its store fail from now on."""
    ledger = ledger_at(address)

    def fail() -> None:
        monkeypatch.setattr(ledger, "store", Away())

    return fresh(address, ledger=ledger), fail


def test_nothing_runs_without_a_store(breaking: tuple[Guard, Callable[[], None]]) -> None:
    """A call that must be asked about is blocked, and so is one that may have been asked about before."""
    guard, fail = breaking
    fail()
    outcome = guard.check(CALL)
    assert isinstance(outcome, Refusal)
    assert outcome.decision is not None
    assert "the disk is full" in outcome.decision.reason
    outcome = guard.check(ToolCall("write", {"path": "a"}))
    assert isinstance(outcome, Refusal)
    assert outcome.cause is Cause.QUESTIONS


def test_no_answer_counts_without_a_store(breaking: tuple[Guard, Callable[[], None]]) -> None:
    """It could count twice."""
    guard, fail = breaking
    ask = asked(guard)
    fail()
    assert isinstance(guard.answer(ask.id, YES), Refusal)
    with pytest.raises(LedgerError):
        guard.ledger.claim(ask.id)
    assert guard.ledger.find(ask.id) is None
    with pytest.raises(LedgerError):
        guard.ledger.answer(ask.id)
    assert guard.ledger.expire() == []
    assert isinstance(guard.check(CALL), Refusal)


def test_an_answer_outlasts_a_store_that_is_away_for_a_while(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question stays open meanwhile, and what is answered then counts."""
    guard = fresh(address)
    asked(guard)
    with monkeypatch.context() as away:
        away.setattr(guard.ledger, "store", Away())
        assert isinstance(guard.check(CALL), Refusal)
    respond(address)
    assert isinstance(guard.check(CALL), Permit)


def test_an_answer_that_does_not_count_is_on_record(address: str) -> None:
    """With who gave it, and why: the tool is another one by now."""
    asked(fresh(address), spec=ToolSpec("write", "as it was"))
    respond(address)
    guard = fresh(address)
    assert isinstance(guard.check(CALL, ToolSpec("write", "another")), Refusal)
    assert isinstance(guard.recorder, MemoryRecorder)
    (answered,) = [each for each in guard.recorder.records if each["event"] == "answered"]
    assert (answered["by"], answered["approved"]) == ("ann", False)
    assert "the tool has changed" in str(answered["error"])


@pytest.mark.parametrize("response", [YES, NO])
def test_an_answer_that_comes_in_between_is_the_one_that_counts(
    address: str, response: ToolConfirmationResponse
) -> None:
    """Between the look at a question and its end, in the row and on record, though here no one answered, or another."""
    for number, given in enumerate((None, YES, NO)):
        guard = fresh(address, session=Session(id=f"s{number}"))
        ask, store = asked(guard), questions_at(address)
        assert isinstance(guard.ledger, StoredLedger)
        guard.ledger.store = cast("StoredQuestions", Interrupting(store, lambda: respond(address, response)))
        if given is None:
            guard.withdraw(ask.id, "gone")
        else:
            guard.answer(ask.id, given)
        guard.ledger.store = store
        assert isinstance(guard.check(CALL), Permit if response is YES else Refusal)
        assert isinstance(guard.recorder, MemoryRecorder)
        (answered,) = [each for each in guard.recorder.records if each["event"] == "answered"]
        assert (answered["by"], answered["approved"]) == ("ann", response is YES)
        row = store.find(ask.id)
        assert row is not None
        assert (row["answered_by"], StoredQuestion.of(row).response) == ("ann", response)


def test_too_many_questions_are_refused_and_late_ones_make_room(address: str, clock: list[Moment]) -> None:
    """Those of a process that is gone are closed as well."""
    ledger = StoredLedger(questions_at(address), redacted, lifetime=100.0, most=2, clock=lambda: clock[0])
    guard = fresh(address, ledger=ledger)
    other = StoredLedger(questions_at(address), redacted, lifetime=100.0, clock=lambda: clock[0])
    asked(fresh(address, ledger=other))
    asked(guard, CALL.with_id("c2"))
    assert len(ledger) == 1
    outcome = guard.check(CALL.with_id("c3"))
    assert isinstance(outcome, Refusal)
    assert outcome.cause is Cause.QUESTIONS
    clock[0] = clock[0].after(101)
    asked(guard, CALL.with_id("c4"))
    assert [row["closed_at"] is None for row in closed(address)] == [False, False, True]
    assert isinstance(guard.check(CALL.with_id("c2")), Refusal)


def test_an_answer_that_cannot_be_kept_is_none(address: str) -> None:
    """Its arguments hold themselves."""
    guard = fresh(address)
    ask = asked(guard)
    circle: dict[str, object] = {}
    circle["self"] = circle
    assert isinstance(guard.answer(ask.id, ToolConfirmationResponse(True, arguments=circle)), Refusal)
    assert isinstance(guard.answer(ask.id, ToolConfirmationResponse(True, arguments={"x": object()})), Refusal)


def test_a_record_that_fails_closes_the_question(address: str) -> None:
    """What was not recorded is not asked."""

    class Full:
        def record(self, event: str, call: ToolCall, /, **_: object) -> None:
            del call
            if event == "asked":
                raise OSError("full")

    assert isinstance(fresh(address, recorder=Full()).check(CALL), Refusal)
    assert closed(address)[0]["closed_at"]


def test_of_two_processes_that_both_know_of_a_question_one_takes_its_answer(address: str) -> None:
    """The call runs once."""
    guards = [fresh(address), fresh(address)]
    asks = [asked(guard) for guard in guards]
    assert asks[0].id == asks[1].id
    respond(address)
    assert [isinstance(guard.check(CALL), Permit) for guard in guards] == [True, False]
    other = CALL.with_id("c2")
    asks = [asked(guard, other) for guard in guards]
    outcomes = [guard.answer(ask.id, YES) for guard, ask in zip(guards, asks, strict=True)]
    assert [isinstance(outcome, Permit) for outcome in outcomes] == [True, False]


@pytest.mark.parametrize("above", [None, (7, 8), ()])
def test_the_processes_that_ask_are_noted(address: str, above: tuple[int, ...] | None) -> None:
    """This one and the one that started it, unless others are named."""
    ledger = attrs.evolve(ledger_at(address), above=above)
    pending = ledger.open(CALL, asked(fresh(address)).decision)
    row = questions_at(address).find(pending.pending_id)
    assert row is not None
    assert StoredQuestion.of(row).above == ((os.getpid(), os.getppid()) if above is None else above)
