"""Work that waits for a disk, done in threads, one after the other: an event loop does not wait."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import attrs

__all__ = ["Apart"]

T = TypeVar("T")


@attrs.define(eq=False)
class Apart:
    """Does work in threads, each piece after the one before it. Thread-safe."""

    _last: Any = attrs.field(default=None, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    async def run(self, work: Callable[[], T], abandoned: Callable[[T], None] | None = None) -> T:
        """Return what `work` returns; where this is cancelled, that goes to `abandoned`."""
        from concurrent.futures import Future, wait  # noqa: PLC0415 -- a hook does not need it

        from permitry.dispatch.waiting import await_thread  # noqa: PLC0415 -- nor asyncio

        done: Future[T] = Future()
        with self._lock:
            before, self._last = self._last, done

        def in_turn() -> T:
            if before is not None:
                wait([before])
            return work()

        return await await_thread(done, in_turn, abandoned)
