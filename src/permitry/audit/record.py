"""Where the record goes: an append-only file, or memory."""

import abc
import contextlib
import datetime as dt
import json
import os
import secrets
import stat
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Protocol

import attrs

from permitry.audit.redaction import redacted
from permitry.core.call import ToolCall
from permitry.core.decision import Decision
from permitry.core.result import ToolResult
from permitry.errors import AuditError

__all__ = [
    "AuditRecord", "JsonlRecorder", "LineRecorder", "MemoryRecorder", "Recorder", "RunRecord", "decision_fields",
    "new_session", "record_start", "user_name", "utc_now", "waits_for_disk",
]  # fmt: skip

_CLOSED = -1
_LARGE = 4_096
"""Arguments of up to so many bytes do not count for the bound in bytes."""

AuditRecord = Mapping[str, object]
_TOGETHER: ContextVar[tuple["LineRecorder | None", list[str]]] = ContextVar("_TOGETHER", default=(None, []))
"""The recorder that collects lines for one write, and these lines."""


class Recorder(Protocol):
    """A sink for the record. When `record` returns, the record is as durable as the sink can make it.

    One that waits for a disk may have `together`, a context manager: what the thread records meanwhile is kept in one
    write at its end, all of it or none.
    """

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Keep one event, such as `decided`, `asked`, `answered`, `started` or `finished`.

        Raises: `AuditError` when the record cannot be kept.
        """
        ...


def waits_for_disk(recorder: Recorder) -> bool:
    """Return whether a recorder waits for a disk, so that several records are better written together."""
    return hasattr(recorder, "together")


@attrs.frozen
class RunRecord:
    """Records the start and the end of runs; `returned` is given the results of those that went well.

    `starting` is given every call that is about to run, before that is recorded, and `ended` every call that has run.
    If `starting` raises, the call must not run.
    With `is_started` the start was recorded together with the decision.
    """

    recorder: Recorder
    returned: Callable[[ToolCall, object], None] | None = None
    starting: Callable[[ToolCall], None] | None = None
    ended: Callable[[ToolCall], None] | None = None
    is_started: bool = False

    @property
    def waits(self) -> bool:
        """Whether the recorder waits for a disk."""
        return waits_for_disk(self.recorder)

    def abandoned(self, call: ToolCall) -> None:
        """Keep that a call whose start is on record does not run.

        Raises: `AuditError`.
        """
        if self.is_started:
            self.recorder.record("finished", call, ok=False, outcome="cancelled", seconds=0.0, error=None)

    def started(self, call: ToolCall) -> None:
        """Keep the start of a run.

        Raises: `AuditError`, and what `starting` raises; then the tool must not run.
        """
        if self.starting is not None:
            self.starting(call)
        if not self.is_started:
            self.recorder.record("started", call)

    def finished(self, call: ToolCall, result: ToolResult, *, outcome: str, seconds: float, error: str | None) -> None:
        """Keep the end of a run; `error` is the traceback of a crash.

        Raises: `AuditError`.
        """
        if self.ended is not None:
            self.ended(call)
        if result.ok and self.returned is not None:
            self.returned(call, result.text if result.structured is None else result.structured)
        self.recorder.record("finished", call, ok=result.ok, outcome=outcome, seconds=round(seconds, 6), error=error)


def record_start(recorder: Recorder, call: ToolCall, details: Mapping[str, object]) -> None:
    """Keep `decided`, with these details, and `started`, in one write of a recorder that has `together`.

    Raises: `AuditError`; then the tool must not run.
    """
    with recorder.together():  # type: ignore[attr-defined]  # the caller knows that it is there
        recorder.record("decided", call, **details)
        recorder.record("started", call)


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


def _fields(event: str, call: ToolCall, details: Mapping[str, object]) -> dict[str, object]:
    return {"event": event, "call_id": call.call_id, "tool": call.tool, "digest": call.digest, **details}


@attrs.define
class MemoryRecorder:
    """Keeps the last `limit` records in memory; for tests and for hosts that keep a record of their own.

    Large arguments take at most `size` bytes; the oldest records go first.
    """

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
        fields = _fields(event, call, details)
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


def utc_now() -> str:
    """Return the time in ISO 8601, with milliseconds."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")


def new_session() -> str:
    """Return an id that no other session has."""
    return secrets.token_hex(8)


def user_name() -> str:
    """Return the name of the user of this process; the environment has no say."""
    import pwd  # noqa: PLC0415 -- which a hook does not need

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


class LineRecorder(abc.ABC):
    """Makes a line of JSON of each event, without secrets. `clock` gives the text of the time.

    `session` is in every line, because several sessions may share a record, and their call ids repeat.
    """

    clock: Callable[[], str]
    session: str

    @abc.abstractmethod
    def _append(self, *lines: str) -> None:
        """Keep lines, in one write.

        Raises: `AuditError`.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Close what the record is kept in, once; later records fail."""

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Keep one event, on the disk when this returns, or at the end of `together`."""
        kept = redacted(details)
        if "source" in details:
            # It is from the rule files, not from the call, and `secrets:7` has the form of a secret.
            kept["source"] = details["source"]
        self._keep(_fields(event, call, kept))

    def begin(self, **details: object) -> None:
        """Keep an event `session` that says under which circumstances the next ones come about.

        Raises: `AuditError` when the record cannot be kept.
        """
        self._keep({"event": "session", "process": os.getpid(), "user": user_name(), **details})

    def reloaded(self, **details: object) -> None:
        """Keep an event `reloaded`: other rules are in force from here on, or those in the files have mistakes.

        Raises: `AuditError` when the record cannot be kept.
        """
        self._keep({"event": "reloaded", **details})

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Keep what this thread records meanwhile in one write, which is on the disk at the end; after an error none.

        Raises: `AuditError` when the record cannot be kept.
        """
        lines: list[str] = []
        before = _TOGETHER.set((self, lines))
        try:
            yield
        finally:
            _TOGETHER.reset(before)
        self._append(*lines)

    def _keep(self, fields: Mapping[str, object]) -> None:
        line = json.dumps({"at": self.clock(), "session": self.session, **fields})
        recorder, lines = _TOGETHER.get()
        if recorder is self:
            lines.append(line)
        else:
            self._append(line)


@attrs.define
class JsonlRecorder(LineRecorder):
    """Appends one JSON line per event to a file only its owner may read, and syncs it to the disk.

    Opening creates missing folders.

    Raises: `AuditError` when the file cannot be opened or written.
    """

    path: str
    clock: Callable[[], str] = utc_now
    session: str = attrs.field(factory=new_session)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)
    _is_regular: bool = attrs.field(default=True, init=False, repr=False)
    _is_torn: bool = attrs.field(default=False, init=False, repr=False)
    _file: int = attrs.field(init=False, repr=False)

    @_file.default
    def _opened(self) -> int:
        try:
            os.makedirs(os.path.dirname(os.path.abspath(self.path)), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120, PTH100 -- pathlib costs more to import than this module
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            status = os.fstat(file)
            self._is_regular = stat.S_ISREG(status.st_mode)
            if self._is_regular:
                os.fchmod(file, 0o600)
                # A process that was killed while it wrote may have left half a line.
                self._is_torn = status.st_size > 0 and _last_byte(self.path) != b"\n"
        except OSError as error:
            raise AuditError(f"cannot write the record `{self.path}`: {error.strerror}") from error
        return file

    def _append(self, *lines: str) -> None:
        data = "".join(f"{line}\n" for line in lines).encode()
        with self._lock:
            if self._file == _CLOSED:
                raise AuditError(f"the record `{self.path}` is closed")
            try:
                if self._is_regular and not self._is_in_place():
                    raise AuditError(f"the record `{self.path}` was replaced while it was open")
                # After a write that failed half-way, a line of its own keeps this event readable.
                _write_all(self._file, b"\n" + data if self._is_torn else data)
                if self._is_regular:
                    os.fsync(self._file)
            except OSError as error:
                self._is_torn = True
                raise AuditError(f"cannot write the record `{self.path}`: {error.strerror}") from error
            self._is_torn = False

    def _is_in_place(self) -> bool:
        """Return whether the path still names the open file; what is written elsewhere would not be found."""
        named, ours = os.stat(self.path), os.fstat(self._file)  # noqa: PTH116 -- pathlib costs more to import than this module
        return (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino)

    def close(self) -> None:
        """Close the file, once; later records fail."""
        with self._lock:
            if self._file != _CLOSED:
                os.close(self._file)
                self._file = _CLOSED


def _last_byte(path: str) -> bytes:
    with open(path, "rb") as stream:  # noqa: PTH123 -- pathlib costs more to import than this module
        stream.seek(-1, os.SEEK_END)
        return stream.read(1)


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
