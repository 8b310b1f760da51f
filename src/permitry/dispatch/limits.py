"""How often, and beside what, a tool may run: rate, turns, and one flight for calls that are the same."""

import concurrent.futures
import contextlib
import contextvars
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator

import attrs

from permitry.core.result import ToolResult

__all__ = [
    "Bucket",
    "RateLimit",
    "SingleFlight",
    "ToolLimits",
    "Turn",
    "Turns",
    "holding",
    "is_held",
    "leading",
    "leads",
]


@attrs.frozen
class RateLimit:
    """At most `calls` at once, refilled evenly over `per` seconds (a token bucket)."""

    calls: int = attrs.field(validator=attrs.validators.ge(1))
    per: float = attrs.field(validator=attrs.validators.gt(0))


@attrs.frozen
class ToolLimits:
    """The limits a registry keeps for one tool, beside the time and output limits of its spec.

    Tools that name the same `resource` take turns: those that only read run side by side, others alone. None: the tool
    touches nothing that others touch, and waits for nobody. `wait` is how long, in seconds, it waits for its turn.
    """

    rate: RateLimit | None = None
    resource: str | None = ""
    wait: float = 300.0


@attrs.define(eq=False)
class Bucket:
    """The tokens of one rate limit. Thread-safe."""

    limit: RateLimit
    clock: Callable[[], float] = time.monotonic
    _tokens: float = attrs.field(init=False)
    _at: float = attrs.field(init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def __attrs_post_init__(self) -> None:
        self._tokens, self._at = float(self.limit.calls), self.clock()

    def take(self) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        speed = self.limit.calls / self.limit.per
        with self._lock:
            now = self.clock()
            self._tokens = min(self.limit.calls, self._tokens + max(0.0, now - self._at) * speed)
            self._at = now
            if self._tokens < 1:
                return (1 - self._tokens) / speed
            self._tokens -= 1
            return 0.0


# Turns ------------------------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Turn:
    """A place in the queue of one resource; `granted` is done when it is this one's turn, None if that was at once."""

    turns: "Turns"
    resource: str
    is_shared: bool
    granted: "concurrent.futures.Future[None] | None" = None
    is_over: bool = False

    def leave(self) -> None:
        """Give the turn back, or leave the queue; safe to call again."""
        self.turns.leave(self)


@attrs.define(eq=False)
class _Queue:
    """Who has the resource, and who waits for it; every step costs the same however many these are."""

    running: set[Turn] = attrs.field(factory=set)
    # All that run are shared, or none: a turn that is not runs alone.
    is_shared: bool = False
    # Not a deque: a turn that is given up leaves from the middle. Not a dict: its first key is found by a search.
    waiting: "OrderedDict[Turn, concurrent.futures.Future[None]]" = attrs.field(factory=OrderedDict)

    def has_room(self, turn: Turn) -> bool:
        return not self.running or (turn.is_shared and self.is_shared)

    def admit(self, turn: Turn) -> None:
        self.running.add(turn)
        self.is_shared = turn.is_shared

    def grant(self) -> None:
        while self.waiting and self.has_room(next(iter(self.waiting))):
            turn, granted = self.waiting.popitem(last=False)
            # A turn that was cancelled is not granted.
            if granted.set_running_or_notify_cancel():
                self.admit(turn)
                granted.set_result(None)


@attrs.define(eq=False)
class Turns:
    """Who may run now: of one resource any number of readers, or one that does more; first come, first served."""

    _queues: dict[str, _Queue] = attrs.field(factory=dict, init=False)
    # The last queue that was empty: mostly there is one, and it is empty after every run.
    _spare: _Queue | None = attrs.field(default=None, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def enter(self, resource: str, *, is_shared: bool) -> Turn:
        """Return a turn, granted at once where nobody is in the way."""
        turn = Turn(self, resource, is_shared)
        with self._lock:
            queue = self._queues.get(resource)
            if queue is None:
                queue = self._queues[resource] = self._spare or _Queue()
                self._spare = None
                queue.admit(turn)
            elif not queue.waiting and queue.has_room(turn):
                queue.admit(turn)
            else:
                turn.granted = queue.waiting[turn] = concurrent.futures.Future()
        return turn

    def leave(self, turn: Turn) -> None:
        """Take a turn out, wherever it stands, and let the next ones run."""
        with self._lock:
            turn.is_over = True
            queue = self._queues.get(turn.resource)
            if queue is None:
                return
            queue.running.discard(turn)
            if queue.waiting:
                queue.waiting.pop(turn, None)
                queue.grant()
            if not queue.running and not queue.waiting:
                self._spare = self._queues.pop(turn.resource)


_HELD: contextvars.ContextVar[tuple[Turn, ...]] = contextvars.ContextVar("permitry_turns", default=())


class holding:  # noqa: N801 -- it reads as the function it stands for
    """Mark what runs in the block, also in threads that copy its context, as part of the run that has this turn."""

    # Not a generator: nearly every run comes through here.
    __slots__ = ("_token", "_turn")

    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    def __enter__(self) -> None:
        self._token = _HELD.set((*_HELD.get(), self._turn))

    def __exit__(self, *_: object) -> None:
        _HELD.reset(self._token)


def is_held(turns: Turns) -> bool:
    """Return whether this is part of a run that has one of these turns: it would wait for itself."""
    held = _HELD.get()
    return bool(held) and any(turn.turns is turns and not turn.is_over for turn in held)


# One flight for the same call -------------------------------------------------------------------------------------

_LEADS: contextvars.ContextVar[bool] = contextvars.ContextVar("permitry_leads", default=False)


@attrs.define(eq=False)
class SingleFlight:
    """Calls that are the same and run at the same time: the first one runs, the others get its result."""

    _flying: "dict[Hashable, concurrent.futures.Future[ToolResult | None]]" = attrs.field(factory=dict, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def join_run(self, key: Hashable) -> "tuple[bool, concurrent.futures.Future[ToolResult | None]]":
        """Return whether this call is the first one, and the future of the result; None means: run by yourself."""
        with self._lock:
            flying = self._flying.get(key)
            if flying is not None:
                return False, flying
            flying = self._flying[key] = concurrent.futures.Future()
            return True, flying

    def complete(self, key: Hashable, result: ToolResult | None) -> None:
        """Give the result to all that wait for it."""
        with self._lock:
            flying = self._flying.pop(key)
        flying.set_result(result)


@contextlib.contextmanager
def leading() -> Iterator[None]:
    """Mark what runs in the block, also in threads that copy its context, as part of a run that others wait for."""
    token = _LEADS.set(True)
    try:
        yield
    finally:
        _LEADS.reset(token)


def leads() -> bool:
    """Return whether others may wait for what runs here: it must not wait for them."""
    return _LEADS.get()
