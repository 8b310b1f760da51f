"""Whatever happens to processes, the store and the clocks, no window holds more uses than a shared budget allows."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from permitry.core.shared import Limit
from permitry.errors import StoreError
from permitry.store.counters import StoredCounters, Window
from permitry.store.leases import Counters
from permitry.store.migrations import MIGRATIONS

SECONDS = 640.0
PROCESSES = 3
_counts = st.one_of(st.integers(1, 8), st.integers(1, 80))
# A lease is five seconds long, and a step of the window half of that.
_waits = st.sampled_from([1.0, 2.6, 4.9, 5.1, SECONDS - 5.0, SECONDS - 2.0, SECONDS, SECONDS + 2.6])
_process = st.integers(0, PROCESSES - 1)
_step = st.one_of(
    st.tuples(st.just("take"), _process, _counts),
    st.tuples(st.just("take"), _process, _counts),
    st.tuples(st.just("wait"), _waits, st.none()),
    st.tuples(st.just("wait"), _waits, st.none()),
    st.tuples(st.just("wait"), st.floats(0.0, SECONDS), st.none()),
    st.tuples(st.just("set the clock"), st.floats(-2 * SECONDS, 0.0), st.none()),
    st.tuples(st.just("crash"), _process, st.none()),
    st.tuples(st.just("close"), _process, st.none()),
    st.tuples(st.just("lose"), st.sampled_from(["", "the call", "the answer"]), st.none()),
)


@attrs.define
class World:
    """A store in memory, the clocks, and the uses that happened."""

    wall: float = 10_000.0
    steady: float = 0.0
    lost: str = ""
    connection: sqlite3.Connection = attrs.field(factory=lambda: sqlite3.connect(":memory:", isolation_level=None))

    def __attrs_post_init__(self) -> None:
        """Make the table of shared budgets, and a clock that a test sets."""
        self.connection.execute(MIGRATIONS[2][0])
        self.connection.create_function("wall", 0, lambda: self.wall)
        self.connection.execute("CREATE TEMP VIEW wall_clock AS SELECT wall() AS seconds")

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection."""
        yield self.connection

    @contextlib.contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection; the call to the store, or its answer, may be lost."""
        if self.lost == "the call":
            raise StoreError("lost")
        yield self.connection
        if self.lost == "the answer":
            raise StoreError("lost")

    @contextlib.contextmanager
    def watch(self, pause: float) -> Iterator[Callable[[float], None]]:
        """Yield what does not wait: of a protocol."""
        del pause
        yield lambda _: None

    def clock(self) -> tuple[float, float]:
        """Return the time of both clocks."""
        return self.wall, self.steady

    @property
    def now(self) -> float:
        """The latest time that the store has seen: a clock that is behind it is not believed."""
        row = self.connection.execute("SELECT uses FROM shared_budget").fetchone()
        return max(self.wall, Window.of(row and row[0]).seen)


def _used(world: World, processes: list[Counters], limit: Limit, steps: Any) -> Iterator[float]:  # noqa: ANN401 -- of Hypothesis
    """Yield the time of each use that happens."""
    for name, value, count in steps:
        if name == "take":
            for _ in range(count):
                with contextlib.suppress(StoreError):
                    if processes[value].charge([limit], [limit]):
                        yield world.now
        elif name == "wait":
            world.wall, world.steady = world.wall + value, world.steady + value
        elif name == "set the clock":
            world.wall += value
        elif name == "lose":
            world.lost = value
        else:
            if name == "close":
                processes[value].close()
            processes[value] = Counters(StoredCounters(world), "alice", clock=world.clock)


@given(most=st.integers(1, 80), steps=st.lists(_step, max_size=60))
def test_no_window_holds_more_than_the_budget(most: int, steps: Any) -> None:  # noqa: ANN401 -- as above
    """Takes, ends of leases, crashes, lost calls and answers, and clocks that are set back, in any order."""
    _check(most, steps)


@given(
    most=st.integers(50, 80),
    first=st.integers(2, 5),
    pause=st.floats(2.6, 4.9),
    rest=st.sampled_from([SECONDS - 4.0, SECONDS - 2.0, SECONDS]),
)
def test_the_last_use_of_a_lease_counts_for_the_whole_window(most: int, first: int, pause: float, rest: float) -> None:
    """Also where all others are free before it is."""
    _check(most, [("take", 0, first), ("wait", pause, 0), ("take", 0, 1), ("wait", rest, 0), ("take", 1, most)])


def _check(most: int, steps: Any) -> None:  # noqa: ANN401 -- as above
    world = World()
    processes = [Counters(StoredCounters(world), "alice", clock=world.clock) for _ in range(PROCESSES)]
    limit = Limit("web", "organisation", most, SECONDS)
    times = list(_used(world, processes, limit, steps))
    world.connection.close()
    for place, end in enumerate(times):
        assert sum(end - SECONDS < at for at in times[: place + 1]) <= most


@given(most=st.integers(1, 120), steps=st.lists(st.tuples(_process, _counts), max_size=60))
def test_all_of_a_budget_can_be_used(most: int, steps: list[tuple[int, int]]) -> None:
    """Where no process crashes, and each gives back what it did not use."""
    world = World()
    processes = [Counters(StoredCounters(world), "alice", clock=world.clock) for _ in range(PROCESSES)]
    limit = Limit("web", "organisation", most, SECONDS)
    ran = sum(processes[process].charge([limit], [limit]) for process, count in steps for _ in range(count))
    for process in processes:
        process.close()
    last = processes[0]
    while last.charge([limit], [limit]):
        ran += 1
    world.connection.close()
    assert ran == most


@given(
    most=st.integers(1, 5),
    uses=st.lists(st.tuples(st.floats(0.0, 3 * SECONDS), st.integers(1, 3)), max_size=12),
    now=st.floats(0.0, 4 * SECONDS),
    back=st.floats(0.0, 4 * SECONDS),
)
def test_a_clock_that_is_behind_never_permits_more(
    most: int, uses: list[tuple[float, int]], now: float, back: float
) -> None:
    """What is spent at some time is spent at any time before."""
    window = Window()
    for at, count in uses:
        window, _ = window.add(at, SECONDS, count)
    is_spent: Callable[[float], bool] = lambda moment: window.count(moment, SECONDS) >= most  # noqa: E731 -- short
    assert is_spent(now - back) or not is_spent(now)
