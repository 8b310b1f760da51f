"""Read/write locks: tools that only read run side by side, others alone, and no lock is kept after its run."""

import asyncio
import contextvars
import itertools
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import pytest
from tests.tables import for_each

from permitry.audit.record import MemoryRecorder
from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.dispatch.limits import ReadWriteLocks, ToolLimits
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler

READS = ToolTraits(read_only=True)
Outcomes = Callable[[], list[object]]


@attrs.define
class Gauge:
    """Counts who is at work at the same time."""

    readers: int = 0
    writers: int = 0
    most_readers: int = 0
    clashes: int = 0
    lock: threading.Lock = attrs.field(factory=threading.Lock)

    def tool(self, kind: str, seconds: float) -> Callable[[dict[str, Any]], str]:
        """Return a tool that is counted while it works."""

        def run(_: dict[str, Any]) -> str:
            with self.lock:
                setattr(self, kind, getattr(self, kind) + 1)
                self.most_readers = max(self.most_readers, self.readers)
                self.clashes += self.writers > 1 or (self.writers > 0 and self.readers > 0)
            time.sleep(seconds)
            with self.lock:
                setattr(self, kind, getattr(self, kind) - 1)
            return "done"

        return run


@pytest.fixture
def gauge(registry: ToolRegistry) -> Gauge:
    """Return the gauge of two registered tools, `look` and `write`."""
    gauge = Gauge()
    registry.register(ToolSpec("look", traits=READS), gauge.tool("readers", 0.02))
    registry.register(ToolSpec("write"), gauge.tool("writers", 0.01))
    return gauge


def _all(handler: ToolHandler, names: list[str]) -> list[ToolResult]:
    with ThreadPoolExecutor(len(names)) as pool:
        return list(pool.map(lambda each: handler.handle(ToolCall(each[1], {"n": each[0]})), enumerate(names)))


def test_of_fifty_calls_readers_overlap_and_writers_do_not(
    handler: ToolHandler, gauge: Gauge, outcomes: Outcomes
) -> None:
    """From fifty threads at once."""
    results = _all(handler, [*["look"] * 40, *["write"] * 10])
    assert (all(each.ok for each in results), gauge.clashes) == (True, 0)
    assert gauge.most_readers > 1
    assert outcomes() == ["ok"] * 50


def test_on_a_loop_it_is_the_same(handler: ToolHandler, gauge: Gauge, outcomes: Outcomes) -> None:
    """Fifty tasks of one event loop."""

    async def all_of_them() -> list[ToolResult]:
        names = [*["write"] * 5, *["look"] * 40, *["write"] * 5]
        return await asyncio.gather(*(handler.ahandle(ToolCall(name, {"n": n})) for n, name in enumerate(names)))

    assert all(each.ok for each in asyncio.run(all_of_them()))
    assert (gauge.clashes, gauge.most_readers > 1, len(outcomes())) == (0, True, 50)


def test_tools_of_other_resources_do_not_wait(registry: ToolRegistry, handler: ToolHandler) -> None:
    """Two that must meet each other do, where they name two resources, or none."""
    together = threading.Barrier(2)

    def meet(_: dict[str, Any]) -> str:
        together.wait(5)
        return "met"

    for name, resource in (("a", "disk"), ("b", "net"), ("c", None), ("d", None)):
        registry.register(ToolSpec(name), meet, limits=ToolLimits(resource=resource))
    assert [each.text for each in (*_all(handler, ["a", "b"]), *_all(handler, ["c", "d"]))] == ["met"] * 4


def test_a_claim_to_destroy_is_no_reading() -> None:
    """A tool that says both takes its turn alone."""
    assert not ToolSpec("tool", traits=ToolTraits(read_only=True, destructive=True)).only_reads


def test_who_waits_too_long_does_not_run(registry: ToolRegistry, handler: ToolHandler, outcomes: Outcomes) -> None:
    """The model is shown that another call is at work, in threads and on a loop."""
    release, inside = threading.Event(), threading.Event()

    def slow(_: dict[str, Any]) -> str:
        inside.set()
        release.wait(10)
        return "slow"

    registry.register(ToolSpec("slow"), slow)
    registry.register(ToolSpec("quick"), lambda _: "quick", limits=ToolLimits(wait=0.02))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(handler.handle, ToolCall("slow"))
        assert inside.wait(10)
        told = [handler.handle(ToolCall("quick")), asyncio.run(handler.ahandle(ToolCall("quick")))]
        release.set()
        assert first.result().ok
    message = "The tool `quick` waited 0.02 s for its turn and did not run; another call is still at work."
    assert told == [ToolResult(False, message)] * 2
    assert handler.handle(ToolCall("quick")).ok
    assert outcomes() == ["refused", "refused", "ok", "ok"]


# The queue --------------------------------------------------------------------------------------------------------


def test_who_comes_first_is_served_first() -> None:
    """A reader does not overtake a writer that waits; the readers behind it come in together."""
    locks = ReadWriteLocks()
    first = locks.acquire("r", is_shared=True)
    writer = locks.acquire("r", is_shared=False)
    late = [locks.acquire("r", is_shared=True) for _ in range(2)]
    queue = [writer, *late]
    assert first.granted is None
    assert [each.granted and each.granted.done() for each in queue] == [False, False, False]
    locks.release(first)
    assert [each.granted and each.granted.done() for each in queue] == [True, False, False]
    locks.release(writer)
    assert [each.granted and each.granted.done() for each in queue] == [True, True, True]


def test_leaving_the_queue_lets_the_next_ones_in() -> None:
    """A writer that gives up no longer is between two readers; leaving again changes nothing."""
    locks = ReadWriteLocks()
    reader, writer = locks.acquire("r", is_shared=True), locks.acquire("r", is_shared=False)
    behind = locks.acquire("r", is_shared=True)
    locks.release(writer)
    locks.release(writer)
    assert behind.granted is not None
    assert behind.granted.done()
    for each in (reader, behind, writer):
        locks.release(each)
    assert locks.acquire("r", is_shared=False).granted is None


def test_a_turn_whose_future_was_cancelled_blocks_nobody() -> None:
    """Whoever cancels what another waits for takes it out of the queue."""
    locks = ReadWriteLocks()
    first, gone, third = (locks.acquire("r", is_shared=False) for _ in range(3))
    assert gone.granted is not None
    gone.granted.cancel()
    locks.release(first)
    assert third.granted is not None
    assert third.granted.done()


@for_each("order", list(itertools.permutations(range(4)))[::5])
def test_nothing_is_left_when_all_have_left(order: tuple[int, ...]) -> None:
    """In whatever order they go."""
    locks = ReadWriteLocks()
    queue = [locks.acquire("r", is_shared=each % 2 == 0) for each in range(4)]
    for index in order:
        locks.release(queue[index])
    assert locks._queues == {}  # noqa: SLF001 -- a leak shows nowhere else


# Calls inside calls -----------------------------------------------------------------------------------------------


def test_a_call_inside_a_call_does_not_wait_for_it(registry: ToolRegistry, handler: ToolHandler) -> None:
    """A tool that has its turn calls the handler again, at once and within a time."""
    registry.register(ToolSpec("inner"), lambda _: "inner")
    registry.register(ToolSpec("outer"), lambda _: handler.handle(ToolCall("inner")), limits=ToolLimits(wait=1))
    registry.register(ToolSpec("timed", timeout=5), lambda _: handler.handle(ToolCall("outer")))
    assert [handler.handle(ToolCall(name)).text for name in ("outer", "timed")] == ["inner", "inner"]


def test_the_same_on_a_loop(registry: ToolRegistry, handler: ToolHandler) -> None:
    """An async tool may await the handler."""

    async def outer(_: dict[str, Any]) -> ToolResult:
        return await handler.ahandle(ToolCall("inner"))

    registry.register(ToolSpec("inner"), lambda _: "inner")
    registry.register(ToolSpec("outer", timeout=5), outer, limits=ToolLimits(wait=1))
    assert asyncio.run(handler.ahandle(ToolCall("outer"))).text == "inner"


def test_an_agent_holds_no_turn_and_its_calls_take_theirs(registry: ToolRegistry, handler: ToolHandler) -> None:
    """A subtask that writes waits for a writer next to it, and that one does not wait for the subtask."""
    gauge = Gauge()
    registry.register(ToolSpec("write"), gauge.tool("writers", 0.02))
    agents = ToolTraits(spawns_agent=True)
    registry.register(ToolSpec("subtask", traits=agents), lambda _: handler.handle(ToolCall("write")))
    results = _all(handler, ["subtask", "write", "subtask", "write"])
    assert ([each.text for each in results], gauge.clashes) == (["done"] * 4, 0)


def test_a_call_next_to_an_agent_does_not_wait_for_it(registry: ToolRegistry, handler: ToolHandler) -> None:
    """The agent may wait for that very call."""
    registry.register(ToolSpec("write"), lambda _: "done", limits=ToolLimits(wait=0.01))

    def subtask(_: dict[str, Any]) -> str:
        with ThreadPoolExecutor() as pool:
            return pool.submit(handler.handle, ToolCall("write")).result().text

    registry.register(ToolSpec("subtask", traits=ToolTraits(spawns_agent=True)), subtask)
    assert handler.handle(ToolCall("subtask")).text == "done"


def test_a_turn_that_is_over_is_not_held_any_more(registry: ToolRegistry, handler: ToolHandler) -> None:
    """What a tool leaves running takes locks of its own afterwards; those of another registry were never held."""
    left: list[contextvars.Context] = []
    is_busy, go = threading.Event(), threading.Event()

    def write(_: dict[str, Any]) -> str:
        is_busy.set()
        go.wait(10)
        return "done"

    def leave(_: dict[str, Any]) -> str:
        left.append(contextvars.copy_context())
        return handler.handle(ToolCall("inner")).text

    other = ToolRegistry()
    registry.register(ToolSpec("write"), write)
    registry.register(ToolSpec("inner"), lambda _: "inner", limits=ToolLimits(wait=0.01))
    registry.register(ToolSpec("leave"), leave)
    other.register(ToolSpec("leave"), leave)
    assert handler.handle(ToolCall("leave")).text == "inner"
    with ThreadPoolExecutor() as pool:
        work = pool.submit(handler.handle, ToolCall("write"))
        is_busy.wait(10)
        refused = "waited 0.01 s for its turn"
        assert refused in left[0].run(handler.handle, ToolCall("inner")).text
        assert refused in ToolHandler(Session(yolo_mode=True), registry=other).handle(ToolCall("leave")).text
        go.set()
        assert work.result(10).text == "done"


# Locks are released -----------------------------------------------------------------------------------------------


@attrs.define
class Breaking:
    """A record that fails at one event."""

    event: str

    def record(self, event: str, call: ToolCall, /, **_: object) -> None:
        """Fail, or do nothing."""
        if event == self.event:
            raise OSError(f"no room for {call.tool}")


@pytest.mark.parametrize("event", ["started", "finished"])
def test_a_record_that_fails_keeps_no_lock(registry: ToolRegistry, event: str) -> None:
    """The error goes to the host, and the next call gets in."""
    registry.register(ToolSpec("tool", traits=ToolTraits(idempotent=True)), lambda _: "done")
    broken = ToolHandler(Session(yolo_mode=True), registry=registry, recorder=Breaking(event))
    for _ in range(2):
        with pytest.raises(OSError, match="no room"):
            broken.handle(ToolCall("tool"))
    fine = ToolHandler(Session(yolo_mode=True), registry=registry)
    assert fine.handle(ToolCall("tool")).ok
    assert registry._shared.locks._queues == {}  # noqa: SLF001 -- a leak shows nowhere else
    assert registry._shared.single_flight._flying == {}  # noqa: SLF001 -- as above


def test_a_thread_that_cannot_be_started_keeps_no_lock(
    registry: ToolRegistry, handler: ToolHandler, recorder: MemoryRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run has crashed, and is over."""

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    registry.register(ToolSpec("tool", timeout=5), lambda _: "done", limits=ToolLimits(wait=1))
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        assert handler.handle(ToolCall("tool")).text == "The tool `tool` crashed (RuntimeError). Try another way."
    assert "new thread" in str(recorder.records[-1]["error"])
    assert handler.handle(ToolCall("tool")).ok


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(), ValueError()])
def test_a_tool_that_ends_otherwise_keeps_no_lock(
    registry: ToolRegistry, handler: ToolHandler, error: BaseException
) -> None:
    """However it ends."""

    def tool(_: dict[str, Any]) -> str:
        raise error

    registry.register(ToolSpec("tool"), tool)
    if isinstance(error, ValueError):
        handler.handle(ToolCall("tool"))
    else:
        with pytest.raises(type(error)):
            handler.handle(ToolCall("tool"))
    assert registry._shared.locks._queues == {}  # noqa: SLF001 -- a leak shows nowhere else


# However many ----------------------------------------------------------------------------------------------------


def _work(count: int) -> int:
    """Return how many functions are called while so many wait for one, and every other one gives up."""
    locks, calls = ReadWriteLocks(), 0

    def note(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    first, *others = (locks.acquire("files", is_shared=False) for _ in range(count))
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        for acquisition in (*reversed(others[::2]), first, *others[1::2]):
            locks.release(acquisition)
    finally:
        sys.setprofile(before)
    assert locks._queues == {}  # noqa: SLF001 -- a leak shows nowhere else
    return calls


def test_leaving_costs_the_same_however_many_wait() -> None:
    """Whether one waits, holds its lock or has released it: the others are not looked at, and no text is built."""
    assert _work(1_000) < 11 * _work(100)


def test_a_turn_that_gives_up_at_the_head_lets_the_next_ones_run() -> None:
    """Readers behind a writer that gave up join the readers that run."""
    locks = ReadWriteLocks()
    reader, writer, late = (locks.acquire("files", is_shared=shared) for shared in (True, False, True))
    locks.release(writer)
    assert late.granted is not None
    assert late.granted.done()
    for acquisition in (reader, late):
        locks.release(acquisition)
    assert locks._queues == {}  # noqa: SLF001 -- a leak shows nowhere else
