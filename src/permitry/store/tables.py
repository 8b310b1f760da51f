"""What a store needs of a database: to read as of one moment, and to write in one transaction."""

import abc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol, TypeVar

import attrs

from permitry.errors import StoreError
from permitry.store.chain import ChainedRecord, Head
from permitry.store.group_commit import GroupCommit
from permitry.store.store import Database

__all__ = ["Closable", "Connection", "Tables", "read_head"]


class Closable(Protocol):
    """A connection to a database."""

    def close(self) -> object:
        """Close it."""
        ...


Connection = TypeVar("Connection", bound=Closable)


@attrs.define(eq=False)
class Tables(GroupCommit, Database, Generic[Connection]):
    """Tables of a database that stays the same while it is read. Queries have `?` for values."""

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
    def _version(self, connection: Connection) -> int:
        """Return which form the store has."""

    @abc.abstractmethod
    def _add(self, connection: Connection, records: Sequence[ChainedRecord]) -> None:
        """Write records behind the last one, and the new end of the chain."""


def read_head(rows: Iterable[Any]) -> Head:
    """Return the end of the chain that the only row of the table `chain` gives."""
    match list(rows):
        case [(int(number), bytes(digest))]:
            return Head(number, digest)
    raise StoreError("the end of the chain of records is damaged, or missing")
