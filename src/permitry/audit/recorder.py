"""What keeps the record: the protocol, a recorder in memory, and what is kept of a run."""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Protocol

import attrs

from permitry.core.call import ToolCall
from permitry.core.decision import Decision
from permitry.core.result import ToolResult

__all__ = [
    "AuditRecord", "MemoryRecorder", "Recorder", "RunRecord", "decision_fields", "fields_of", "waits_for_disk",
]  # fmt: skip

_LARGE = 4_096
"""Arguments of up to so many bytes do not count for the bound in bytes."""

AuditRecord = Mapping[str, object]


class Recorder(Protocol):
    """A sink for the record. When `record` returns, the record is as durable as the sink can make it.

    One that waits for a disk may have `together`: what a thread records in it is kept in one write, all or none.
    """

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Keep one event, such as `decided`, `asked`, `started` or `finished`, or raise `AuditError`."""
        ...


def waits_for_disk(recorder: Recorder) -> bool:
    """Return whether a recorder waits for a disk: several records are better written together."""
    return hasattr(recorder, "together")


@attrs.frozen
class RunRecord:
    """Records the start and the end of runs; `returned` is given the results of those that went well.

    `starting` is given every call before its start is recorded, and `ended` every call that has run. If
    `starting` or the record of the start raises, the call must not run. With `is_started` the start was
    recorded with the decision. All raise `AuditError` where the record cannot be kept.
    """

    recorder: Recorder
    returned: Callable[[ToolCall, object], None] | None = None
    starting: Callable[[ToolCall], None] | None = None
    ended: Callable[[ToolCall], None] | None = None
    is_started: bool = False

    def abandon(self, call: ToolCall) -> None:
        """Keep that a call whose start is on record does not run."""
        if self.is_started:
            self.recorder.record("finished", call, ok=False, outcome="cancelled", seconds=0.0, error=None)

    def started(self, call: ToolCall) -> None:
        """Keep the start of a run; raise what `starting` raises."""
        if self.starting is not None:
            self.starting(call)
        if not self.is_started:
            self.recorder.record("started", call)

    def finished(self, call: ToolCall, result: ToolResult, *, outcome: str, seconds: float, error: str | None) -> None:
        """Keep the end of a run; `error` is the traceback of a crash."""
        if self.ended is not None:
            self.ended(call)
        if result.ok and self.returned is not None:
            self.returned(call, result.text if result.structured is None else result.structured)
        self.recorder.record("finished", call, ok=result.ok, outcome=outcome, seconds=round(seconds, 6), error=error)


def decision_fields(decision: Decision) -> dict[str, object]:
    """Return a decision as the record keeps it."""
    return {
        "verdict": decision.verdict._value_,
        "rule": decision.rule_id,
        "phase": decision.phase._value_,
        "reason": decision.reason,
        "source": decision.source,
        "errors": list(map(str, decision.errors)),
        "policy_version": decision.policy_version,
    }


def fields_of(event: str, call: ToolCall, details: Mapping[str, object]) -> dict[str, object]:
    """Return an event as the record keeps it."""
    return {"event": event, "call_id": call.call_id, "tool": call.tool, "digest": call.digest, **details}


@attrs.define
class MemoryRecorder:
    """Keeps the last `limit` records in memory, with large arguments of at most `size` bytes."""

    limit: int = 10_000
    size: int = attrs.field(default=64 * 1024 * 1024, kw_only=True)
    records: deque[AuditRecord] = attrs.field(init=False)
    # The number of the last record, and the numbers and sizes of those that are large.
    _last: int = attrs.field(default=0, init=False, repr=False)
    _large: deque[tuple[int, int]] = attrs.field(factory=deque, init=False, repr=False)
    _taken: int = attrs.field(default=0, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False, eq=False)

    @records.default
    def _empty(self) -> deque[AuditRecord]:
        return deque(maxlen=self.limit)

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Keep one event."""
        fields = fields_of(event, call, details)
        with self._lock:
            self.records.append(fields)
            self._last += 1
            if "arguments" in details and len(call.canonical) > _LARGE:
                self._make_room(len(call.canonical))

    def reloaded(self, **details: object) -> None:
        """Keep an event `reloaded`."""
        with self._lock:
            self.records.append({"event": "reloaded", **details})
            self._last += 1

    def _make_room(self, size: int) -> None:
        self._large.append((self._last, size))
        self._taken += size
        while self._large and self._large[0][0] <= self._last - len(self.records):
            self._taken -= self._large.popleft()[1]
        while self._taken > self.size and self.records:
            number, size = self._large.popleft()
            self._taken -= size
            for _ in range(min(number - (self._last - len(self.records)), len(self.records))):
                self.records.popleft()
