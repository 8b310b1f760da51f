"""What lives on after the call that started it."""

import os
import threading
import weakref
from typing import Generic, Protocol, TypeVar

from permitry.port import ToolError

__all__ = ["Kept"]


class _Killable(Protocol):
    def kill(self) -> None: ...


Thing = TypeVar("Thing", bound=_Killable)


class Kept(Generic[Thing]):
    """What lives on after the call that started it, by number from 1 on; all of it is killed at the end.

    The end is `close`, or that of the program where it was not closed. `full` is what the model is shown when there are
    `most` already.
    """

    def __init__(self, most: int, full: str) -> None:
        self._most = most
        self._full = full
        self._things: dict[int, Thing] = {}
        self._last = 0
        self._is_closed = False
        self._lock = threading.Lock()
        weakref.finalize(self, _kill_all, self._things, os.getpid())

    def add(self, thing: Thing) -> int:
        """Keep `thing` and return its number; it is added before it is started, so that none starts in vain.

        Raises: `ToolError` when there are too many, or everything has been closed.
        """
        with self._lock:
            if self._is_closed:
                raise ToolError("The tools are closed; nothing is started any more.")
            if len(self._things) >= self._most:
                raise ToolError(self._full)
            self._last += 1
            self._things[self._last] = thing
            return self._last

    def get(self, number: int) -> Thing | None:
        """Return what has this number, or None."""
        return self._things.get(number)

    def drop(self, number: int) -> Thing | None:
        """Forget what has this number, and return it, or None."""
        with self._lock:
            return self._things.pop(number, None)

    def close(self) -> None:
        """Kill everything; nothing is kept from here on."""
        with self._lock:
            self._is_closed = True
        _kill_all(self._things, os.getpid())


def _kill_all(things: dict[int, Thing], owner: int) -> None:
    """Kill and forget `things`; those of the process that this one was forked from are not its own."""
    if owner == os.getpid():
        for number in list(things):
            thing = things.pop(number, None)
            if thing is not None:
                thing.kill()
