"""Steps that may wait, written once: they run without an event loop, or on one that waits for no disk."""

import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import attrs

__all__ = ["Apart", "without_suspending"]

T = TypeVar("T")


@attrs.define(eq=False)
class Apart:
    """Does work in threads, each piece after the one before it. Thread-safe."""

    _last: Any = attrs.field(default=None, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    async def run(self, work: Callable[[], T], abandoned: Callable[[T], None] | None = None) -> T:
        """Return what `work` returns; where this is cancelled, that goes to `abandoned`."""
        from concurrent.futures import wait  # noqa: PLC0415 -- a hook does not need it

        from permitry.dispatch.waiting import await_thread, start  # noqa: PLC0415 -- nor asyncio

        def in_turn() -> T:
            if before is not None:
                wait([before])
            return work()

        with self._lock:
            before = self._last
            done = self._last = start(in_turn)
        return await await_thread(done, abandoned)


def without_suspending(steps: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, and return its result."""
    try:
        steps.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    steps.close()
    raise RuntimeError("steps on a thread must block where they wait")
