"""The record, read for people and for reports: from a store, or from a file with a line for each event."""

import contextlib
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from permitry.errors import AuditError
from permitry.store.chain import HIGHEST
from permitry.store.migrations import NAMES
from permitry.store.records import is_address, is_store, store_at

__all__ = ["RecordFilter", "RecordFollower", "is_record", "records_at"]

_LONGEST = 8 * 1024 * 1024
# In two thirds of the time of `json.loads`, which looks for blanks around a text.
_decode = json.JSONDecoder().raw_decode


def is_record(path: str | Path) -> bool:
    """Return whether a file is a record: a store, or lines that begin with an event of a session."""
    if is_store(path):
        return True
    try:
        with Path(path).open(encoding="utf-8") as lines:
            first = json.loads(lines.readline(_LONGEST))
    except (OSError, ValueError):
        return False
    return isinstance(first, dict) and {"at", "session", "event"} <= first.keys()


@attrs.frozen
class RecordFilter:
    """Which records are asked for: from `since` until before `until`, with equal values, and a text in their arguments.

    Where a value is a tuple, one of it is enough; `other` has values that they do not have. Those with a number from
    `before` on are left out. Of these the `last` ones; None for all.
    """

    since: str = ""
    until: str = "~"
    equal: Mapping[str, Any] = attrs.field(factory=dict)
    text: str = ""
    last: int | None = None
    other: Mapping[str, tuple[Any, ...]] = attrs.field(factory=dict, kw_only=True)
    before: int = attrs.field(default=HIGHEST, kw_only=True)

    def select(self, records: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
        """Return those of some records, oldest first, that are asked for."""
        found = records
        # To ask about each record takes as long as to read it.
        if attrs.evolve(self, last=None) != RecordFilter():
            found = filter(self.holds, records)
        return found if self.last is None else deque(found, self.last)

    def holds(self, record: Mapping[str, Any]) -> bool:
        """Return whether a record is asked for."""
        return (
            self.since <= str(record.get("at") or "") < self.until
            and all(record.get(name) in _values(value) for name, value in self.equal.items())
            and not any(record.get(name) in values for name, values in self.other.items())
            and record.get("number", 0) < self.before
            and (not self.text or self.text in json.dumps(record.get("arguments"), ensure_ascii=False))
        )


def _values(value: object) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    return (value,)


def records_at(path: str | Path, wanted: RecordFilter, *, after: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the records with numbers above `after` that are asked for, oldest first, each with its `number`.

    Half a line, as a process leaves it that is killed while it writes, is an event `unreadable`. Raises: `AuditError`
    when the record cannot be read; `StoreError`.
    """
    read = _in_lines(Path(path), after)
    if is_store(path):
        read = _in_store(path, wanted, after)
    yield from wanted.select(read)


def _in_store(path: str | Path, wanted: RecordFilter, after: int) -> Iterator[dict[str, Any]]:
    if not is_address(path) and not Path(path).exists():
        raise AuditError(f"there is no record `{path}`")
    equal = {name: _values(value) for name, value in wanted.equal.items() if name in NAMES}
    other = {name: values for name, values in wanted.other.items() if name in NAMES}
    # A text, and what the store has no column for, is looked for here, so that the store cannot count the last ones.
    is_here = wanted.text or equal.keys() != wanted.equal.keys() or other != wanted.other
    last = -1 if wanted.last is None or is_here else wanted.last
    times = wanted.since, wanted.until
    store = store_at(path, is_read_only=True)
    try:
        rows = store.records(
            after=after,
            before=wanted.before,
            times=times,
            last=last,
            equal=equal,
            other=other,
        )
        for record in rows:
            yield _record(record.number, record.body)
    finally:
        store.close()


def _in_lines(path: Path, after: int) -> Iterator[dict[str, Any]]:
    with _translate_errors(path), path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if number > after and (text := line.strip()):
                yield _record(number, text)


@contextlib.contextmanager
def _translate_errors(path: object) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise AuditError(f"there is no record `{path}`") from error
    except OSError as error:
        raise AuditError(f"cannot read the record `{path}`: {error.strerror}") from error


def _record(number: int, text: str) -> dict[str, Any]:
    try:
        record, end = _decode(text)
    except (RecursionError, ValueError):
        record, end = None, 0
    if not isinstance(record, dict) or end < len(text):
        record = {"event": "unreadable"}
    record.pop("number", None)
    return {"number": number, **record}


@attrs.define
class RecordFollower:
    """Reads what others add to a record, in whole lines; from its beginning where it was replaced or cut."""

    record: str | Path
    _number: int = attrs.field(default=0, init=False)
    _offset: int = attrs.field(default=0, init=False)
    _file: tuple[int, int] | None = attrs.field(default=None, init=False)

    def read(self, wanted: RecordFilter) -> Iterator[dict[str, Any]]:
        """Yield what is new and asked for, oldest first; raise as `records_at`."""
        yield from wanted.select(self._new_rows() if is_store(self.record) else self._new_lines())

    def _new_rows(self) -> Iterator[dict[str, Any]]:
        for record in records_at(self.record, RecordFilter(), after=self._number):
            self._number = record["number"]
            yield record

    def _new_lines(self) -> Iterator[dict[str, Any]]:
        with _translate_errors(self.record), Path(self.record).open("rb") as file:
            status = os.fstat(file.fileno())
            now = status.st_dev, status.st_ino
            if now != self._file or status.st_size < self._offset:
                self._file, self._offset, self._number = now, 0, 0
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                self._number += 1
                if text := line.decode(errors="replace").strip():
                    yield _record(self._number, text)
