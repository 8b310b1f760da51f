"""Records in the tables of a database, in one chain: what SQLite and PostgreSQL do alike."""

import abc
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from itertools import chain
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import attrs

from permitry.errors import StoreError
from permitry.store.chain import HIGHEST, BrokenChainError, ChainedRecord, Head, check_chain, link
from permitry.store.group_commit import GroupCommit, PendingWrite
from permitry.store.migrations import NAMES
from permitry.store.store import Database

__all__ = ["ChainedStore", "Store", "read_head"]


class _Closable(Protocol):
    def close(self) -> object: ...


Connection = TypeVar("Connection", bound=_Closable)
_EVER = "", "~"
_BEFORE = "SELECT first - 1, before FROM chain"
_HEAD = "SELECT number, hash FROM chain"
# The last one is left: a clock that is behind it is not believed.
_CLOSED = """DELETE FROM question WHERE closed_at < ? AND coalesce(answered_at, asked_at) <
    (SELECT max(coalesce(answered_at, asked_at)) FROM question)"""
_ENDED = "DELETE FROM permission_grant WHERE revoked_at < ? OR deadline < ? OR (uses_left = 0 AND made_at < ?)"

# A forked process must not use, nor end, what the parent has open.
_NOT_OURS: list[object] = []


@attrs.define(eq=False)
class ChainedStore(GroupCommit, Database, Generic[Connection]):
    """Records, each a JSON object, in a table `record`, and the end of their chain in a table `chain`.

    Thread-safe, and safe in several processes. All raise `StoreError` where they fail. Queries have `?` for values.
    """

    is_read_only: bool = attrs.field(default=False, kw_only=True)
    # The connection that writes, and the process that opened it.
    _connection: Connection | None = attrs.field(default=None, init=False, repr=False)
    _process: int = attrs.field(default=0, init=False, repr=False)
    _is_closed: bool = attrs.field(default=False, init=False, repr=False)

    def close(self) -> None:
        """Close the connection, once; later calls fail."""
        with self._writing:
            self._is_closed = True
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _own_connection(self, name: object) -> Connection | None:
        """Return the connection that writes, if this process has opened one and may have one."""
        if self._is_closed:
            raise StoreError(f"the store `{name}` is closed")
        if self.is_read_only:
            raise StoreError(f"the store `{name}` is open for reading only")
        if self._connection is not None and self._process != os.getpid():
            _NOT_OURS.append(self._connection)
            self._connection = None
        return self._connection

    @abc.abstractmethod
    def _translate_errors(self, what: str) -> AbstractContextManager[None]:
        """Turn the errors of the database into a `StoreError` that begins with `what`."""

    @abc.abstractmethod
    def _read_snapshot(self) -> AbstractContextManager[Connection]:
        """Yield a connection that sees the store as it is now, whatever is added meanwhile."""

    @abc.abstractmethod
    def _lock_chain(self) -> AbstractContextManager[tuple[Connection, Head]]:
        """Yield a connection and the end of the chain, for a transaction that no one else moves it in."""

    @abc.abstractmethod
    def _rows(self, connection: Connection, query: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """Run a query, and yield its rows as they are read."""

    @abc.abstractmethod
    def _run(self, connection: Connection, statement: str, values: Sequence[object]) -> int:
        """Run a statement that gives no rows, and return how many it changed."""

    @abc.abstractmethod
    def _add(self, connection: Connection, records: Sequence[ChainedRecord]) -> None:
        """Write records behind the last one, and the new end of the chain."""

    def _chain(self, connection: Connection) -> Iterator[ChainedRecord]:
        """Yield all records; `BrokenChainError` for one that is found by what it does not say."""
        rows = self._rows(connection, "SELECT number, body, hash FROM record ORDER BY number")
        yield from map(ChainedRecord._make, rows)

    def _write(self, batch: Sequence[PendingWrite]) -> None:
        with self._translate_errors("cannot write to"), self._lock_chain() as (connection, end):
            records, head = list[ChainedRecord](), end
            for waiting in batch:
                for body in waiting.bodies:
                    records.append(link(head, body))
                    head = Head(records[-1].number, records[-1].hash)
                waiting.last = head.number
            if records:
                self._add(connection, records)

    def records(
        self,
        *,
        after: int = 0,
        before: int = HIGHEST,
        times: tuple[str, str] = _EVER,
        last: int = -1,
        equal: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
        other: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> Iterator[ChainedRecord]:
        """Yield records, oldest first: those with numbers above `after` and below `before`.

        `times` are the first one, and the one that all are before. Of these the `last` ones, or all. `equal` gives the
        values that some of `NAMES` may have, `other` those that they may not; for other names it raises `TypeError`.
        """
        if unknown := (equal.keys() | other.keys()) - set(NAMES):
            raise TypeError(f"a record cannot be asked for by `{min(unknown)}`")
        conditions, values = ["number > ?", "number < ?"], [after, before, *times]
        if times == _EVER:
            del values[2:]
        elif not times[0]:
            conditions += ["coalesce(at, '') >= ?", "coalesce(at, '') < ?"]
        else:
            # So that the index of times is used: by the sign, that of numbers is not.
            conditions = ["+number > ?", "+number < ?", "at >= ?", "at < ?"]
        conditions += [f"{name} IN {_placeholders(values)}" for name, values in equal.items()]
        conditions += [f"coalesce({name}, '') NOT IN {_placeholders(values)}" for name, values in other.items()]
        named = map(self._as_column, chain(*equal.values(), *other.values()))
        values += named
        query = f"SELECT number, body, hash FROM record WHERE {' AND '.join(conditions)} ORDER BY number"  # noqa: S608 -- names of ours
        if last >= 0:
            query, values = f"SELECT * FROM ({query} DESC LIMIT ?) AS newest ORDER BY number", [*values, last]  # noqa: S608 -- as above
        with self._read_snapshot() as connection:
            yield from map(ChainedRecord._make, self._rows(connection, query, values))

    def _as_column(self, value: str) -> str:
        """Return a value as the columns have it that records are found by."""
        return value

    @property
    def head(self) -> Head:
        """The end of the chain."""
        with self._read_snapshot() as connection:
            return read_head(self._rows(connection, _HEAD))

    def verify(self, anchors: Sequence[Head] = ()) -> int:
        """Return how many records there are, or raise `BrokenChainError`; `anchors` are ends it had before."""
        left: dict[int, bytes] = {}
        for anchor in anchors:
            # INVARIANT: nothing that is noted later takes the place of what was noted before.
            if left.setdefault(anchor.number, anchor.hash) != anchor.hash:
                raise BrokenChainError(anchor.number, "it is not the one that was noted elsewhere")

        def match_anchors(records: Iterator[ChainedRecord]) -> Iterator[ChainedRecord]:
            for record in records:
                if left.pop(record.number, record.hash) != record.hash:
                    raise BrokenChainError(record.number, "it is not the one that was noted elsewhere")
                yield record

        with self._read_snapshot() as connection:
            before, end = (read_head(self._rows(connection, query)) for query in (_BEFORE, _HEAD))
            count = check_chain(match_anchors(self._chain(connection)), before, end)
            self._check_pruned(connection, before)
        for number in sorted(left):
            if number > end.number:
                raise BrokenChainError(number, "it was noted elsewhere, and is missing")
        return count

    def prune(self, before: str, note: str, *, through: int = 0) -> Mapping[str, int]:
        """Forget the oldest records, up to the first that is not older than a time, and what ended before it.

        That are closed questions, and grants that count no more. Return how many `records`, `questions` and `grants`
        these were; they are kept with `note`, a JSON object, as a record of that, and the end of the records. Where
        older records are `behind` one whose time a wrong clock has set too late, return how many, and the one that it
        `stopped_at`. Up to the record `through` such times keep nothing.
        """
        with self._translate_errors("cannot write to"), self._turn(), self._lock_chain() as (connection, head):
            seconds = _seconds(before)
            counts = {
                "records": 0,
                "questions": self._run(connection, _CLOSED, (seconds,)),
                "grants": self._run(connection, _ENDED, (seconds,) * 3),
            }
            said = json.loads(note)
            last = self._last_before(connection, before, head, through)
            if last is not None:
                counts["records"] = self._run(connection, "DELETE FROM record WHERE number <= ?", (last.number,))
                self._run(connection, "UPDATE chain SET first = ?, before = ?", (last.number + 1, last.hash))
                said |= {"up_to": last.number, "hash": last.hash.hex()}
            if any(counts.values()):
                self._add(connection, [link(head, json.dumps(said | counts))])
            return counts | self._older_behind(connection, before)

    def _older_behind(self, connection: Connection, before: str) -> dict[str, int]:
        """Return how many older records are behind one that is not older, and the number of this one."""
        query = "SELECT count(*) FROM record WHERE at < ?"
        ((behind,),) = self._rows(connection, query, (before,))
        if not behind:
            return {}
        ((first,),) = self._rows(connection, "SELECT min(number) FROM record WHERE at >= ?", (before,))
        return {"stopped_at": first, "behind": behind}

    def _last_before(self, connection: Connection, before: str, head: Head, through: int) -> Head | None:
        """Return the last record in front of the first that is not older than a time."""
        query = "SELECT min(number) FROM record WHERE at >= ? AND number > ?"
        ((kept,),) = self._rows(connection, query, (before, min(through, head.number)))
        number = head.number if kept is None else kept - 1
        found = list(self._rows(connection, "SELECT number, hash FROM record WHERE number = ?", (number,)))
        return Head(*found[0]) if found else None

    def _check_pruned(self, connection: Connection, before: Head) -> None:
        """Raise where the oldest records are gone, and no record says so."""
        if not before.number:
            return
        rows = self._rows(connection, "SELECT body FROM record WHERE event = ?", (self._as_column("pruned"),))
        notes = [json.loads(body) for (body,) in rows]
        if not any((note.get("up_to"), note.get("hash")) == (before.number, before.hash.hex()) for note in notes):
            raise BrokenChainError(before.number, "it is missing, with those before it, and no record says why")


Store: TypeAlias = ChainedStore[Any]
"""A store of any kind."""


def _placeholders(values: Sequence[object]) -> str:
    return f"({', '.join('?' * len(values))})"


def _seconds(time: str) -> float:
    """Return a time in seconds since 1970, one without a zone as UTC."""
    moment = datetime.fromisoformat(time)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def read_head(rows: Iterable[Any]) -> Head:
    """Return the end of the chain that the only row of the table `chain` gives."""
    match list(rows):
        case [(int(number), bytes(digest))]:
            return Head(number, digest)
    raise StoreError("the end of the chain of records is damaged, or missing")
