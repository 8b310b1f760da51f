"""The file of a store: opened, closed, and known again."""

import contextlib
import os
import sqlite3
from pathlib import Path

__all__ = ["close", "connect", "identity_of", "state_of"]


def connect(path: Path, how: str, patience: float) -> sqlite3.Connection:
    """Return a connection to a file, opened as the query of a URI says."""
    address = f"{path.absolute().as_uri()}?{how}"
    return sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None, check_same_thread=False)


def close(connection: sqlite3.Connection, process: int) -> None:
    """Close a connection that this process has opened; SQLite must not close one of its parent."""
    if process == os.getpid():
        connection.close()


def state_of(path: Path) -> tuple[object, ...]:
    """Return what tells whether a store was written to."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, Path(f"{path}-shm").exists()


def identity_of(path: Path) -> tuple[int, ...]:
    """Return which file this is, and which log is next to it, as long as SQLite keeps one."""
    status, log = path.stat(), 0
    with contextlib.suppress(FileNotFoundError):
        log = os.stat(f"{path}-wal").st_ino  # noqa: PTH116 -- on the way of each call
    return status.st_dev, status.st_ino, log
