"""How often and next to which others a tool may run: rate limits, read/write locks, and single flight."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock

import attrs

from permitry.core.result import ToolResult

__all__ = [
    "Acquisition",
    "Bucket",
    "RateLimit",
    "ReadWriteLocks",
    "SingleFlight",
    "ToolLimits",
]


@attrs.frozen
class RateLimit:
    """At most `calls` at once, refilled evenly over `per` seconds (a token bucket)."""

    calls: int = attrs.field(validator=attrs.validators.ge(1))
    per: float = attrs.field(validator=attrs.validators.gt(0))


@attrs.frozen
class ToolLimits:
    """The limits a registry keeps for one tool, in addition to the time and output limits of its spec.

    Tools that name the same `resource` share a read/write lock: tools that only read run at the same time, any other
    runs alone. None: the tool touches nothing that other tools touch, and needs no lock. `wait` is how long, in
    seconds, a call waits for the lock.
    """

    rate: RateLimit | None = None
    resource: str | None = ""
    wait: float = 300.0


@attrs.define(eq=False)
class Bucket:
    """The tokens of one rate limit; a call takes one, and they are refilled with time. Thread-safe."""

    limit: RateLimit
    clock: Callable[[], float] = time.monotonic
    _tokens: float = attrs.field(init=False)
    _at: float = attrs.field(init=False)
    _lock: Lock = attrs.field(factory=Lock, init=False)

    def __attrs_post_init__(self) -> None:
        self._tokens, self._at = float(self.limit.calls), self.clock()

    def take(self) -> float:
        """Take a token and return 0; if none is left, return the seconds until there is one."""
        speed = self.limit.calls / self.limit.per
        with self._lock:
            now = self.clock()
            self._tokens = min(self.limit.calls, self._tokens + max(0.0, now - self._at) * speed)
            self._at = now
            if self._tokens < 1:
                return (1 - self._tokens) / speed
            self._tokens -= 1
            return 0.0


@attrs.define(eq=False)
class Acquisition:
    """One holder of, or waiter for, the lock of a resource, which is over when it was released or given up.

    `is_shared`: it may hold the lock together with such others. `granted` is done once it does, None if at once.
    """

    resource: str
    is_shared: bool
    granted: "Future[None] | None" = None
    is_over: bool = False


@attrs.define(eq=False)
class _Queue:
    """The holders of one lock, and those that wait for it; each operation takes constant time."""

    running: set[Acquisition] = attrs.field(factory=set)
    # Whether the holders are shared: either all of them are, or there is a single one that is not.
    is_shared: bool = False
    # Not a deque: one that gives up waiting is removed from the middle. Not a dict: finding its first key takes linear
    # time after many removals.
    waiting: "OrderedDict[Acquisition, Future[None]]" = attrs.field(factory=OrderedDict)

    def has_room(self, acquisition: Acquisition) -> bool:
        return not self.running or (acquisition.is_shared and self.is_shared)

    def admit(self, acquisition: Acquisition) -> None:
        self.running.add(acquisition)
        self.is_shared = acquisition.is_shared

    def grant(self) -> None:
        while self.waiting and self.has_room(next(iter(self.waiting))):
            acquisition, granted = self.waiting.popitem(last=False)
            # One that has been cancelled no longer gets the lock.
            if granted.set_running_or_notify_cancel():
                self.admit(acquisition)
                granted.set_result(None)


@attrs.define(eq=False)
class ReadWriteLocks:
    """The read/write locks of all resources: many readers or one writer; first come, first served."""

    _queues: dict[str, _Queue] = attrs.field(factory=dict, init=False)
    _lock: Lock = attrs.field(factory=Lock, init=False)

    def acquire(self, resource: str, *, is_shared: bool) -> Acquisition:
        """Ask for the lock of a resource, acquired at once if no holder or waiter excludes that."""
        acquisition = Acquisition(resource, is_shared)
        with self._lock:
            queue = self._queues.get(resource)
            if queue is None:
                queue = self._queues[resource] = _Queue()
                queue.admit(acquisition)
            elif not queue.waiting and queue.has_room(acquisition):
                queue.admit(acquisition)
            else:
                acquisition.granted = queue.waiting[acquisition] = Future()
        return acquisition

    def release(self, acquisition: Acquisition) -> None:
        """Release the lock, or stop waiting for it, and grant it to the next ones; safe to call again."""
        with self._lock:
            acquisition.is_over = True
            queue = self._queues.get(acquisition.resource)
            if queue is None:
                return
            queue.running.discard(acquisition)
            if queue.waiting:
                queue.waiting.pop(acquisition, None)
                queue.grant()
            if not queue.running and not queue.waiting:
                del self._queues[acquisition.resource]


@attrs.define(eq=False)
class SingleFlight:
    """Runs identical calls at the same time once: the first one runs, the others get its result."""

    _flying: "dict[Hashable, Future[ToolResult | None]]" = attrs.field(factory=dict, init=False)
    _lock: Lock = attrs.field(factory=Lock, init=False)

    def join_run(self, key: Hashable) -> "Future[ToolResult | None] | None":
        """Return the future of the result of the first call, to be run if that is None; None for the first one."""
        with self._lock:
            flying = self._flying.get(key)
            if flying is None:
                self._flying[key] = Future()
            return flying

    def complete(self, key: Hashable, result: ToolResult | None) -> None:
        """Give the result of the first call to all calls that wait for it; None if it has no result."""
        with self._lock:
            flying = self._flying.pop(key)
        flying.set_result(result)
