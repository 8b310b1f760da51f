"""Who has answered questions, how often, and how long they had waited; in memory that grows with people."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

import attrs

__all__ = ["Approvers"]

_HERE = "(in the process that asked)"
_MOST_OPEN = 10_000
_COLUMNS = ("by", "approved", "not approved", "edited", "mean", "longest")


@attrs.define
class _Approver:
    """How often someone has answered, and how many seconds the questions had waited that were approved."""

    approved: int = 0
    not_approved: int = 0
    edited: int = 0
    waited: int = 0
    total: float = 0.0
    longest: float | None = None

    @property
    def mean(self) -> float | None:
        """The mean of those whose wait is known; None without any."""
        if self.waited:
            return self.total / self.waited
        return None

    def add(self, record: Mapping[str, Any], seconds: float | None) -> None:
        """Add an answer to a question that has waited so long."""
        if not record.get("approved"):
            self.not_approved += 1
            return
        self.approved += 1
        self.edited += bool(record.get("edited"))
        if seconds is not None:
            self.waited += 1
            self.total += seconds
            self.longest = max(self.longest or 0.0, seconds)


@attrs.define
class Approvers:
    """Counts of answers by who gave them.

    How long a question waited is known of the last 10,000 that are open at a time.
    """

    counts: dict[str, _Approver] = attrs.field(factory=dict)
    _open: dict[str, object] = attrs.field(factory=dict, init=False)

    def ask(self, record: Mapping[str, Any]) -> None:
        """Keep when a question was asked."""
        self._open[str(record.get("pending_id"))] = record.get("at")
        if len(self._open) > _MOST_OPEN:
            del self._open[next(iter(self._open))]

    def answer(self, record: Mapping[str, Any]) -> None:
        """Count an answer that a human gave."""
        asked_at = self._open.pop(str(record.get("pending_id")), None)
        by = record.get("by")
        if by is None and ("grant" in record or record.get("error")):
            return
        counts = self.counts.setdefault(str(by or _HERE), _Approver())
        counts.add(record, _seconds_between(asked_at, record.get("at")))

    def table(self) -> tuple[str, tuple[str, ...], list[tuple[str, ...]]]:
        """Return title, columns and rows of a table for people."""
        title = "answers by approver, and how many seconds what was approved had waited"
        return title, _COLUMNS, [_row(by, each) for by, each in sorted(self.counts.items())]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain JSON."""
        return {
            by: {
                "approved": each.approved,
                "not_approved": each.not_approved,
                "edited": each.edited,
                "mean": each.mean,
                "longest": each.longest,
            }
            for by, each in self.counts.items()
        }


def _row(by: str, counts: _Approver) -> tuple[str, ...]:
    numbers = (counts.approved, counts.not_approved, counts.edited)
    return (by, *map("{:,}".format, numbers), _show(counts.mean), _show(counts.longest))


def _show(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:,.0f}"


def _seconds_between(before: object, after: object) -> float | None:
    """Return the seconds from one time to another, 0 where a clock went back; None where a time is unknown."""
    try:
        passed = dt.datetime.fromisoformat(str(after)) - dt.datetime.fromisoformat(str(before))
    except (TypeError, ValueError):
        return None
    return max(passed.total_seconds(), 0.0)
