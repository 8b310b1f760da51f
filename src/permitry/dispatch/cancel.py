"""How a running tool learns that it is to stop: its call was cancelled, or its time is over."""

import contextlib
import contextvars
import threading
from collections.abc import Callable

import attrs

__all__ = ["Cancellation", "cancellable_by", "cancellation_here", "current_cancellation"]


@attrs.define(eq=False)
class _Callback:
    """One callback; leaving the block it is for waits for it, so that it never runs later."""

    # Not a generator: every wait of every run comes through here.
    cancellation: "Cancellation"
    function: Callable[[], object]
    _is_over: bool = attrs.field(default=False, init=False)
    _lock: threading.RLock = attrs.field(factory=threading.RLock, init=False)

    def __enter__(self) -> None:
        if not self.cancellation.add(self):
            self.function()

    def __exit__(self, *_: object) -> None:
        self.cancellation.remove(self)
        with self._lock:
            self._is_over = True

    def call(self) -> None:
        """Call it, unless its block has been left."""
        with self._lock:
            if not self._is_over:
                self.function()


@attrs.define(eq=False)
class Cancellation:
    """The one signal to stop that a run gets; it is given once, and never taken back. Thread-safe.

    A tool that runs long asks `is_cancelled` between its steps; one that waits for something outside says with
    `calling` what ends that. Python cannot stop a thread: a tool that does neither goes on when its call is over.
    """

    # A dictionary: an agent's signal has a callback for each of the calls that it makes side by side.
    _callbacks: dict[_Callback, None] = attrs.field(factory=dict, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)
    is_cancelled: bool = attrs.field(default=False, init=False)

    def cancel(self) -> None:
        """Give the signal: every callback runs once, in this thread; one that fails keeps no other from running."""
        with self._lock:
            self.is_cancelled = True
            callbacks, self._callbacks = self._callbacks, {}
        for callback in callbacks:
            with contextlib.suppress(Exception):
                callback.call()

    def calling(self, callback: Callable[[], object]) -> contextlib.AbstractContextManager[None]:
        """Have `callback` run when the signal is given while the block runs, or at once if it has been given.

        It never runs after the block: what it would end may be something else by then, as a process id may.
        """
        return _Callback(self, callback)

    def add(self, callback: _Callback) -> bool:
        """Keep a callback for the signal; return False when that has been given."""
        with self._lock:
            if not self.is_cancelled:
                self._callbacks[callback] = None
            return not self.is_cancelled

    def remove(self, callback: _Callback) -> None:
        """Forget a callback; one that was called is gone already."""
        with self._lock:
            self._callbacks.pop(callback, None)


_CURRENT: contextvars.ContextVar[Cancellation | None] = contextvars.ContextVar("permitry_cancellation", default=None)


def cancellation_here() -> Cancellation | None:
    """Return the signal of the call that runs here, or None outside of a call."""
    return _CURRENT.get()


def current_cancellation() -> Cancellation:
    """Return the signal of the call that runs here; outside of a call one that is never given."""
    return _CURRENT.get() or Cancellation()


class cancellable_by:  # noqa: N801 -- it reads as the function it stands for
    """Make a cancellation the signal of what runs in the block, also in threads that copy its context."""

    # Not a generator: every run of every tool comes through here.
    __slots__ = ("_cancellation", "_token")

    def __init__(self, cancellation: Cancellation) -> None:
        self._cancellation = cancellation

    def __enter__(self) -> None:
        self._token = _CURRENT.set(self._cancellation)

    def __exit__(self, *_: object) -> None:
        _CURRENT.reset(self._token)
