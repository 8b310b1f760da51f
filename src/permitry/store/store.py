"""What questions, grants and counters need of a store: a connection to read or to change with."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

__all__ = ["Connection", "Database", "Row", "change_rows", "read_rows"]

Row = Mapping[str, Any]
"""A row of a table by the names of its columns."""


class Connection(Protocol):
    """What runs one statement; `?` are its values."""

    def execute(self, sql: str, values: tuple[Any, ...] = ..., /) -> Any:  # noqa: ANN401 -- a cursor of any engine
        """Return a cursor."""
        ...


class Database(Protocol):
    """What questions and grants need of a store; one transaction changes them at a time. All raise `StoreError`."""

    def read(self) -> AbstractContextManager[Connection]:
        """Return a connection to read with; each statement sees the store as it is then."""
        ...

    def change(self) -> AbstractContextManager[Connection]:
        """Return a connection inside of a transaction, which is on the disk at the end, or undone."""
        ...

    def watch(self, pause: float) -> AbstractContextManager[Callable[[float], None]]:
        """Return what waits, at most so many seconds, until something may have changed; or else for `pause`."""
        ...


def read_rows(database: Database, columns: Sequence[str], query: str, values: tuple[Any, ...] = ()) -> list[Row]:
    """Return what a query finds, whose result has these columns."""
    with database.read() as connection:
        rows = connection.execute(query, values).fetchall()
    return [dict(zip(columns, row, strict=True)) for row in rows]


def change_rows(database: Database, statement: str, values: tuple[Any, ...]) -> int:
    """Return how many rows a statement has changed, in its own transaction."""
    with database.change() as connection:
        return int(connection.execute(statement, values).rowcount)
