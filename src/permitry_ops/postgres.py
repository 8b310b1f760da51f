"""A store in a database of PostgreSQL, for several processes and machines.

What is written is on the disk of the server when the call returns. Calls that come at the same time share one write.
"""

import contextlib
import json
import math
import os
import re
import select
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import attrs
import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from permitry.errors import StoreError
from permitry.store.chain import BrokenChainError, ChainedRecord, Head
from permitry.store.chained_store import ChainedStore
from permitry.store.group_commit import PendingWrite
from permitry.store.migrations import NAMES, POSTGRES
from permitry.store.tables import read_head
from permitry_ops.bounded_connection import BoundedConnection

__all__ = ["PostgresStore"]

Connection: TypeAlias = BoundedConnection

_SHOWN = ("service", "host", "hostaddr", "port", "dbname")
_OLDEST = 13_00_00
_TABLES = "chain|permission_grant|policy|question|record|rule_file|shared_budget|wall_clock"
_LOCK = 0x7065726D69747279
"""The number of the advisory lock for migrations: any that no other program uses."""

# One lock for all that write. The commit does not wait for the disk, so that the next one can begin; see `_FLUSH`.
_NOT_YET = "SET LOCAL synchronous_commit = off"
_LOCK_CHAIN = f"BEGIN; {_NOT_YET}; SELECT number, hash FROM permitry.chain FOR UPDATE"  # noqa: S608 -- a text of ours
# As in SQLite one transaction changes other tables at a time. Writers of records do not wait for it.
_LOCK_OTHERS = f"BEGIN; {_NOT_YET}; SELECT number FROM permitry.version FOR UPDATE"  # noqa: S608 -- as above
# INVARIANT: law 7. The commit of this waits until it is on the disk, and with it all that was committed before.
_FLUSH = "SELECT pg_logical_emit_message(true, 'permitry', '')"
_COLUMNS = ("number", "body", "hash", *NAMES)
# Nothing is written to a form that another process has made, of which this one knows nothing.
_KNOWN = f"FROM permitry.version WHERE number <= {len(POSTGRES)}"
_APPEND = f"SELECT permitry.append({', '.join(['%s::text[]'] * (1 + len(NAMES)))}) {_KNOWN}"
_WRITE = f"BEGIN; {_NOT_YET}; {_APPEND}; COMMIT; {_FLUSH}"
_CHAIN = f"SELECT {', '.join(_COLUMNS)} FROM record ORDER BY number"  # noqa: S608 -- as above

# So often is looked, in case that a notification is lost on its way, as by a pool of connections.
_LISTENING = 5.0

# A server that lives says itself, within `patience`, that it cannot do what it is asked; one that hangs says nothing.
_HANGING = 1.5


@attrs.define(eq=False)
class PostgresStore(ChainedStore[Connection]):
    """Records in the schema `permitry` of the database at `url`. Thread-safe, and safe in several processes.

    A call waits at most `patience` seconds for others, as long for a new connection, and one and a half
    times as long where the server does not answer. One that `is_read_only` needs no right to write.

    Raises: `StoreError` when there is no such database, or it is of a newer permitry.
    """

    url: str = attrs.field(repr=False)
    name: str = attrs.field(init=False)
    """Which database it is, without a password."""
    _parameters: dict[str, Any] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Connect, and bring the database to the form of this permitry."""
        try:
            given = conninfo_to_dict(self.url)
        except psycopg.Error:
            # What is wrong with an address is described with parts of it, which may be a password.
            raise StoreError("the address of the store is not one of PostgreSQL") from None
        self._parameters = self._time_limits() | given
        self.name = make_conninfo(**{name: str(given[name]) for name in _SHOWN if name in given}) or "of PostgreSQL"
        if self.is_read_only:
            with self._translate_errors("cannot open"), contextlib.closing(self._connect()) as connection:
                self._check_version(_version(connection))
            return
        with self._translate_errors("cannot open"), self._writing:
            self._connection = self._open_writer()

    def _time_limits(self) -> dict[str, Any]:
        milliseconds = math.ceil(self.patience * 1000)
        return {
            "application_name": "permitry",
            "connect_timeout": math.ceil(self.patience),
            "tcp_user_timeout": milliseconds,
            "keepalives_idle": max(1, math.ceil(self.patience)),
        }

    def _write(self, batch: Sequence[PendingWrite]) -> None:
        values = _values([body for waiting in batch for body in waiting.bodies])
        with self._translate_errors("cannot write to"):
            number = self._append(values)
        for waiting in reversed(batch):
            waiting.last = number
            number -= len(waiting.bodies)

    def _append(self, values: Sequence[object]) -> int:
        """Write records, and return the number of the last, all in one round trip."""
        # The client writes the values into the text: several statements in one message have no parameters.
        with self._use_connection() as connection, psycopg.ClientCursor(connection) as cursor:
            cursor.execute(_WRITE.encode(), values)
            cursor.nextset()
            cursor.nextset()
            return self._last_of(cursor)

    def _last_of(self, cursor: psycopg.Cursor[tuple[Any, ...]]) -> int:
        """Return the number of the last record that was written; there is none in a form that is not known here."""
        row = cursor.fetchone()
        if row is None:
            raise self._newer()
        return int(row[0])

    def _newer(self) -> StoreError:
        return StoreError(f"the store `{self.name}` is of a newer permitry")

    def _check_version(self, version: int) -> None:
        if version > len(POSTGRES):
            raise self._newer()
        if not version and self.is_read_only:
            raise StoreError(f"there is no store in `{self.name}`")

    @contextlib.contextmanager
    def _lock_chain(self) -> Iterator[tuple[Connection, Head]]:
        with self._use_connection() as connection:
            cursor = connection.execute(_LOCK_CHAIN)
            while cursor.nextset():
                pass
            yield connection, read_head(cursor)
            connection.execute("COMMIT")
            connection.execute(_FLUSH)

    @contextlib.contextmanager
    def _use_connection(self) -> Iterator[Connection]:
        """Yield the connection for writing; it ends where anything fails, and with it what was not committed."""
        connection = self._writer()
        try:
            connection.until = self._until + (_HANGING - 1) * self.patience
            yield connection
            connection.until = math.inf
        except BaseException:
            connection.close()
            raise

    def _writer(self) -> Connection:
        """Return the connection for writing, a new one where it was lost while it was idle."""
        connection = self._own_connection(self.name)
        if connection is None or _is_lost(connection):
            connection = self._connection = self._open_writer()
        return connection

    def _rows(self, connection: Connection, query: str, values: Sequence[object] = ()) -> Iterator[Any]:
        # A cursor of the server: not all rows at once.
        with connection.cursor(name="rows") as cursor:
            yield from cursor.execute(_own(query), values)

    def _run(self, connection: Connection, statement: str, values: Sequence[object]) -> int:
        return connection.execute(_own(statement), values).rowcount

    def _add(self, connection: Connection, records: Sequence[ChainedRecord]) -> None:
        self._last_of(connection.execute(_APPEND.encode(), _values([record.body for record in records])))

    def _version(self, connection: Connection) -> int:
        return _version(connection)

    def _as_column(self, value: str) -> str:
        return _to_ascii(value)

    def _chain(self, connection: Connection) -> Iterator[ChainedRecord]:
        for number, body, digest, *columns in self._rows(connection, _CHAIN):
            record = ChainedRecord(number, body, digest)
            yield record
            # Asked for only behind the hash: what was changed need not be JSON.
            if tuple(columns) != _columns_of(body):
                raise BrokenChainError(number, "it is found by what it does not say")

    @contextlib.contextmanager
    def read(self) -> Iterator["Statements"]:
        """Yield what runs statements; each sees the store as it is then. Raises: `StoreError`."""
        with self._translate_errors("cannot read"), self._turn(), self._use_connection() as connection:
            yield Statements(connection)

    @contextlib.contextmanager
    def change(self) -> Iterator["Statements"]:
        """Yield what runs statements in one transaction, then on the disk. Raises: `StoreError`."""
        with self._translate_errors("cannot write to"), self._turn(), self._use_connection() as connection:
            cursor = connection.execute(_LOCK_OTHERS)
            while cursor.nextset():
                pass
            ((version,),) = cursor.fetchall()
            self._check_version(version)
            yield Statements(connection)
            connection.execute("NOTIFY permitry; COMMIT")
            connection.execute(_FLUSH)

    @contextlib.contextmanager
    def watch(self, pause: float) -> Iterator[Callable[[float], None]]:
        """Yield what waits for a change, so many seconds at most. Raises: `StoreError`."""
        with self._translate_errors("cannot read"), contextlib.closing(self._connect()) as connection:
            connection.execute("LISTEN permitry")
            # Nothing may come for as long as no one answers.
            connection.limit = math.inf

            def wait(seconds: float) -> None:
                if not connection.closed:
                    with contextlib.suppress(psycopg.OperationalError):
                        list(connection.notifies(timeout=min(_LISTENING, seconds), stop_after=1))
                        return
                    connection.close()
                # What can no longer be heard is looked for: whether the store is there is found then.
                time.sleep(min(pause, seconds))

            yield wait

    @contextlib.contextmanager
    def _translate_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, UnicodeError) as error:
            raise StoreError(f"{what} the store `{self.name}`: {self._without_password(error)}") from None

    def _without_password(self, error: Exception) -> str:
        text = " ".join(str(error).split()) or type(error).__name__
        password = self._parameters.get("password")
        return text.replace(password, "…") if password else text

    @contextlib.contextmanager
    def _read_snapshot(self) -> Iterator[Connection]:
        """Yield a connection that sees the store as it is now."""
        with self._translate_errors("cannot read"), contextlib.closing(self._connect()) as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield connection

    def _open_writer(self) -> Connection:
        connection = self._connect()
        try:
            self._migrate(connection)
            milliseconds = math.ceil(self.patience * 1000)
            # A writer that is lost must not hold up the others.
            for name, most in (("lock", 1), ("idle_in_transaction_session", 1), ("statement", 2)):
                connection.execute(f"SET {name}_timeout = {most * milliseconds}".encode())
            if connection.execute("SHOW synchronous_commit").fetchone() == ("off",):
                connection.execute("SET synchronous_commit = on")
        except BaseException:
            connection.close()
            raise
        self._process = os.getpid()
        return connection

    def _connect(self) -> Connection:
        if self._is_closed:
            raise StoreError(f"the store `{self.name}` is closed")
        connection = BoundedConnection.connect(make_conninfo(**self._parameters), autocommit=True)
        connection.limit = _HANGING * self.patience
        if connection.info.server_version < _OLDEST:
            connection.close()
            raise StoreError(f"a store needs PostgreSQL {_OLDEST // 10_000}; `{self.name}` is older")
        return connection

    def _migrate(self, connection: Connection) -> None:
        """Bring the database to the form of this permitry; one process does, and the others wait for it."""
        if _version(connection) == len(POSTGRES):
            return
        with connection.transaction():
            connection.execute(f"SET LOCAL lock_timeout = {math.ceil(self.patience * 1000)}".encode())
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            version = _version(connection)
            self._check_version(version)
            if not version:
                connection.execute("CREATE SCHEMA IF NOT EXISTS permitry")
                connection.execute("CREATE TABLE permitry.version (number INTEGER)")
                connection.execute("INSERT INTO permitry.version VALUES (0)")
            for statements in POSTGRES[version:]:
                for statement in statements:
                    connection.execute(statement.encode())
            connection.execute("UPDATE permitry.version SET number = %s", (len(POSTGRES),))


@attrs.frozen
class Statements:
    """Runs statements with `?` for values on a connection."""

    connection: Connection = attrs.field(repr=False)

    def execute(self, sql: str, values: tuple[Any, ...] = (), /) -> psycopg.Cursor[tuple[Any, ...]]:
        """Return a cursor."""
        return self.connection.execute(_own(sql), values)


def _is_lost(connection: Connection) -> bool:
    """Return whether a connection that is idle was ended; then nothing was written, and another one can be used."""
    if connection.closed:
        return True
    # The server has nothing to say to an idle connection, but that it is over.
    ready = select.poll()
    ready.register(connection.fileno(), select.POLLIN)
    if not ready.poll(0):
        return False
    connection.close()
    return True


def _version(connection: Connection) -> int:
    # Not `to_regclass`, which need not see what another transaction has made while this one waited.
    query = "SELECT count(*) FROM pg_tables WHERE schemaname = 'permitry' AND tablename = 'version'"
    if connection.execute(query).fetchone() == (0,):
        return 0
    ((version,),) = connection.execute("SELECT number FROM permitry.version")
    return int(version)


def _own(query: str) -> bytes:
    """Return a query with the placeholders of psycopg, and our tables by their full names."""
    return re.sub(rf"\b(FROM|INTO|UPDATE) ({_TABLES})\b", r"\1 permitry.\2", query.replace("?", "%s")).encode()


def _values(bodies: list[str]) -> list[str]:
    """Return what `_APPEND` takes, as PostgreSQL writes lists: the records, and by name what they are found by."""
    rows = [_columns_of(body) for body in bodies]
    return [_list(bodies), *(_list(row[at] for row in rows) for at in range(len(NAMES)))]


def _list(texts: Iterable[str | None]) -> str:
    # psycopg looks at each element first, which takes a third of the time of a write.
    return "{" + ",".join("NULL" if text is None else _quote(text) for text in texts) + "}"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _columns_of(body: str) -> tuple[str | None, ...]:
    """Return the texts that a record is found by. Raises: `StoreError` if it is not an object."""
    try:
        fields = json.loads(body)
        return tuple(_to_ascii(value) if isinstance(value := fields.get(name), str) else None for name in NAMES)
    except (ValueError, AttributeError) as error:
        raise StoreError(f"a record is a JSON object: {error}") from error


def _to_ascii(value: str) -> str:
    """Return a text in ASCII, as in JSON: PostgreSQL keeps no zero byte, and no half of a pair of code units."""
    return json.dumps(value)[1:-1]
