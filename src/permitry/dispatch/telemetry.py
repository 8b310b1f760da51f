"""What is measured of every run: its outcome, its duration, and the bytes that went in and out."""

import enum
import threading
from collections import Counter
from typing import Protocol

import attrs

__all__ = ["Outcome", "ToolMetrics", "ToolRun", "ToolTelemetry", "ToolTotals"]


class Outcome(enum.Enum):
    """How a run ended; each run has exactly one."""

    OK = "ok"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    FATAL = "fatal"


@attrs.frozen
class ToolRun:
    """One run of one tool; `seconds` include those `waiting` for a lock, sizes are bytes of UTF-8."""

    tool: str
    outcome: Outcome
    seconds: float
    bytes_in: int
    bytes_out: int
    waiting: float = 0.0

    @property
    def running(self) -> float:
        """The seconds in which the tool was at work."""
        return self.seconds - self.waiting


class ToolTelemetry(Protocol):
    """A sink for measurements of runs, called after the run is recorded; exceptions are ignored."""

    def ran(self, run: ToolRun) -> None:
        """Receive one run."""


@attrs.frozen
class ToolTotals:
    """The sums over the runs of one tool."""

    outcomes: Counter[Outcome] = attrs.field(factory=Counter)
    seconds: float = 0.0
    longest: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0
    waiting: float = 0.0

    @property
    def running(self) -> float:
        """The seconds in which the tool was at work."""
        return self.seconds - self.waiting

    @property
    def runs(self) -> int:
        """How often the tool ran."""
        return self.outcomes.total()

    def plus(self, run: ToolRun) -> "ToolTotals":
        """Return the sums with one more run."""
        return ToolTotals(
            self.outcomes + Counter([run.outcome]),
            self.seconds + run.seconds,
            max(self.longest, run.seconds),
            self.bytes_in + run.bytes_in,
            self.bytes_out + run.bytes_out,
            self.waiting + run.waiting,
        )


@attrs.define
class ToolMetrics:
    """Keeps the sums of every tool in memory. Thread-safe."""

    _totals: dict[str, ToolTotals] = attrs.field(factory=dict, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    def ran(self, run: ToolRun) -> None:
        """Add one run."""
        with self._lock:
            self._totals[run.tool] = self._totals.get(run.tool, ToolTotals()).plus(run)

    def totals(self) -> dict[str, ToolTotals]:
        """Return the sums by tool, sorted by name, as they are now."""
        with self._lock:
            return dict(sorted(self._totals.items()))
