"""The ledger in a store: what was asked and answered outlasts the process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.confirm.stored_calls import ALLOWS, ASKS, BLOCKS, CALL, NO, YES, asked, closed, fresh, respond

from permitry.audit.redaction import redacted
from permitry.confirm.clock import Moment
from permitry.confirm.response import ToolConfirmationResponse
from permitry.confirm.stored_ledger import StoredLedger
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.errors import LedgerError, StoreError
from permitry.guard import Guard
from permitry.ledgers import ledger_at, questions_at
from permitry.outcome import Cause, Permit, Refusal
from permitry.session import Session


def test_what_was_asked_is_not_forgotten(path: Path) -> None:
    """The question stays as it is, also where the rules would allow the call by now."""
    first = asked(fresh(path))
    guards = [fresh(path), fresh(path, ALLOWS)]
    for guard in guards:
        again = asked(guard)
        assert (again.id, again.request, again.decision) == (first.id, first.request, first.decision)
    assert isinstance(guards[1].answer(first.id, YES), Permit)


def test_what_was_answered_is_not_asked_again(path: Path) -> None:
    """An answer that no one has taken yet is taken then, once."""
    asked(fresh(path))
    respond(path)
    guards = [fresh(path), fresh(path)]
    assert isinstance(guards[0].check(CALL), Permit)
    for guard in (guards[1], fresh(path)):
        outcome = guard.check(CALL)
        assert isinstance(outcome, Refusal)
        assert outcome.cause is Cause.HANDLED


@pytest.mark.parametrize("is_taken", [False, True])
@pytest.mark.parametrize("rules", [ASKS, ALLOWS, BLOCKS])
def test_a_no_stays_one(path: Path, rules: str, *, is_taken: bool) -> None:
    """Whatever the rules say by now."""
    guard = fresh(path)
    asked(guard)
    respond(path, NO)
    if is_taken:
        guard.check(CALL)
    outcome = fresh(path, rules).check(CALL)
    assert isinstance(outcome, Refusal)
    assert outcome.cause is Cause.DECLINED


def test_a_yes_lifts_no_block(path: Path) -> None:
    """A rule that is there by now counts."""
    asked(fresh(path))
    respond(path)
    outcome = fresh(path, BLOCKS).check(CALL)
    assert isinstance(outcome, Refusal)
    assert outcome.cause is Cause.POLICY


def test_a_yes_is_for_the_tool_that_was_shown(path: Path) -> None:
    """One that is declared otherwise by now does not run, nor does one that is not declared any more."""
    for number, spec in enumerate((None, ToolSpec("write", "another"))):
        session = Session(id=f"s{number}")
        asked(fresh(path, session=session), spec=ToolSpec("write", "as it was"))
        respond(path)
        assert isinstance(fresh(path, session=Session(id=session.id)).check(CALL, spec), Refusal)


def test_a_yes_is_for_its_session_and_agent(path: Path) -> None:
    """And its call, with its id."""
    asked(fresh(path))
    respond(path)
    other = Session(id="s2")
    asked(fresh(path, session=other))
    asked(fresh(path, session=Session(id="s1", agent="sub")))
    asked(fresh(path), CALL.with_id("c2"))
    asked(fresh(path), ToolCall("write", {"path": "b"}, call_id="c1"))


def test_a_yes_grows_old(path: Path, clock: list[Moment]) -> None:
    """It counts for as long again after its deadline; a question without an answer only until then."""
    for after, answered, wanted in ((150, True, Permit), (250, True, Refusal), (150, False, Refusal)):
        clock[0] = Moment(1_000.0, "boot", 50.0)
        name = f"{after}{answered}"

        def restarted(name: str = name) -> Guard:
            ledger = StoredLedger(questions_at(path), redacted, lifetime=100.0, clock=lambda: clock[0])
            return fresh(path, ledger=ledger, session=Session(id=name))

        asked(restarted())
        if answered:
            respond(path)
        clock[0] = clock[0].after(after)
        assert isinstance(restarted().check(CALL), wanted)
        questions_at(path).expire(clock[0])


class Away:
    """Questions in a store that fails."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def fail(*_: object) -> None:
            raise StoreError("the disk is full")

        return fail


@pytest.fixture
def breaking(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Guard, Callable[[], None]]:
    """Return a guard, and what makes its store fail from now on."""
    ledger = ledger_at(path)

    def fail() -> None:
        monkeypatch.setattr(ledger, "store", Away())

    return fresh(path, ledger=ledger), fail


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
    assert guard.ledger.answer(ask.id) is None
    assert guard.ledger.expire() == []
    assert isinstance(guard.check(CALL), Refusal)


def test_too_many_questions_are_refused_and_late_ones_make_room(path: Path, clock: list[Moment]) -> None:
    """Those of a process that is gone are closed as well."""
    ledger = StoredLedger(questions_at(path), redacted, lifetime=100.0, most=2, clock=lambda: clock[0])
    guard = fresh(path, ledger=ledger)
    other = StoredLedger(questions_at(path), redacted, lifetime=100.0, clock=lambda: clock[0])
    asked(fresh(path, ledger=other))
    asked(guard, CALL.with_id("c2"))
    assert len(ledger) == 1
    outcome = guard.check(CALL.with_id("c3"))
    assert isinstance(outcome, Refusal)
    assert outcome.cause is Cause.QUESTIONS
    clock[0] = clock[0].after(101)
    asked(guard, CALL.with_id("c4"))
    assert [row["closed_at"] is None for row in closed(path)] == [False, False, True]
    assert isinstance(guard.check(CALL.with_id("c2")), Refusal)


def test_an_answer_that_cannot_be_kept_is_none(path: Path) -> None:
    """Its arguments hold themselves."""
    guard = fresh(path)
    ask = asked(guard)
    circle: dict[str, object] = {}
    circle["self"] = circle
    assert isinstance(guard.answer(ask.id, ToolConfirmationResponse(True, arguments=circle)), Refusal)
    assert isinstance(guard.answer(ask.id, ToolConfirmationResponse(True, arguments={"x": object()})), Refusal)


def test_a_record_that_fails_closes_the_question(path: Path) -> None:
    """What was not recorded is not asked."""

    class Full:
        def record(self, event: str, call: ToolCall, /, **_: object) -> None:
            del call
            if event == "asked":
                raise OSError("full")

    assert isinstance(fresh(path, recorder=Full()).check(CALL), Refusal)
    assert closed(path)[0]["closed_at"]


def test_of_two_processes_that_both_know_of_a_question_one_takes_its_answer(path: Path) -> None:
    """The call runs once."""
    guards = [fresh(path), fresh(path)]
    asks = [asked(guard) for guard in guards]
    assert asks[0].id == asks[1].id
    respond(path)
    assert [isinstance(guard.check(CALL), Permit) for guard in guards] == [True, False]
    other = CALL.with_id("c2")
    asks = [asked(guard, other) for guard in guards]
    outcomes = [guard.answer(ask.id, YES) for guard, ask in zip(guards, asks, strict=True)]
    assert [isinstance(outcome, Permit) for outcome in outcomes] == [True, False]
