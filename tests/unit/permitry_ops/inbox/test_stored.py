"""Questions of a store, seen and answered in the inbox."""

import contextlib
import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest
from tests.unit.channels.stored_calls import CALL, NO, YES, asked, fresh

from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.errors import LedgerError
from permitry.guard.grants import Grant
from permitry.guard.guard import Guard
from permitry.guard.ledgers import RecordedGrants, grants_at, ledger_at, questions_at
from permitry.guard.outcome import Ask, Permit, Ready
from permitry.guard.session import Session
from permitry.store.grants import StoredGrants
from permitry.store.sqlite import SqliteStore
from permitry_ops.inbox.stored import StoreInbox


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the store is."""
    return tmp_path / "permitry.db"


@pytest.fixture
def guard(path: Path) -> Guard:
    """Return a guard of another process, with a question."""
    return fresh(path)


@pytest.fixture
def question(guard: Guard, path: Path) -> Ask:
    """Return its question, asked by a process that is not this one."""
    ask = asked(guard)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE question SET above = '[1]'")
    connection.close()
    return ask


@pytest.fixture
def inbox(path: Path, question: Ask) -> StoreInbox:
    """Return the inbox of the store."""
    del question
    return StoreInbox(questions_at(path))


def test_a_question_is_listed_without_secrets_and_found_in_full(inbox: StoreInbox) -> None:
    """The one who answers must see all of the call."""
    (listed,) = inbox.open()
    assert (listed.tool, listed.rule, listed.outcome) == ("write", "ask", "")
    assert "hunter22" not in str(listed)
    shown = inbox.find(listed.id)
    assert shown is not None
    assert "hunter22" in shown.arguments.values()
    assert shown.digest == CALL.digest
    assert 3_500 < shown.left <= 3_600


def test_an_answer_reaches_the_one_who_asked(inbox: StoreInbox, guard: Guard, question: Ask) -> None:
    """It is bound to the call, and counts once."""
    (listed,) = inbox.open()
    inbox.answer(listed.id, listed.digest, YES, "ann")
    with pytest.raises(LedgerError):
        inbox.answer(listed.id, listed.digest, NO, "bob")
    assert inbox.open() == []
    response = guard.ledger.answer(question.id)
    assert response is not None
    assert isinstance(guard.resolve(question.id, response), Ready)
    closed = inbox.find(listed.id)
    assert closed is not None
    assert closed.outcome == "approved by ann"
    assert "hunter22" not in str(closed)


def test_edited_arguments_are_decided_by_the_one_who_asked(inbox: StoreInbox, guard: Guard, question: Ask) -> None:
    """The inbox only hands them on."""
    (listed,) = inbox.open()
    inbox.answer(listed.id, listed.digest, ToolConfirmationResponse(True, arguments={"path": "b"}), "ann")
    response = guard.ledger.answer(question.id)
    assert response is not None
    ready = guard.resolve(question.id, response)
    assert isinstance(ready, Ready)
    assert ready.call.arguments["path"] == "b"


def test_an_answer_to_another_call_is_refused(inbox: StoreInbox) -> None:
    """And one to a question that is not there."""
    (listed,) = inbox.open()
    for name, digest in ((listed.id, "0" * 64), (listed.id, ""), ("nothing", listed.digest)):
        with pytest.raises(LedgerError, match="not about the call that was shown"):
            inbox.answer(name, digest, YES, "ann")
    assert len(inbox.open()) == 1


def test_a_late_answer_is_refused(inbox: StoreInbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says that it was not answered in time."""
    (listed,) = inbox.open()
    later = Moment.now().after(3_601.0)
    monkeypatch.setattr(Moment, "now", lambda: later)
    with pytest.raises(LedgerError, match="not open"):
        inbox.answer(listed.id, listed.digest, YES, "ann")
    shown = inbox.find(listed.id)
    assert shown is not None
    assert shown.outcome.startswith("late")
    assert inbox.open() == []


def test_only_the_approvers_of_a_question_answer_it(path: Path) -> None:
    """By the name that they have logged in with."""
    asked(fresh(path, ledger=ledger_at(path, approvers=["bob"])))
    inbox = StoreInbox(questions_at(path))
    (listed,) = inbox.open()
    with pytest.raises(LedgerError):
        inbox.answer(listed.id, listed.digest, YES, "ann")
    assert listed.approvers == ("bob",)


@pytest.mark.parametrize("above", [[os.getpid()], [77]])
def test_an_agent_that_starts_an_inbox_answers_nothing(inbox: StoreInbox, path: Path, above: list[int]) -> None:
    """A question asked by this process, or by one above it, is answered elsewhere."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE question SET above = ?", (str(above),))
    connection.close()
    below = StoreInbox(inbox.store, lambda: [77])
    (listed,) = below.open()
    with pytest.raises(LedgerError, match="asked above this process"):
        below.answer(listed.id, listed.digest, YES, "ann")


def test_a_damaged_question_hides_no_other(inbox: StoreInbox, guard: Guard, path: Path) -> None:
    """It is left out of the list, and cannot be answered."""
    (first,) = inbox.open()
    asked(guard, ToolCall("write", {"path": "b"}, call_id="c2"))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE question SET call = '{}' WHERE id = ?", (first.id,))
    connection.close()
    assert [shown.arguments for shown in inbox.open()] == [{"path": "b"}]
    with pytest.raises(LedgerError, match="damaged"):
        inbox.answer(first.id, first.digest, YES, "ann")


def test_a_question_that_is_closed_says_how(inbox: StoreInbox, guard: Guard, question: Ask) -> None:
    """Also where it has no answer, or was answered by the one who asked."""
    (listed,) = inbox.open()
    guard.withdraw(question.id, "the agent has left")
    shown = inbox.find(listed.id)
    assert shown is not None
    assert shown.outcome == "closed without an answer"
    assert inbox.find("nothing") is None


def test_an_answer_where_it_was_asked_has_no_name(inbox: StoreInbox, guard: Guard, question: Ask) -> None:
    """The store does not know who sat there."""
    (listed,) = inbox.open()
    guard.resolve(question.id, NO)
    shown = inbox.find(listed.id)
    assert shown is not None
    assert shown.outcome == "rejected where it was asked"


def test_what_is_shown_is_what_the_one_who_asked_read(tmp_path: Path) -> None:
    """Its effects and its folder are in the store, with the question; the list has the folder alone."""
    spec = ToolSpec("write", roles={"path": ArgumentRole.WRITE_PATH})
    asked(fresh(tmp_path / "a.db", session=Session(workspace="/home/ann/p")), CALL, spec)
    inbox = StoreInbox(questions_at(tmp_path / "a.db"))
    (listed,) = inbox.open()
    shown = inbox.find(listed.id)
    assert shown is not None
    assert (list(listed.effects), listed.folder) == ([], "/home/ann/p")
    assert listed.age == pytest.approx(0, abs=60)
    assert [line.text for line in shown.effects] == ["write a"]


def test_an_odd_id_is_not_found_in_any_store(address: str) -> None:
    """A database refuses a text with this character."""
    inbox = StoreInbox(questions_at(address))
    assert inbox.find("\0") is None
    with pytest.raises(LedgerError, match="not about the call"):
        inbox.answer("a\0", "", YES, "ann")


@pytest.fixture
def granting(inbox: StoreInbox, path: Path) -> StoreInbox:
    """Return the inbox of a store that keeps grants."""
    return StoreInbox(inbox.store, grants=RecordedGrants(SqliteStore(path)))


def test_the_very_call_is_permitted_in_its_session(granting: StoreInbox, path: Path) -> None:
    """Another call is asked about, and so is this one in another session."""
    (listed,) = granting.open()
    granting.answer(listed.id, listed.digest, YES, "ann")
    granting.grant(listed.id, 3_600.0, "ann")
    shown = [Grant.of(row) for row in StoredGrants(SqliteStore(path)).all()]
    assert [(each.digest, each.session, each.agent, each.granted_by) for each in shown] == [
        (listed.digest, "s1", "main", "ann")
    ]
    same, other = (attrs.evolve(CALL, call_id=name) for name in ("c8", "c9"))
    guard = fresh(path, grants=grants_at(path))
    assert isinstance(guard.check(same), Permit)
    assert isinstance(guard.check(attrs.evolve(other, arguments={"path": "b"})), Ask)
    elsewhere = fresh(path, grants=grants_at(path), session=Session(id="s2"))
    assert isinstance(elsewhere.check(other), Ask)
    declared = fresh(path, grants=grants_at(path))
    assert isinstance(declared.check(attrs.evolve(CALL, call_id="c7"), ToolSpec(CALL.tool)), Ask)


@pytest.mark.parametrize("response", [NO, ToolConfirmationResponse(True, arguments={"path": "b"}), None])
def test_only_the_one_who_has_approved_grants(granting: StoreInbox, response: ToolConfirmationResponse | None) -> None:
    """Not for a rejection, an edit, an open question, one that is not there, or in the name of another."""
    (listed,) = granting.open()
    if response is not None:
        granting.answer(listed.id, listed.digest, response, "ann")
    for name, by in ((listed.id, "ann"), (listed.id, "bob"), ("nothing", "ann")):
        with pytest.raises(LedgerError):
            granting.grant(name, 60.0, by)
    assert granting.grants is not None
    assert StoredGrants(granting.grants.store).all() == []


def test_another_one_grants_nothing(granting: StoreInbox, inbox: StoreInbox) -> None:
    """And nothing is granted where grants are not kept."""
    (listed,) = granting.open()
    granting.answer(listed.id, listed.digest, YES, "ann")
    for each, by in ((granting, "bob"), (inbox, "ann")):
        with pytest.raises(LedgerError):
            each.grant(listed.id, 60.0, by)
    shown = granting.find(listed.id)
    assert shown is not None
    assert not shown.may_grant


def test_the_very_call_is_permitted_until_the_user_writes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it is asked about, and so it is where it is not known whether the user has written."""
    monkeypatch.setattr("permitry_ops.inbox.stored.os", SimpleNamespace(getpid=lambda: -1))  # another process
    path = tmp_path / "a.db"
    asked(fresh(path, session=Session(id="s1", turn="t1")))
    inbox = StoreInbox(questions_at(path), grants=RecordedGrants(SqliteStore(path)))
    (listed,) = inbox.open()
    shown = inbox.find(listed.id)
    assert shown is not None
    assert shown.has_turn
    inbox.answer(listed.id, listed.digest, YES, "ann")
    inbox.grant(listed.id, 3_600.0, "ann", is_for_request=True)

    def outcome(turn: str, name: str) -> object:
        guard = fresh(path, grants=grants_at(path), session=Session(id="s1", turn=turn))
        return guard.check(attrs.evolve(CALL, call_id=name))

    assert isinstance(outcome("t1", "c2"), Permit)
    for number, turn in enumerate(("t2", "")):
        assert isinstance(outcome(turn, f"c{number + 3}"), Ask)


def test_a_team_answers_in_any_store(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file, and in a database that several machines share: the first answer counts, and each sees it."""
    monkeypatch.setattr("permitry_ops.inbox.stored.os", SimpleNamespace(getpid=lambda: -1))  # another process
    guard = fresh(address)
    question = asked(guard)
    inboxes = [StoreInbox(questions_at(address)) for _ in range(2)]
    (listed,) = inboxes[0].open()
    inboxes[0].answer(listed.id, listed.digest, YES, "ann")
    with pytest.raises(LedgerError):
        inboxes[1].answer(listed.id, listed.digest, NO, "bob")
    shown = inboxes[1].find(listed.id)
    assert shown is not None
    assert (inboxes[1].open(), shown.outcome) == ([], "approved by ann")
    response = guard.ledger.answer(question.id)
    assert response is not None
    assert isinstance(guard.resolve(question.id, response), Ready)
