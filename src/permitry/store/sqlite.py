"""A store in one file of SQLite, for all processes of one machine.

What is written is on the disk when the call returns. Calls that come at the same time share one write.
"""

import contextlib
import json
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import attrs

from permitry.errors import StoreError
from permitry.files import opened
from permitry.store.chain import BrokenChainError, Head, Linked, checked, linked
from permitry.store.migrations import MIGRATIONS, NAMES

__all__ = ["SqliteStore"]

_MAGIC = b"SQLite format 3\0"
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
_OLDEST = (3, 31)
_ADD = "INSERT INTO record (number, body, hash) VALUES (?, ?, ?)"

# SQLite must not close, in a forked process, what the parent has open.
_NOT_OURS: list[sqlite3.Connection] = []


@attrs.define(eq=False)
class _Waiting:
    """Records that are to be written together; `last` is the number of the last one when they are."""

    bodies: tuple[str, ...]
    last: int | None = None
    error: Exception | None = None


@attrs.define(eq=False)
class SqliteStore:
    """Records in the file `path`, which only its owner may read. Thread-safe, and safe in several processes.

    Missing folders are made. A call waits at most `patience` seconds for another process that writes.

    Raises: `StoreError` when the file cannot be opened, is none of SQLite, or is of a newer permitry.
    """

    path: Path = attrs.field(converter=Path)
    patience: float = attrs.field(default=10.0, kw_only=True)
    _queue: list[_Waiting] = attrs.field(factory=list, init=False, repr=False)
    _queueing: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)
    _writing: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)
    _connection: sqlite3.Connection | None = attrs.field(default=None, init=False, repr=False)
    _process: int = attrs.field(default=0, init=False, repr=False)
    _file: tuple[int, int] = attrs.field(default=(0, 0), init=False, repr=False)
    _is_closed: bool = attrs.field(default=False, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Open the file, and bring it to the form of this permitry."""
        with self._failing("cannot open"), self._writing:
            self._connected()

    # Records ------------------------------------------------------------------------------------------------------

    def append(self, *bodies: str) -> int:
        """Add records after the last one, all of them or none, and return the number of the last.

        Raises: `StoreError` when they cannot be kept.
        """
        waiting = _Waiting(bodies)
        with self._queueing:
            self._queue.append(waiting)
        with self._writing:
            # Who gets here first writes for all that have come meanwhile.
            if waiting.last is None and waiting.error is None:
                with self._queueing:
                    batch, self._queue = self._queue, []
                self._write(batch)
        if waiting.error is not None:
            raise StoreError(str(waiting.error)) from waiting.error
        if waiting.last is None:
            raise StoreError(f"the write to `{self.path}` was interrupted")
        return waiting.last

    def _write(self, batch: Sequence[_Waiting]) -> None:
        try:
            with self._failing("cannot write to"), self._transaction() as connection:
                head = _head(connection)
                for waiting in batch:
                    records = []
                    for body in waiting.bodies:
                        records.append(linked(head, body))
                        head = Head(records[-1].number, records[-1].hash)
                    connection.executemany(_ADD, map(attrs.astuple, records))
                    waiting.last = head.number
                connection.execute("UPDATE chain SET number = ?, hash = ?", attrs.astuple(head))
        except BaseException as error:
            for waiting in batch:
                waiting.last = None
                waiting.error = error if isinstance(error, StoreError) else StoreError(f"interrupted: {error!r}")
            if not isinstance(error, StoreError):
                raise

    def records(
        self,
        *,
        after: int = 0,
        since: str = "",
        until: str = "~",
        last: int = -1,
        equal: Mapping[str, str] = MappingProxyType({}),
    ) -> Iterator[Linked]:
        """Yield records, oldest first: those with numbers above `after`, from `since` until before `until`.

        Of these the `last` ones, or all. `equal` gives values of some of `NAMES`.

        Raises: `StoreError`; `TypeError` for other names.
        """
        if other := equal.keys() - set(NAMES):
            raise TypeError(f"a record cannot be asked for by `{min(other)}`")
        conditions = ["number > ?", "coalesce(at, '') >= ?", "coalesce(at, '') < ?", *(f"{name} = ?" for name in equal)]
        newest = f"SELECT number, body, hash FROM record WHERE {' AND '.join(conditions)} ORDER BY number DESC LIMIT ?"  # noqa: S608 -- names of ours
        query = f"SELECT * FROM ({newest}) ORDER BY number"  # noqa: S608 -- as above
        with self._reading() as connection:
            for row in connection.execute(query, (after, since, until, *equal.values(), last)):
                yield Linked(*row)

    @property
    def head(self) -> Head:
        """The end of the chain.

        Raises: `StoreError`.
        """
        with self._reading() as connection:
            return _head(connection)

    def verify(self, anchors: Sequence[Head] = ()) -> int:
        """Return how many records there are, if they are those that were written; `anchors` are ends it had before.

        Raises: `BrokenChainError` with the first record that is not; `StoreError` where the file cannot be read.
        """
        left = {anchor.number: anchor.hash for anchor in anchors}

        def anchored(records: Iterator[Linked]) -> Iterator[Linked]:
            for record in records:
                if left.pop(record.number, record.hash) != record.hash:
                    raise BrokenChainError(record.number, "it is not the one that was noted elsewhere")
                yield record

        with self._reading() as connection:
            row = connection.execute("SELECT first, before FROM chain").fetchone()
            before, end = Head(row[0] - 1, row[1]), _head(connection)
            rows = connection.execute("SELECT number, body, hash FROM record ORDER BY number")
            count = checked(anchored(Linked(*row) for row in rows), before, end)
            _check_pruned(connection, before)
        for number in sorted(left):
            if number > end.number:
                raise BrokenChainError(number, "it was noted elsewhere, and is missing")
        return count

    def prune(self, before: str, note: str) -> int:
        """Forget the oldest records, all in front of the first that is not older than a time; return how many.

        `note` is a JSON object: the record of that, which is kept with the end of what was forgotten.

        Raises: `StoreError`.
        """
        with self._failing("cannot write to"), self._writing, self._transaction() as connection:
            kept = connection.execute("SELECT min(number) FROM record WHERE at >= ?", (before,)).fetchone()[0]
            head = _head(connection)
            last = head.number if kept is None else kept - 1
            row = connection.execute("SELECT number, hash FROM record WHERE number = ?", (last,)).fetchone()
            if row is None:
                return 0
            count: int = connection.execute("DELETE FROM record WHERE number <= ?", (last,)).rowcount
            gone = {"up_to": row[0], "hash": row[1].hex(), "records": count}
            record = linked(head, json.dumps(json.loads(note) | gone))
            connection.execute(_ADD, attrs.astuple(record))
            connection.execute(
                "UPDATE chain SET number = ?, hash = ?, first = ?, before = ?",
                (record.number, record.hash, row[0] + 1, row[1]),
            )
            return count

    def close(self) -> None:
        """Close the file, once; later calls fail."""
        with self._writing:
            self._is_closed = True
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    # The file -----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise StoreError(f"{what} the store `{self.path}`: {why}") from error

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that sees the store as it is now, whatever is added meanwhile."""
        with self._failing("cannot read"), contextlib.closing(self._new_connection()) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            yield connection

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, inside of a transaction that is on the disk afterwards, or never was."""
        connection = self._connected()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _connected(self) -> sqlite3.Connection:
        if self._is_closed:
            raise StoreError(f"the store `{self.path}` is closed")
        if self._connection is not None and self._process != os.getpid():
            _NOT_OURS.append(self._connection)
            self._connection = None
        if self._connection is None:
            self._connection = self._prepared()
            self._process, self._file = os.getpid(), _identity(self.path)
        elif _identity(self.path) != self._file:
            raise StoreError(f"the store `{self.path}` was replaced while it was open")
        return self._connection

    def _prepared(self) -> sqlite3.Connection:
        """Return a connection to the file, which is made or brought up to date."""
        if sqlite3.sqlite_version_info < _OLDEST:
            raise StoreError(
                f"a store needs SQLite {'.'.join(map(str, _OLDEST))}, and this is {sqlite3.sqlite_version}"
            )
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with opened(self.path, _OPEN) as file:
            if not stat.S_ISREG(os.fstat(file).st_mode) or os.pread(file, len(_MAGIC), 0) not in (b"", _MAGIC):
                raise StoreError(f"`{self.path}` is not a store")
            os.fchmod(file, 0o600)
        connection = self._new_connection()
        connection.execute("PRAGMA journal_mode = WAL")
        # What was committed is still there when the power goes.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            connection.close()
            raise StoreError(f"the store `{self.path}` is of a newer permitry")
        for number, statements in enumerate(MIGRATIONS[version:], version + 1):
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
        return connection

    def _new_connection(self) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=rw",
            uri=True, timeout=self.patience, isolation_level=None, check_same_thread=False,
        )  # fmt: skip


def _head(connection: sqlite3.Connection) -> Head:
    return Head(*connection.execute("SELECT number, hash FROM chain").fetchone())


def _check_pruned(connection: sqlite3.Connection, before: Head) -> None:
    """Raise where the oldest records are gone, and no record says so."""
    if not before.number:
        return
    rows = connection.execute("SELECT body FROM record WHERE event = 'pruned'")
    notes = [json.loads(body) for (body,) in rows]
    if not any((note.get("up_to"), note.get("hash")) == (before.number, before.hash.hex()) for note in notes):
        raise BrokenChainError(before.number, "it is missing, with those before it, and no record says why")


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
