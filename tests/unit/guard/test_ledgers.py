"""The ledger at a address: no secrets, and names of those who may answer."""

import contextlib
import json
import time
from collections.abc import Iterator
from unittest.mock import Mock

import attrs
import pytest
from tests.unit.channels.stored_calls import CALL, YES, asked, closed, fresh, only, respond

from permitry.audit.record import user_name
from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import answer_to
from permitry.core.shared import Limit
from permitry.errors import LedgerError, StoreError
from permitry.guard.grants import Grant
from permitry.guard.ledgers import RecordedGrants, counters_at, grants_at, ledger_at, questions_at
from permitry.guard.outcome import Permit, Refusal
from permitry.guard.session import Session
from permitry.store.chained_store import Store
from permitry.store.records import recorder_at, store_at


@pytest.mark.parametrize("words", ["", "use b, password=hunter22"])
def test_nothing_secret_is_kept_once_it_is_closed(address: str, words: str) -> None:
    """Neither of the call nor of the answer."""
    guard = fresh(address)
    ask = asked(guard)
    edited = {"path": "b", "password": "hunter22"} if words else None
    assert isinstance(
        guard.answer(ask.id, ToolConfirmationResponse(True, instructions=words, arguments=edited)), Permit
    )
    assert "hunter22" not in json.dumps(closed(address))


def test_only_those_who_may_answer_do(address: str) -> None:
    """Where they are named."""
    guard = fresh(address, ledger=ledger_at(address, approvers=["bob"]))
    asked(guard)
    with pytest.raises(LedgerError, match="`ann` may not"):
        respond(address)
    answer_to(questions_at(address), only(address), YES, by="bob")
    assert isinstance(guard.check(CALL), Permit)


def test_grants_are_in_the_same_store(address: str) -> None:
    """For the principal that is named."""
    asked(fresh(address, grants=grants_at(address)))
    grants_at(address).store.add(Grant('tools = ["write"]', digest=CALL.digest, principal="ann").row())
    other = Session(id="s2")
    assert isinstance(fresh(address, session=other, grants=grants_at(address, principal="ann")).check(CALL), Permit)


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """Return an open store."""
    with contextlib.closing(store_at(address)) as store:
        yield store


def test_who_grants_and_revokes_is_recorded(store: Store) -> None:
    """With what is granted, for whom and how long, without secrets: a grant that has ended is forgotten."""
    meant = Grant(
        'when.command = ["x --password=hunter22"]', agent="main", session="s1", reason="now", granted_by="ann"
    )
    RecordedGrants(store).give(attrs.evolve(meant, uses_left=2, deadline=Moment.now().after(60.0)))
    assert [RecordedGrants(store).revoke(meant.id, "bob") for _ in range(2)] == [True, False]
    given, revoked = (json.loads(each.body) for each in store.records())
    for body in (given, revoked):
        assert body.pop("at").endswith("+00:00")
    assert 59.0 < given.pop("seconds") <= 60.0
    assert given == {
        "event": "granted", "grant": meant.id, "by": "ann", "permits": 'when.command = ["x --password=[redacted]"]',
        "agent": "main", "for_session": "s1", "reason": "now", "uses_left": 2,
    }  # fmt: skip
    assert revoked == {"event": "revoked", "grant": meant.id, "by": "bob"}


def test_a_grant_that_cannot_be_recorded_does_not_count(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else is forgotten."""
    RecordedGrants(store).give(Grant('tools = ["read"]', uses_left=0))
    monkeypatch.setattr(type(store), "append", Mock(side_effect=StoreError("full")))
    with pytest.raises(StoreError):
        RecordedGrants(store).give(Grant('tools = ["write"]'))
    assert [row["rule"] for row in grants_at(store).store.all()] == ['tools = ["read"]']


def test_a_host_with_a_deadline_waits_no_longer_for_others(address: str) -> None:
    """What it asks about ends in time, and is blocked."""
    recorder = recorder_at(address, patience=0.3)
    guard = fresh(address, recorder=recorder, ledger=ledger_at(address, patience=0.3))
    with contextlib.closing(store_at(address)) as other, other._lock_chain():  # noqa: SLF001 -- as long as a writer can
        since = time.monotonic()
        outcome = guard.check(CALL)
        assert time.monotonic() - since < 5
    assert isinstance(outcome, Refusal)
    recorder.close()


def test_shared_budgets_are_in_the_same_store(address: str) -> None:
    """For the principal that is named, or the user of the system."""
    mine = Limit("web", "principal", 5, 60.0)
    counters_at(address).charge([mine])
    assert [counters_at(address, principal=name).uses(mine) for name in (None, user_name(), "ann")] == [1, 1, 0]
