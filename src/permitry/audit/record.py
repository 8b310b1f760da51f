"""The record on the disk: in a store, or in a file of lines."""

import contextlib
import datetime as dt
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Protocol

import attrs

from permitry.audit.line_file import LineFile
from permitry.audit.recorder import MemoryRecorder, Recorder, fields_of
from permitry.audit.redaction import redacted
from permitry.core.call import ToolCall
from permitry.errors import AuditError, StoreError

__all__ = [
    "HELD", "JsonlRecorder", "MemoryRecorder", "RecordStore", "Recorder", "StoredRecorder", "hold", "new_session",
    "user_name", "utc_now",
]  # fmt: skip

HELD: ContextVar[Mapping[int, list[Any]]] = ContextVar("HELD", default=MappingProxyType({}))
"""What each recorder holds back for the end of its `together`, by the id of the object."""


def utc_now() -> str:
    """Return the time in ISO 8601, with milliseconds."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")


def new_session() -> str:
    """Return an id that no other session has."""
    return secrets.token_hex(8)


def user_name() -> str:
    """Return the name of the user of this process; the environment has no say."""
    try:
        import pwd  # noqa: PLC0415 -- which a hook does not need, and Windows does not have

        return pwd.getpwuid(os.getuid()).pw_name
    except ImportError:
        return os.getlogin()
    except KeyError:
        return str(os.getuid())


@contextlib.contextmanager
def hold(recorder: object) -> Iterator[list[Any]]:
    """Yield the list of what a recorder holds back on this thread while the block runs."""
    held = list[Any]()
    before = HELD.set({**HELD.get(), id(recorder): held})
    try:
        yield held
    finally:
        HELD.reset(before)


class RecordStore(Protocol):
    """Keeps lines, each for good when `append` returns."""

    def append(self, *bodies: str) -> object:
        """Keep lines, in one write: all or none; `AuditError` or `StoreError` for none."""
        ...

    def close(self) -> None:
        """Close what the lines are kept in, once; later ones fail."""
        ...


@attrs.define
class StoredRecorder:
    """Makes a line of JSON of each event, without secrets; in a store, or on the disk, when `record` returns.

    `clock` gives the text of the time. `session` is in every line: several may share a record, and call ids
    repeat. `failure` is why something was not kept, which was raised as `AuditError`.
    """

    store: RecordStore
    clock: Callable[[], str] = utc_now
    session: str = attrs.field(factory=new_session)
    failure: str = attrs.field(default="", init=False, repr=False)

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Keep one event, on the disk when this returns, or at the end of `together`."""
        kept = redacted(details)
        if "source" in details:
            # It is from the rule files, and `secrets:7` has the form of a secret.
            kept["source"] = details["source"]
        self._keep(fields_of(event, call, kept))

    def begin(self, **details: object) -> None:
        """Keep an event `session` that says under which circumstances the next ones come about."""
        self._keep({"event": "session", "process": os.getpid(), "user": user_name(), **details})

    def reloaded(self, **details: object) -> None:
        """Keep an event `reloaded`: other rules are in force, or those in the files have mistakes."""
        self._keep({"event": "reloaded", **details})

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Keep what this thread records meanwhile in one write, at the end; after an error none."""
        with hold(self) as lines:
            yield
        self._append(*lines)

    def close(self) -> None:
        """Close what the record is kept in, once; later records fail."""
        self.store.close()

    def _keep(self, fields: Mapping[str, object]) -> None:
        line = json.dumps({"at": self.clock(), "session": self.session, **fields})
        lines = HELD.get().get(id(self))
        if lines is None:
            self._append(line)
        else:
            lines.append(line)

    def _append(self, *lines: str) -> None:
        try:
            self.store.append(*lines)
        except (AuditError, StoreError) as error:
            self.failure = str(error)
            raise AuditError(self.failure) from error


class JsonlRecorder(StoredRecorder):
    """Keeps each event as a line of the file at `path`, which it opens; see `LineFile`."""

    def __init__(self, path: str, clock: Callable[[], str] = utc_now, session: str = "") -> None:
        """Open the file; without the id of a session, the record has a new one."""
        super().__init__(LineFile(path), clock, session or new_session())
