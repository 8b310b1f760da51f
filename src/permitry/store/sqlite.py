"""A store in one file of SQLite, for all processes of one machine."""

import os
import random
import shutil
import sqlite3
import stat
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import attrs

from permitry.errors import StoreError
from permitry.store.chain import ChainedRecord, Head
from permitry.store.chained_store import ChainedStore, read_head
from permitry.store.migrations import MIGRATIONS

__all__ = ["SqliteStore"]

_MAKE = os.O_RDWR | os.O_CREAT | os.O_EXCL
_OLDEST = (3, 31)
_PAUSE = 0.0005, 0.003
_ADD = "INSERT INTO record (number, body, hash) VALUES (?, ?, ?)"


@attrs.define(eq=False)
class SqliteStore(ChainedStore[Connection]):
    """Records in the file `path`, which only its owner may read. Thread-safe, and safe in several processes.

    Missing folders are made. A call waits at most `patience` seconds for others, and then for the disk. One that
    `is_read_only` changes neither the file, its mode, its form nor its log, and needs no right to write. Raises:
    `StoreError` when the file cannot be opened, is not one of this or an earlier permitry, or has tables or triggers of
    another's making, and where all users can write to its folder.
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

    @contextmanager
    def _lock_chain(self) -> Iterator[tuple[Connection, Head]]:
        with self._transaction() as connection:
            yield connection, read_head(connection.execute("SELECT number, hash FROM chain"))

    def _rows(self, connection: Connection, query: str, values: Sequence[object] = ()) -> Iterator[Any]:
        return connection.execute(query, tuple(values))

    def _run(self, connection: Connection, statement: str, values: Sequence[object]) -> int:
        return connection.execute(statement, tuple(values)).rowcount

    def _add(self, connection: Connection, records: Sequence[ChainedRecord]) -> None:
        connection.executemany(_ADD, records)
        self._run(connection, "UPDATE chain SET number = ?, hash = ?", (records[-1].number, records[-1].hash))

    def _chain(self, connection: Connection) -> Iterator[ChainedRecord]:
        yield from super()._chain(connection)
        # An index that leaves out a record hides it from those who ask by what is in it.
        ((found,),) = connection.execute("PRAGMA integrity_check(1)")
        if found != "ok":
            raise StoreError(f"the store `{self.path}` is damaged: {found}")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield the connection to read with."""
        # One that is opened for each question of a call would take longer than the decision.
        with self._translate_errors("cannot read"), self._turn():
            yield self._writer()

    @contextmanager
    def change(self) -> Iterator[Connection]:
        """Yield the connection, inside of a transaction."""
        with self._translate_errors("cannot write to"), self._turn(), self._transaction() as connection:
            yield connection

    @contextmanager
    def watch(self, pause: float) -> Iterator[Callable[[float], None]]:
        """Yield what waits `pause` seconds, or less: SQLite does not say when another process changes something."""
        yield lambda seconds: time.sleep(min(pause, seconds))

    @contextmanager
    def _translate_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (OSError, UnicodeError, sqlite3.Error) as error:
            why = getattr(error, "strerror", None) or error
            raise StoreError(f"{what} the store `{self.path}`: {why}") from error

    @contextmanager
    def _read_snapshot(self) -> Iterator[Connection]:
        with self._translate_errors("cannot read"), self._open_reader() as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def _open_reader(self) -> Iterator[Connection]:
        if not self.is_read_only:
            with closing(_connect(self.path, "mode=rw", self.patience)) as connection:
                yield connection
            return
        self._check_folder()
        self._check_kind()
        with ExitStack() as stack:
            path, log = self.path, Path(f"{self.path}-wal")
            if Path(f"{path}-shm").exists():
                yield stack.enter_context(closing(_connect(path, "mode=ro", self.patience)))
                return
            if log.exists() and log.stat().st_size:
                # SQLite would write a file next to these, and so they are read elsewhere.
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                for each in (log, path):
                    shutil.copyfile(each, folder / each.name)
                yield stack.enter_context(closing(_connect(folder / path.name, "mode=rw", self.patience)))
                return
            before = _state_of(path)
            yield stack.enter_context(closing(_connect(path, "mode=ro&immutable=1", self.patience)))
            if _state_of(path) != before:
                raise StoreError(f"the store `{path}` was written to while it was read; try again")

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Yield the connection, inside of a transaction that is on the disk at the end, or undone."""
        connection = self._writer()
        self._begin(connection)
        try:
            # Another process may have brought it to a newer form while this one had it open.
            self._version(connection)
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _begin(self, connection: Connection) -> None:
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

    def _writer(self) -> Connection:
        connection = self._own_connection(self.path)
        if connection is None:
            connection = self._connection = self._open_writer()
            # A store that is not used any more is closed, whether or not it was asked to.
            weakref.finalize(self, _close, connection, os.getpid()).atexit = False
            self._process, self._file = os.getpid(), _identity_of(self.path)
        elif _identity_of(self.path) != self._file:
            raise StoreError(f"the store `{self.path}` was replaced while it was open")
        return connection

    def _open_writer(self) -> Connection:
        """Return a connection to the file, which is made or brought up to date."""
        if sqlite3.sqlite_version_info < _OLDEST:
            oldest = ".".join(map(str, _OLDEST))
            raise StoreError(f"a store needs SQLite {oldest}, and this is {sqlite3.sqlite_version}")
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._check_folder()
        self._check_file()
        connection = _connect(self.path, "mode=rw", self.patience)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: Connection) -> None:
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

    def _version(self, connection: Connection) -> int:
        """Return which form the store has; that of a newer permitry is refused."""
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > len(MIGRATIONS):
            raise StoreError(f"the store `{self.path}` is of a newer permitry")
        return version

    def _check_form(self, connection: Connection, version: int) -> None:
        """Raise where a table is not as permitry makes it, or something changes what is written to one.

        INVARIANT: records are found by columns that say what their text says; the chain covers the text alone.
        """
        found = connection.execute("SELECT type, sql FROM sqlite_master").fetchall()
        form = {each for statements in MIGRATIONS[:version] for each in statements if each.startswith("CREATE ")}
        has_triggers = any(kind == "trigger" for kind, _ in found)
        if not form or not {sql for _, sql in found} >= form or has_triggers:
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
        with suppress(FileExistsError):
            os.close(os.open(self.path, _MAKE, 0o600))
        self._check_kind()
        self.path.chmod(0o600)


def _connect(path: Path, how: str, patience: float) -> Connection:
    """Return a connection to a file, opened as the query of a URI says."""
    address = f"{path.absolute().as_uri()}?{how}"
    return sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None, check_same_thread=False)


def _close(connection: Connection, process: int) -> None:
    """Close a connection that this process has opened; SQLite must not close one of its parent."""
    if process == os.getpid():
        connection.close()


def _state_of(path: Path) -> tuple[object, ...]:
    """Return what tells whether a store was written to."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, Path(f"{path}-shm").exists()


def _identity_of(path: Path) -> tuple[int, ...]:
    """Return which file this is, and which log is next to it, as long as SQLite keeps one."""
    status, log = path.stat(), 0
    with suppress(FileNotFoundError):
        log = os.stat(f"{path}-wal").st_ino  # noqa: PTH116 -- on the way of each call
    return status.st_dev, status.st_ino, log
