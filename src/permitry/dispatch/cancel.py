"""How a running tool learns that it has to stop: it was cancelled, or its time limit has passed."""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from threading import Lock, RLock
from typing import Generic, TypeVar

import attrs

__all__ = ["SIGNAL", "Cancellation", "SetFor", "current_cancellation"]

T = TypeVar("T")


@attrs.define(eq=False)
class Cancellation:
    """The signal for one run to stop; it is given once, and never taken back. Thread-safe.

    A tool that runs long checks `is_cancelled` between its steps; one that waits for something outside passes
    `calling` a callback that ends the wait. A tool that does neither goes on running after its call has ended.
    """

    # A dictionary: an agent's signal has a callback for each of the calls that it makes side by side.
    _callbacks: dict[Callable[[], None], None] = attrs.field(factory=dict, init=False, repr=False)
    _lock: Lock = attrs.field(factory=Lock, init=False, repr=False)
    is_cancelled: bool = attrs.field(default=False, init=False)

    def cancel(self) -> None:
        """Give the signal: every callback runs once, in this thread, even if another one fails."""
        with self._lock:
            self.is_cancelled = True
            callbacks, self._callbacks = self._callbacks, {}
        for callback in callbacks:
            with contextlib.suppress(Exception):
                callback()

    @contextlib.contextmanager
    def calling(self, callback: Callable[[], object]) -> Iterator[None]:
        """Have `callback` run if the signal is given during the `with` block, or before it; never after it."""
        running, is_over = RLock(), False

        def call() -> None:
            with running:
                if not is_over:
                    callback()

        with self._lock:
            is_late = self.is_cancelled
            if not is_late:
                self._callbacks[call] = None
        if is_late:
            callback()
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.pop(call, None)
            # What runs just now is waited for.
            with running:
                is_over = True


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
