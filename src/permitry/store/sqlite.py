"""A store in one file of SQLite, for all processes of one machine.

What is written is on the disk when the call returns. Calls that come at the same time share one write.
"""

import contextlib
import os
import random
import shutil
import sqlite3
import stat
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.errors import StoreError
from permitry.store.chain import ChainedRecord, Head
from permitry.store.chained_store import ChainedStore, read_head
from permitry.store.migrations import MIGRATIONS
from permitry.store.sqlite_file import close, connect, identity_of, state_of

__all__ = ["SqliteStore"]

_MAKE = os.O_RDWR | os.O_CREAT | os.O_EXCL
_OLDEST = (3, 31)
_PAUSE = 0.0005, 0.003
_ADD = "INSERT INTO record (number, body, hash) VALUES (?, ?, ?)"


@attrs.define(eq=False)
class SqliteStore(ChainedStore[sqlite3.Connection]):
    """Records in the file `path`, which only its owner may read. Thread-safe, and safe in several processes.

    Missing folders are made. A call waits at most `patience` seconds for others, of this process and of others
    together, and then for the disk. One that `is_read_only` changes neither the file, its mode, its form nor its log,
    and needs no right to write.

    Raises: `StoreError` when the file cannot be opened, is none of SQLite, is of a newer permitry, or has tables or
    triggers of another's making, and where all users can write to its folder.
    """

    path: Path = attrs.field(converter=Path)
    # It and its log, as they were when they were opened.
    _file: tuple[int, ...] = attrs.field(default=(), init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Open the file, and bring it to the form of this permitry."""
        if self.is_read_only:
            with self._read_snapshot() as connection:
                self._check_form(connection, self._version(connection))
            return
        with self._translate_errors("cannot open"), self._writing:
            self._writer()

    # Records --------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _lock_chain(self) -> Iterator[tuple[sqlite3.Connection, Head]]:
        with self._transaction() as connection:
            yield connection, read_head(connection.execute("SELECT number, hash FROM chain"))

    def _rows(self, connection: sqlite3.Connection, query: str, values: Sequence[object] = ()) -> Iterator[Any]:
        return connection.execute(query, tuple(values))

    def _run(self, connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> int:
        return connection.execute(statement, tuple(values)).rowcount

    def _add(self, connection: sqlite3.Connection, records: Sequence[ChainedRecord]) -> None:
        connection.executemany(_ADD, map(attrs.astuple, records))
        self._run(connection, "UPDATE chain SET number = ?, hash = ?", (records[-1].number, records[-1].hash))

    def _chain(self, connection: sqlite3.Connection) -> Iterator[ChainedRecord]:
        yield from super()._chain(connection)
        # An index that leaves out a record hides it from those who ask by what is in it.
        ((found,),) = connection.execute("PRAGMA integrity_check(1)")
        if found != "ok":
            raise StoreError(f"the store `{self.path}` is damaged: {found}")

    # Other tables ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection; each statement sees the store as it is then.

        Raises: `StoreError`.
        """
        # One that is opened for each question of a call would take longer than the decision.
        with self._translate_errors("cannot read"), self._turn():
            yield self._writer()

    @contextlib.contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, inside of a transaction that is on the disk afterwards, or never was.

        Raises: `StoreError`.
        """
        with self._translate_errors("cannot write to"), self._turn(), self._transaction() as connection:
            yield connection

    @contextlib.contextmanager
    def watch(self, pause: float) -> Iterator[Callable[[float], None]]:
        """Yield what waits `pause` seconds, or less: SQLite does not say when another process changes something."""
        yield lambda seconds: time.sleep(min(pause, seconds))

    # The file -------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _translate_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (OSError, UnicodeError, sqlite3.Error) as error:
            why = getattr(error, "strerror", None) or error
            raise StoreError(f"{what} the store `{self.path}`: {why}") from error

    @contextlib.contextmanager
    def _read_snapshot(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that sees the store as it is now, whatever is added meanwhile."""
        with self._translate_errors("cannot read"), self._open_reader() as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            yield connection

    @contextlib.contextmanager
    def _open_reader(self) -> Iterator[sqlite3.Connection]:
        if not self.is_read_only:
            with contextlib.closing(self._new_connection()) as connection:
                yield connection
            return
        self._check_folder()
        self._check_kind()
        with contextlib.ExitStack() as stack:
            path, log = self.path, Path(f"{self.path}-wal")
            if Path(f"{path}-shm").exists():
                yield stack.enter_context(contextlib.closing(connect(path, "mode=ro", self.patience)))
                return
            if log.exists() and log.stat().st_size:
                # SQLite would write a file next to these, and so they are read elsewhere.
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                for each in (log, path):
                    shutil.copyfile(each, folder / each.name)
                yield stack.enter_context(contextlib.closing(connect(folder / path.name, "mode=rw", self.patience)))
                return
            before = state_of(path)
            yield stack.enter_context(contextlib.closing(connect(path, "mode=ro&immutable=1", self.patience)))
            if state_of(path) != before:
                raise StoreError(f"the store `{path}` was written to while it was read; try again")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, inside of a transaction that is on the disk afterwards, or never was."""
        connection = self._writer()
        self._begin(connection)
        try:
            # Another process may have brought it to a newer form while this one had it open.
            self._version(connection)
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Begin to write, after others that do.

        SQLite itself waits longer from one try to the next, so that of many writers one may never get its turn.
        """
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > self._until:
                    raise
                time.sleep(random.uniform(*_PAUSE))  # noqa: S311 -- so that writers do not try at the same moments
            else:
                return

    def _writer(self) -> sqlite3.Connection:
        connection = self._own_connection(self.path)
        if connection is None:
            connection = self._connection = self._open_writer()
            # A store that is not used any more is closed, whether or not it was asked to.
            weakref.finalize(self, close, connection, os.getpid()).atexit = False
            self._process, self._file = os.getpid(), identity_of(self.path)
        elif identity_of(self.path) != self._file:
            raise StoreError(f"the store `{self.path}` was replaced while it was open")
        return connection

    def _open_writer(self) -> sqlite3.Connection:
        """Return a connection to the file, which is made or brought up to date."""
        if sqlite3.sqlite_version_info < _OLDEST:
            raise StoreError(
                f"a store needs SQLite {'.'.join(map(str, _OLDEST))}, and this is {sqlite3.sqlite_version}"
            )
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._check_folder()
        self._check_file()
        connection = self._new_connection()
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Bring the file to the form of this permitry."""
        connection.execute("PRAGMA journal_mode = WAL")
        # What was committed is still there when the power goes.
        connection.execute("PRAGMA synchronous = FULL")
        # What is removed, such as the call of a closed question, leaves no bytes in pages that are free now.
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("BEGIN IMMEDIATE")
        version = self._version(connection)
        for number, statements in enumerate(MIGRATIONS[version:], version + 1):
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        self._check_form(connection, len(MIGRATIONS))
        connection.execute("COMMIT")
        # From here on `_begin` waits.
        connection.execute("PRAGMA busy_timeout = 0")

    def _version(self, connection: sqlite3.Connection) -> int:
        """Return which form the store has.

        Raises: `StoreError` for that of a newer permitry.
        """
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > len(MIGRATIONS):
            raise StoreError(f"the store `{self.path}` is of a newer permitry")
        return version

    def _check_form(self, connection: sqlite3.Connection, version: int) -> None:
        """Raise where a table is not as permitry makes it, or something changes what is written to one.

        INVARIANT: records are found by columns that say what their text says; the chain covers the text alone.
        """
        found = connection.execute("SELECT type, sql FROM sqlite_master").fetchall()
        form = {each for statements in MIGRATIONS[:version] for each in statements if each.startswith("CREATE ")}
        if not form or not {sql for _, sql in found} >= form or any(kind == "trigger" for kind, _ in found):
            raise StoreError(f"the tables of the store `{self.path}` are not as permitry makes them")

    def _check_folder(self) -> None:
        # INVARIANT: SQLite takes over a `-wal` or `-journal` next to the store, also one of another user.
        if self.path.parent.stat().st_mode & stat.S_IWOTH:
            raise StoreError(f"all users can write to the folder of the store `{self.path}`; name one of your own")

    def _check_kind(self) -> None:
        if not stat.S_ISREG(self.path.lstat().st_mode):
            raise StoreError(f"cannot open the store `{self.path}`: it is not a regular file")

    def _check_file(self) -> None:
        """Make the file if there is none, and let only its owner read it."""
        # INVARIANT: law 7. A file of SQLite that is open in this process is not opened by anything else: when that is
        # closed, the locks of the process end, and another process removes the log that is still written to.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, _MAKE, 0o600))
        self._check_kind()
        self.path.chmod(0o600)

    def _new_connection(self) -> sqlite3.Connection:
        return connect(self.path, "mode=rw", self.patience)
