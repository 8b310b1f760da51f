"""One write for calls that come together, in every store."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.unit.store.conftest import Place, body

from permitry.errors import StoreError
from permitry.store.group_commit import GroupCommit


def test_calls_that_come_together_share_a_write(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets its own number, and each is kept once."""
    writes: list[int] = []
    write = GroupCommit._write_all  # noqa: SLF001 -- counted

    def counted(self: GroupCommit, batch: Sequence[Any]) -> None:
        writes.append(len(batch))
        write(self, batch)

    monkeypatch.setattr(GroupCommit, "_write_all", counted)
    with ThreadPoolExecutor(16) as pool:
        numbers = list(pool.map(lambda number: place.store.append(body(number)), range(200)))
    assert dict(zip(numbers, map(body, range(200)), strict=True)) == {
        each.number: each.body for each in place.store.records(after=5)
    }
    assert sum(writes) == 200
    assert len(writes) < 200


def test_an_interrupt_is_a_failure_for_those_who_wait(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """And goes on to who was interrupted."""
    with monkeypatch.context() as patch:
        patch.setattr(type(place.store), "_write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            place.store.append(body(5))
    assert place.store.append(body(6)) == 6
    assert place.store.verify() == 6


def test_no_call_waits_longer_than_its_patience(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever others of its process do; a record that was given up is not kept later."""
    place.store.patience = 0.2
    entered, write = threading.Event(), GroupCommit._write_all  # noqa: SLF001 -- held up

    def slow(self: GroupCommit, batch: Sequence[Any]) -> None:
        entered.set()
        time.sleep(0.6)
        write(self, batch)

    monkeypatch.setattr(GroupCommit, "_write_all", slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(place.store.append, body(5))
        assert entered.wait(5)
        since = time.monotonic()
        with pytest.raises(StoreError, match="busy"):
            place.store.append(body(6))
        with pytest.raises(StoreError, match="busy"), place.store.read():
            pass
        assert time.monotonic() - since < 0.6
        assert first.result(5) == 6
    assert place.store.append(body(7)) == 7
    assert place.store.verify() == 7
