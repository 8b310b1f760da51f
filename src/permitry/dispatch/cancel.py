"""How a running tool learns that it has to stop: it was cancelled, or its time limit has passed."""

import contextlib
from collections.abc import Callable
from contextvars import ContextVar
from threading import Lock, RLock
from typing import Generic, TypeVar

import attrs

__all__ = ["SIGNAL", "Cancellation", "SetFor", "current_cancellation"]

T = TypeVar("T")


@attrs.define(eq=False)
class _Callback:
    """One callback, set for a `with` block; leaving waits until it has ended: it never runs later."""

    # Not a generator: every wait of every run comes through here.
    cancellation: "Cancellation"
    function: Callable[[], object]
    _is_over: bool = attrs.field(default=False, init=False)
    _lock: RLock = attrs.field(factory=RLock, init=False)

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
    """The signal for one run to stop; it is given once, and never taken back. Thread-safe.

    A tool that runs long checks `is_cancelled` between its steps; one that waits for something outside passes
    `calling` a callback that ends the wait. A tool that does neither goes on running after its call has ended.
    """

    # A dictionary: an agent's signal has a callback for each of the calls that it makes side by side.
    _callbacks: dict[_Callback, None] = attrs.field(factory=dict, init=False, repr=False)
    _lock: Lock = attrs.field(factory=Lock, init=False, repr=False)
    is_cancelled: bool = attrs.field(default=False, init=False)

    def cancel(self) -> None:
        """Give the signal: every callback runs once, in this thread, even if another one fails."""
        with self._lock:
            self.is_cancelled = True
            callbacks, self._callbacks = self._callbacks, {}
        for callback in callbacks:
            with contextlib.suppress(Exception):
                callback.call()

    def calling(self, callback: Callable[[], object]) -> contextlib.AbstractContextManager[None]:
        """Have `callback` run if the signal is given during the `with` block, or before it; never after it."""
        return _Callback(self, callback)

    def add(self, callback: _Callback) -> bool:
        """Keep a callback for the signal; return False if the signal has already been given."""
        with self._lock:
            if not self.is_cancelled:
                self._callbacks[callback] = None
            return not self.is_cancelled

    def remove(self, callback: _Callback) -> None:
        """Forget a callback, unless it was called already."""
        with self._lock:
            self._callbacks.pop(callback, None)


SIGNAL: ContextVar[Cancellation | None] = ContextVar("permitry_cancellation", default=None)
"""The signal of the call that runs here, also in threads that copy its context; None outside of a call."""


def current_cancellation() -> Cancellation:
    """Return the signal of the call that runs here; outside of a call one that is never given."""
    return SIGNAL.get() or Cancellation()


class SetFor(Generic[T]):
    """Sets a context variable for a block, also in threads that copy its context."""

    # Not a generator: every run of every tool comes through here.
    __slots__ = ("_token", "_value", "_variable")

    def __init__(self, variable: ContextVar[T], value: T) -> None:
        self._variable, self._value = variable, value

    def __enter__(self) -> None:
        self._token = self._variable.set(self._value)

    def __exit__(self, *_: object) -> None:
        self._variable.reset(self._token)
