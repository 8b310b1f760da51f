"""What time it is, for deadlines that last longer than a process."""

import contextlib
import functools
import os
import time
from pathlib import Path
from typing import NamedTuple

__all__ = ["Moment"]


class Moment(NamedTuple):
    """A point in time: `wall` in seconds since 1970, which can be set; `steady` since the machine started.

    `boot` names that start; it is empty where the system has no name for it, and `steady` says nothing.
    """

    wall: float
    boot: str = ""
    steady: float = 0.0

    @classmethod
    def now(cls) -> "Moment":
        """Return the current time."""
        boot = _boot()
        return cls(time.time(), boot, time.clock_gettime(time.CLOCK_BOOTTIME) if boot else 0.0)

    def after(self, seconds: float) -> "Moment":
        """Return a later one."""
        return self._replace(wall=self.wall + seconds, steady=self.steady + seconds)

    def until(self, deadline: "Moment") -> float:
        """Return how many seconds are left, 0 past the deadline."""
        is_same = self.boot and self.boot == deadline.boot
        return max(0.0, deadline.steady - self.steady if is_same else deadline.wall - self.wall)

    def is_past(self, deadline: "Moment", asked_at: float) -> bool:
        """Return whether a deadline has passed, or may have; `asked_at` is a time of the wall clock."""
        if self.boot and self.boot == deadline.boot:
            return self.steady > deadline.steady
        return not asked_at <= self.wall <= deadline.wall


@functools.cache
def _boot() -> str:
    with contextlib.suppress(OSError, AttributeError):
        time.clock_gettime(time.CLOCK_BOOTTIME)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        # A container may have a clock of its own.
        return f"{boot} {os.readlink('/proc/self/ns/time')}"  # noqa: PTH115 -- not a path
    return ""
