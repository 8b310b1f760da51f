"""Shared budgets in a store: whoever takes, no more is taken than there is."""

import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from tests.tables import for_each
from tests.unit.store.conftest import Place

from permitry.errors import StoreError
from permitry.store.counters import Account, StoredCounters, Window
from permitry.store.records import is_address

ALL = Account("web", "organisation", "")
HOUR = 3600.0
STEP = HOUR / 256
TAKING = """
import sys
from permitry.store.records import store_at
from permitry.store.counters import Account, StoredCounters
counters = StoredCounters(store_at(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
taken = (counters.take(Account("web", "organisation", ""), 100, 3600.0, wanted=4, length=1.0) for _ in range(40))
print(sum(each.count for each in taken if each is not None))
"""


def _at(place: Place, seconds: float) -> None:
    """Set the clock of a store."""
    kind = "::double precision" if is_address(place.address) else ""
    place.change("DROP VIEW wall_clock")
    place.change(f"CREATE VIEW wall_clock AS SELECT {seconds}{kind} AS seconds")


@pytest.fixture
def counters(new_place: Callable[[], Place]) -> StoredCounters:
    """Return the shared budgets of an empty store."""
    return StoredCounters(new_place().store)


def test_a_budget_is_taken_until_it_is_spent(counters: StoredCounters) -> None:
    """Of another rule, or by another name, there is still all of it."""
    got = [counters.take(ALL, 2, HOUR) for _ in range(3)]
    assert [each and each.used for each in got] == [1, 2, None]
    assert counters.count(ALL, HOUR) == 2
    for other in (ALL._replace(rule="mail"), ALL._replace(kind="principal"), ALL._replace(name="x")):
        assert counters.count(other, HOUR) == 0
        assert counters.take(other, 1, HOUR) is not None


def test_what_is_taken_at_once_is_a_small_part_of_what_is_left(counters: StoredCounters) -> None:
    """The last ones go one by one."""
    sizes = []
    while (got := counters.take(ALL, 64, HOUR, wanted=100, length=1.0)) is not None:
        sizes.append(got.count)
    assert sizes[:2] == [4, 3]
    assert sizes[-31:] == [1] * 31
    assert sum(sizes) == 64


def test_a_use_beyond_the_budget_is_counted(counters: StoredCounters) -> None:
    """A human approved it."""
    assert counters.take(ALL, 1, HOUR) is not None
    counters.add(ALL, HOUR)
    assert counters.count(ALL, HOUR) == 2


def test_what_did_not_happen_is_given_back(counters: StoredCounters) -> None:
    """By itself, or with the next that is taken; also where that finds the budget spent."""
    got = counters.take(ALL, 64, HOUR, wanted=4, length=1.0)
    assert got is not None
    counters.give_back(ALL, got.at, 1)
    assert counters.count(ALL, HOUR) == 3
    assert counters.take(ALL, 1, HOUR, returned=(got.at, 1)) is None
    assert counters.count(ALL, HOUR) == 2
    assert counters.take(ALL, 64, HOUR, returned=(got.at, 2)) is not None
    assert counters.count(ALL, HOUR) == 1


def test_the_clock_is_that_of_the_store(new_place: Callable[[], Place]) -> None:
    """A window slides by it, and where it is set back nothing becomes free."""
    place = new_place()
    counters = StoredCounters(place.store)
    _at(place, 10_000.0)
    assert counters.take(ALL, 1, HOUR) is not None
    _at(place, 9_000.0)
    assert counters.take(ALL, 1, HOUR) is None
    _at(place, 9_999.0 + HOUR)
    assert counters.take(ALL, 1, HOUR) is None
    _at(place, 10_020.0 + HOUR)
    assert counters.take(ALL, 1, HOUR) is not None


def test_the_clock_of_a_new_store_is_right(counters: StoredCounters) -> None:
    """In seconds since 1970, as close as it matters."""
    before = time.time()
    got = counters.take(ALL, 1, 1.0)
    assert got is not None
    assert before - 0.1 <= got.at <= time.time() + 0.1


def test_several_processes_take_no_more_than_there_is(new_place: Callable[[], Place]) -> None:
    """And all of it, as what is left goes one by one."""
    place = new_place()
    command = [sys.executable, "-c", TAKING, place.address]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert sum(int(process.communicate(timeout=60)[0]) for process in processes) == 100
    assert StoredCounters(place.store).count(ALL, HOUR) == 100


def test_a_store_that_is_away_is_an_error(new_place: Callable[[], Place]) -> None:
    """Whatever is asked of it; so is one with a count that cannot be read."""
    place = new_place()
    counters = StoredCounters(place.store)
    assert counters.take(ALL, 1, HOUR) is not None
    place.change("UPDATE shared_budget SET uses = 'x'")
    with pytest.raises(StoreError, match="cannot be read"):
        counters.count(ALL, HOUR)
    place.store.close()
    for act in (
        lambda: counters.count(ALL, HOUR),
        lambda: counters.take(ALL, 1, HOUR),
        lambda: counters.add(ALL, HOUR),
        lambda: counters.give_back(ALL, 0.0, 1),
    ):
        with pytest.raises(StoreError, match="is closed"):
            act()


def test_a_use_counts_for_the_whole_window() -> None:
    """And is free at most one step later."""
    window, at = Window().add(1_000.0, HOUR, 3)
    assert 1_000.0 <= at <= 1_000.0 + STEP
    assert window.count(1_000.0, HOUR) == window.count(1_000.0 + HOUR - 0.001, HOUR) == 3
    assert window.count(1_000.0 + HOUR + STEP, HOUR) == 0


def test_uses_that_may_happen_later_count_until_later() -> None:
    """From the end of their lease."""
    window, at = Window().add(1_000.0, HOUR, 2, 5 * STEP)
    assert at >= 1_000.0 + 5 * STEP
    assert window.count(1_000.0 + 5 * STEP - 0.001 + HOUR, HOUR) == 2


def test_a_clock_that_is_set_back_frees_nothing() -> None:
    """The latest time that was seen counts, also for uses that are taken meanwhile."""
    window, _ = Window().add(10_000.0, HOUR, 1)
    window, at = window.add(100.0, HOUR, 1)
    assert at >= 10_000.0
    assert window.count(100.0, HOUR) == window.count(9_999.0 + HOUR, HOUR) == 2


def test_what_is_given_back_is_free_at_once() -> None:
    """What is not there any more is not."""
    window, at = Window().add(1_000.0, HOUR, 3)
    assert window.remove(at, 2).count(1_000.0, HOUR) == 1
    assert window.remove(at, 3).uses == ()
    assert window.remove(at + 1, 2) == window


def test_the_longest_window_is_remembered() -> None:
    """Rules of two versions may count in windows of different lengths."""
    window, _ = Window().add(1_000.0, 24 * HOUR, 1)
    window, _ = window.add(1_000.0 + 2 * HOUR, HOUR, 1)
    assert window.count(1_000.0 + 2 * HOUR, HOUR) == 1
    assert window.count(1_000.0 + 2 * HOUR, 24 * HOUR) == 2


def test_many_uses_take_little_room() -> None:
    """A text of a bounded length, whatever the number of uses."""
    window = Window()
    for number in range(20_000):
        window, _ = window.add(1e9 + number, HOUR, 1)
    assert len(window.uses) <= 258
    assert len(window.text) < 8_000
    assert HOUR <= window.count(1e9 + 19_999, HOUR) <= HOUR + STEP + 1


def test_a_text_is_read_as_it_was_written() -> None:
    """Also where there is none yet."""
    window, _ = Window().add(1_000.1, HOUR, 3)
    assert Window.of(window.text) == window
    assert Window.of(None) == Window()


@for_each("text", ["", "[]", "{}", "[1, 2, 3]", '["a", 1, []]', "[NaN, 1, []]", "[1, 1, [[Infinity, 1]]]"])
def test_another_text_is_an_error(text: str) -> None:
    """Never an empty window."""
    with pytest.raises(StoreError, match="shared budget in the store"):
        Window.of(text)
