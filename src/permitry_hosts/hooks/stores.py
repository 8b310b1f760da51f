"""The stores that hooks record in and look for answers in; a process that answers many keeps them open."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Self

import attrs

from permitry.audit.record import JsonlRecorder, StoredRecorder, user_name
from permitry.config.layers import default_store
from permitry.errors import StoreError
from permitry.guard.grants_in_force import Grants
from permitry.guard.ledgers import counters_at, grants_at
from permitry.store.leases import Counters
from permitry.store.records import is_address, is_store, store_at

if TYPE_CHECKING:
    from permitry.store.chained_store import Store

__all__ = ["Places", "Stores"]


@attrs.frozen
class Places:
    """Where a hook keeps what: as `--store` and `--record` say, otherwise all of it in the store of the user.

    A store waits `patience` seconds for others that write to it.
    """

    named_store: str | None = None
    named_record: str | None = None
    patience: float = 5.0

    @property
    def store(self) -> str:
        """The name of the store.

        Raises: `StoreError` for one that is none.
        """
        if self.named_store is not None and not is_store(self.named_store):
            raise StoreError(f"`{self.named_store}` is not a store; name a file `.db`, or the address of a PostgreSQL")
        record = self.named_record
        return _whole(self.named_store or (record if record and is_store(record) else str(default_store())))

    @property
    def record(self) -> str:
        """The name of the record."""
        return self.store if self.named_record is None else _whole(self.named_record)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of stores, with those that SQLite puts next to them."""
        names = {name for name in (self.store, self.record) if is_store(name) and not is_address(name)}
        return tuple(Path(f"{name}{end}") for name in sorted(names) for end in ("", "-journal", "-shm", "-wal"))


@attrs.frozen
class _Opened:
    store: "Store"
    grants: Grants
    counters: Counters
    file: tuple[int, int] | None

    def close(self) -> None:
        """Give back what is not used of budgets, and close the store."""
        self.counters.close()
        self.store.close()


@attrs.define
class Stores:
    """Opens stores, and closes them when an answer is given, unless they are kept for more. Not thread-safe.

    One whose file was removed or replaced is opened again.
    """

    is_kept: bool = False
    _open: dict[tuple[str, ...], _Opened] = attrs.field(factory=dict, init=False)

    def at(self, name: str, patience: float) -> "Store":
        """Return the store with this name.

        Raises: `StoreError` when it cannot be opened.
        """
        return self._opened(name, patience).store

    def grants(self, places: Places) -> Grants:
        """Return the grants in the store.

        Raises: `StoreError`.
        """
        # Kept with it, as they keep the policy that they are a part of.
        return self._opened(places.store, places.patience).grants

    def counters(self, places: Places) -> Counters:
        """Return where budgets that other sessions share are counted.

        Raises: `StoreError`.
        """
        return self._opened(places.store, places.patience).counters

    @contextlib.contextmanager
    def recorder(self, places: Places, session: str) -> Iterator[StoredRecorder]:
        """Yield what records the calls of a session. A file is closed at the end; a store is, with all others.

        Raises: `AuditError`; `StoreError`.
        """
        if is_store(places.record):
            yield StoredRecorder(self.at(places.record, places.patience), session=session)
            return
        with contextlib.closing(JsonlRecorder(places.record, session=session)) as recorder:
            yield recorder

    def close(self) -> None:
        """Close all that is open."""
        while self._open:
            self._open.popitem()[1].close()

    def _opened(self, name: str, patience: float) -> _Opened:
        key = (name, str(patience), *_environment(name))
        found = self._open.get(key)
        if found is not None and found.file != _file(name):
            del self._open[key]
            found.close()
            found = None
        if found is None:
            store = store_at(name, patience=patience)
            found = self._open[key] = _Opened(
                store, grants_at(store, principal=user_name()), counters_at(store), _file(name)
            )
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.is_kept:
            self.close()


def _whole(name: str) -> str:
    return name if is_address(name) else str(Path(name).absolute())


def _file(name: str) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        if not is_address(name):
            status = Path(name).stat()
            return status.st_dev, status.st_ino
    return None


def _environment(name: str) -> list[str]:
    """Return what an address means to a process besides what it says."""
    if not is_address(name):
        return []
    return [f"{key}={value}" for key, value in sorted(os.environ.items()) if key == "HOME" or key.startswith("PG")]
