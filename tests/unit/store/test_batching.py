"""One write for calls that come together, in every store."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.unit.store.conftest import Place, body

from permitry.store.batching import Batching


def test_calls_that_come_together_share_a_write(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets its own number, and each is kept once."""
    writes: list[int] = []
    write = Batching._write_all  # noqa: SLF001 -- counted

    def counted(self: Batching, batch: Sequence[Any]) -> None:
        writes.append(len(batch))
        write(self, batch)

    monkeypatch.setattr(Batching, "_write_all", counted)
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
