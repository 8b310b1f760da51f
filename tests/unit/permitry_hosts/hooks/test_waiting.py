"""Waiting for an answer, and the processes that wait."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.channels.stored_calls import YES, asked, fresh, respond

from permitry.channels.clock import Moment
from permitry.errors import StoreError
from permitry.store.questions import StoredQuestions
from permitry.store.sqlite import SqliteStore
from permitry_hosts.hooks.host import Verb
from permitry_hosts.hooks.stores import Places
from permitry_hosts.hooks.waiting import deny_unanswered, wait_for_answer


@pytest.fixture
def questions(tmp_path: Path) -> Iterator[StoredQuestions]:
    """Return the questions of an empty store."""
    with closing(SqliteStore(tmp_path / "s.db")) as store:
        yield StoredQuestions(store)


def test_waiting_ends_with_the_question(address: str, questions: StoredQuestions) -> None:
    """Of one that is unknown, closed or answered nothing is to be waited for."""
    guard = fresh(address)
    name, begun = asked(guard).id, time.monotonic()
    respond(address, YES)
    wait_for_answer(guard.ledger.store, name, 20)  # type: ignore[attr-defined]  # a ledger in a store
    guard.ledger.store.close(name, Moment.now())  # type: ignore[attr-defined]  # as above
    wait_for_answer(guard.ledger.store, name, 20)  # type: ignore[attr-defined]  # as above
    wait_for_answer(questions, "unknown", 20)
    assert time.monotonic() - begun < 10


def test_no_one_waits_for_longer_than_wanted(address: str) -> None:
    """The question stays open."""
    guard = fresh(address)
    name, begun = asked(guard).id, time.monotonic()
    wait_for_answer(guard.ledger.store, name, 0.3)  # type: ignore[attr-defined]  # as above
    assert 0.3 <= time.monotonic() - begun < 10
    assert guard.ledger.find(name) is not None


def test_a_store_that_is_away_is_not_waited_for(questions: StoredQuestions) -> None:
    """The caller blocks the call."""
    questions.database.close()  # type: ignore[attr-defined]  # a store
    with pytest.raises(StoreError):
        wait_for_answer(questions, "a", 20)


def test_the_user_reads_how_to_answer(tmp_path: Path) -> None:
    """By the id of the question, and with the store where it is another one than that of the user."""
    ask = asked(fresh(tmp_path / "a b.db"))
    own = deny_unanswered(ask, Places())
    other = deny_unanswered(ask, Places(str(tmp_path / "a b.db")))
    assert own.verb is other.verb is Verb.DENY
    assert f"answer `permitry approve {ask.id}` in another terminal" in own.text
    assert f"answer `permitry approve {ask.id} --store '{tmp_path / 'a b.db'}'` in another terminal" in other.text
