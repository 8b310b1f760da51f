"""How a running tool learns that it is to stop: its call was cancelled, or its time is over."""

import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator

import attrs

__all__ = ["Cancellation", "cancellable_by", "cancellation_here", "current_cancellation"]


@attrs.define(eq=False)
class _Callback:
    """One callback; leaving the block it is for waits for it, so that it never runs later."""

    function: Callable[[], None]
    _is_over: bool = attrs.field(default=False, init=False)
    _lock: threading.RLock = attrs.field(factory=threading.RLock, init=False)

    def call(self) -> None:
        """Call it, unless its block has been left."""
        with self._lock:
            if not self._is_over:
                self.function()

    def end(self) -> None:
        """Let it never run from here on."""
        with self._lock:
            self._is_over = True


@attrs.define(eq=False)
class Cancellation:
    """The one signal to stop that a run gets; it is given once, and never taken back. Thread-safe.

    A tool that runs long asks `is_cancelled` between its steps; one that waits for something outside says with
    `calling` what ends that. Python cannot stop a thread: a tool that does neither goes on when its call is over.
    """

    _callbacks: list[_Callback] = attrs.field(factory=list, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)
    is_cancelled: bool = attrs.field(default=False, init=False)

    def cancel(self) -> None:
        """Give the signal: every callback runs once, in this thread; one that fails keeps no other from running."""
        with self._lock:
            self.is_cancelled = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            with contextlib.suppress(Exception):
                callback.call()

    @contextlib.contextmanager
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """Have `callback` run when the signal is given while the block runs, or at once if it has been given.

        It never runs after the block: what it would end may be something else by then, as a process id may.
        """
        kept = _Callback(callback)
        with self._lock:
            is_late = self.is_cancelled
            if not is_late:
                self._callbacks.append(kept)
        try:
            if is_late:
                callback()
            yield
        finally:
            with self._lock, contextlib.suppress(ValueError):
                self._callbacks.remove(kept)
            kept.end()


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
