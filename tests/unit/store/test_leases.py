"""Shared budgets as a process counts them: it asks the store seldom, and never uses more than it was given."""

import copy
import os
import threading
from pathlib import Path
from typing import Any

import attrs
import pytest

from permitry.core.shared import Limit, SharedCounts
from permitry.errors import StoreError, UnevaluableError
from permitry.store.counters import Account, StoredCounters
from permitry.store.leases import Counters
from permitry.store.sqlite import SqliteStore

LIMIT = Limit("web", "organisation", 1_000, 3600.0)
SMALL = attrs.evolve(LIMIT, rule="mail", most=2)
MINE = attrs.evolve(LIMIT, by="principal")


@attrs.define
class Clock:
    """A clock that a test sets."""

    wall: float = 5_000.0
    steady: float = 100.0

    def __call__(self) -> tuple[float, float]:
        """Return the time of both clocks."""
        return self.wall, self.steady

    def go(self, seconds: float) -> None:
        """Let time pass."""
        self.wall += seconds
        self.steady += seconds


@attrs.define
class Noting:
    """The budgets of a store, with a note of what was asked; it fails while it is away."""

    kept: StoredCounters
    asked: list[str] = attrs.field(factory=list)
    away: set[str] = attrs.field(factory=set)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- a method of any kind
        def act(*values: object, **named: object) -> object:
            self.asked.append(name)
            if name in self.away:
                raise StoreError("the disk is full")
            return getattr(self.kept, name)(*values, **named)

        return act


@pytest.fixture
def store(tmp_path: Path) -> Noting:
    """Return the budgets of an empty store."""
    return Noting(StoredCounters(SqliteStore(tmp_path / "a.db")))


def _counters(store: Noting, principal: str = "alice", **parts: Any) -> Counters:  # noqa: ANN401 -- fields of the class
    return Counters(store, principal, **{"clock": Clock(), **parts})  # type: ignore[arg-type]  # in place of the store


def _taken(counters: Counters, limit: Limit = LIMIT, most: int = 5_000) -> int:
    """Return how many calls ran until the budget was spent."""
    return next(number for number in range(most) if not counters.charge([limit], [limit]))


def test_all_of_a_budget_is_used_in_a_few_round_trips(store: Noting) -> None:
    """A process that uses up what it takes takes more at once; of the last ones it takes one by one."""
    assert _taken(_counters(store)) == 1_000
    assert len(store.asked) < 120
    assert store.kept.count(Account("web", "organisation", ""), 3600.0) == 1_000


def test_who_needs_little_takes_one_by_one(store: Noting) -> None:
    """Nothing is kept from others."""
    clock = Clock()
    counters = _counters(store, clock=clock)
    for _ in range(5):
        assert counters.charge([LIMIT], [LIMIT])
        clock.go(60.0)
    assert store.asked == ["take"] * 5
    assert counters.uses(LIMIT) == 5


@pytest.mark.parametrize(("wall", "steady"), [(11.0, 0.0), (0.0, 11.0), (-1.0, 0.1), (11.0, 11.0)])
def test_a_lease_is_over_in_time(store: Noting, wall: float, steady: float) -> None:
    """By the clock of the wall, where that was set back, and by the one that goes on; what is left is given back."""
    clock = Clock()
    counters = _counters(store, clock=clock)
    for _ in range(5):
        assert counters.charge([LIMIT], [LIMIT])
    assert store.asked == ["take"] * 3
    clock.wall, clock.steady = clock.wall + wall, clock.steady + steady
    assert counters.charge([LIMIT], [LIMIT])
    assert store.asked == ["take"] * 4
    assert store.kept.count(Account("web", "organisation", ""), 3600.0) == 6


def test_what_is_left_is_given_back_at_the_end(store: Noting) -> None:
    """Once; where the store is away it is lost, which is no error."""
    counters = _counters(store)
    for _ in range(5):
        counters.charge([LIMIT], [LIMIT])
    assert store.kept.count(Account("web", "organisation", ""), 3600.0) == 7
    counters.close()
    counters.close()
    assert store.kept.count(Account("web", "organisation", ""), 3600.0) == 5
    for _ in range(5):
        counters.charge([LIMIT], [LIMIT])
    store.away.add("give_back")
    counters.close()
    assert store.kept.count(Account("web", "organisation", ""), 3600.0) == 12


def test_principals_have_budgets_of_their_own(store: Noting) -> None:
    """Organisations as well; the rest is one."""
    alice, bob = _counters(store), _counters(store, "bob", organisation="b")
    for counters in (alice, bob):
        assert counters.charge([MINE, LIMIT], [MINE])
        assert (counters.uses(MINE), counters.uses(LIMIT)) == (1, 1)
    assert _counters(store, "bob").uses(MINE) == 1
    assert [alice.whose(MINE), alice.whose(LIMIT), bob.whose(LIMIT)] == [
        "principal `alice`",
        "organisation",
        "organisation `b`",
    ]


def test_of_several_budgets_all_are_charged_or_none(store: Noting) -> None:
    """What was taken for one is used by the next call, or given back."""
    counters = _counters(store)
    assert _taken(counters, SMALL) == 2
    assert not counters.charge([LIMIT, SMALL], [LIMIT, SMALL])
    assert counters.charge([LIMIT], [LIMIT])
    assert counters.uses(LIMIT) == 1


def test_what_a_decision_did_not_rely_on_is_charged_beyond(store: Noting) -> None:
    """A human approved it, or another rule did."""
    counters = _counters(store)
    assert _taken(counters, SMALL) == 2
    assert counters.charge([SMALL])
    assert counters.uses(SMALL) == 3


def test_a_store_that_is_away_counts_nothing(store: Noting) -> None:
    """A call is not counted, and the budget has no answer: also for a while where it can be read, but not written."""
    clock = Clock()
    counters = _counters(store, clock=clock)
    store.away.add("take")
    with pytest.raises(StoreError, match="disk is full"):
        counters.charge([LIMIT], [LIMIT])
    with pytest.raises(UnevaluableError, match="cannot be counted: the disk is full"):
        counters.uses(LIMIT)
    clock.go(1.0)
    assert counters.uses(LIMIT) == 0
    store.away = {"count"}
    with pytest.raises(UnevaluableError, match="cannot be counted: the disk is full"):
        counters.uses(LIMIT)
    assert counters.charge([LIMIT], [LIMIT])
    store.away = {"add"}
    assert _taken(counters, SMALL) == 2
    with pytest.raises(StoreError, match="disk is full"):
        counters.charge([SMALL])


def test_what_may_have_been_given_back_is_not_given_back_again(store: Noting) -> None:
    """The store may have done so, and not have answered."""
    clock = Clock()
    counters = _counters(store, clock=clock)
    for _ in range(5):
        counters.charge([LIMIT], [LIMIT])
    clock.go(11.0)
    store.away.add("take")
    with pytest.raises(StoreError):
        counters.charge([LIMIT], [LIMIT])
    store.away.clear()
    store.asked.clear()
    counters.close()
    assert store.asked == []


def test_what_was_taken_before_a_fork_is_of_one_process(store: Noting, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one takes its own."""
    counters = _counters(store)
    for _ in range(5):
        counters.charge([LIMIT], [LIMIT])
    process = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: process + 1)
    store.asked.clear()
    counters.charge([LIMIT], [LIMIT])
    assert store.asked == ["take"]


def test_threads_share_a_lease(store: Noting) -> None:
    """And none of its uses twice."""
    counters = _counters(store)
    ran: list[int] = []
    threads = [threading.Thread(target=lambda: ran.append(_taken(counters))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(ran) == 1_000


def test_a_snapshot_answers_as_it_did_before(store: Noting) -> None:
    """Whatever happens meanwhile; also that there was no answer."""
    counters = _counters(store)
    shot = counters.snapshot()
    assert isinstance(shot, SharedCounts)
    assert not shot.relies_on(SMALL)
    assert shot.uses(SMALL) == 0
    assert _taken(counters, SMALL) == 2
    assert shot.uses(SMALL) == 0
    assert shot.relies_on(SMALL)
    assert shot.snapshot() is shot
    assert shot.whose(MINE) == "principal `alice`"
    assert counters.snapshot().uses(SMALL) == 2
    store.away.add("count")
    lost = counters.snapshot()
    for _ in range(2):
        with pytest.raises(UnevaluableError):
            lost.uses(SMALL)
        store.away.clear()
    assert not lost.relies_on(SMALL)


def test_a_copy_of_a_snapshot_knows_nothing(store: Noting) -> None:
    """Without counts each shared budget counts as spent."""
    assert copy.deepcopy(_counters(store).snapshot()) is None


@pytest.mark.parametrize("names", [("",), (" ",), ("a\nb",), ("a", "b\0"), (7,)])
def test_a_name_can_be_printed(store: Noting, names: tuple[Any, ...]) -> None:
    """It is shown where a budget is explained."""
    with pytest.raises(ValueError, match="must be a printable name"):
        Counters(store, *names)  # type: ignore[arg-type]  # in place of the store
