"""Where a record is kept: a store at `*.db` or `postgresql://...`, otherwise a file with a line for each event."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from permitry.audit.record import JsonlRecorder, StoredRecorder, new_session
from permitry.errors import StoreError
from permitry.extras import load, missing

if TYPE_CHECKING:
    from permitry.store.chained_store import Store

__all__ = ["is_address", "is_store", "record_name", "recorder_at", "store_at"]

_STORE = ".db"
_POSTGRES = ("postgresql://", "postgres://")


def is_address(record: str | Path) -> bool:
    """Return whether a record is in a PostgreSQL: what names it is not a path."""
    return str(record).startswith(_POSTGRES)


def is_store(record: str | Path) -> bool:
    """Return whether a record with this name is in a store."""
    return is_address(record) or Path(record).suffix == _STORE


def record_name(record: str | Path) -> str:
    """Return what people see of its name: an address without users, passwords and options."""
    if not is_address(record):
        return str(record)
    return re.sub(r"//[^/]*@", "//", str(record).partition("?")[0])


def store_at(record: str | Path, *, patience: float = 10.0, is_read_only: bool = False) -> "Store":
    """Return the store with this name, which is made if need be; its calls wait at most `patience` seconds.

    One that `is_read_only` is neither made nor changed in any way. Raises: `StoreError` when it cannot be opened.
    """
    if not is_address(record):
        from permitry.store.sqlite import SqliteStore  # noqa: PLC0415 -- a hook without a store need not import it

        return SqliteStore(Path(record), patience=patience, is_read_only=is_read_only)
    try:
        postgres: Callable[..., Store] = load("permitry_ops.postgres:PostgresStore")
    except ModuleNotFoundError as error:
        raise StoreError(missing(error.name, "postgres")) from error
    return postgres(str(record), patience=patience, is_read_only=is_read_only)


def recorder_at(path: str, *, session: str | None = None, patience: float = 10.0) -> StoredRecorder:
    """Return what keeps the record at a path, under a new session without the id of one."""
    name = session or new_session()
    if is_store(path):
        return StoredRecorder(store_at(path, patience=patience), session=name)
    return JsonlRecorder(path, session=name)
