"""What is logged while something is away: a bounded number of lines, however often it is tried meanwhile."""

import logging
import threading
import time
from collections.abc import Callable

import attrs

__all__ = ["Outage"]

_PAUSE = 60.0


@attrs.define(eq=False)
class Outage:
    """Warns in `log` of `what` when it begins, then at most once a minute, and when it is over.

    Each line says how many failures there were since the last one. Thread-safe. `clock` returns seconds.
    """

    log: logging.Logger
    what: str
    clock: Callable[[], float] = attrs.field(default=time.monotonic, kw_only=True, repr=False)
    _count: int = attrs.field(default=0, init=False)
    _due: float = attrs.field(default=float("-inf"), init=False)
    _is_shown: bool = attrs.field(default=False, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    def note(self, why: object) -> None:
        """Count a failure, and log it if a line is due."""
        with self._lock:
            self._count += 1
            if self.clock() < self._due:
                return
            self.log.warning("%s: %s; failures: %d", self.what, why, self._count)
            self._count, self._due, self._is_shown = 0, self.clock() + _PAUSE, True

    def end(self) -> None:
        """Log that it is over, where it was logged that it is so."""
        if not self._is_shown:
            return
        with self._lock:
            self.log.warning("over: %s; failures: %d", self.what, self._count)
            self._count, self._is_shown = 0, False
