"""What a store does: records are added, found, verified and forgotten, in one chain."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any, Protocol

from permitry.store.chain import ChainedRecord, Head

__all__ = ["Connection", "Database", "Store"]


class Connection(Protocol):
    """What runs one statement; `?` are its values."""

    def execute(self, sql: str, values: tuple[Any, ...] = ..., /) -> Any:  # noqa: ANN401 -- a cursor of any engine
        """Return a cursor."""
        ...


class Database(Protocol):
    """What questions and grants need of a store. One transaction changes them at a time."""

    def read(self) -> AbstractContextManager[Connection]:
        """Return a connection to read with.

        Raises: `StoreError`.
        """
        ...

    def change(self) -> AbstractContextManager[Connection]:
        """Return a connection inside of a transaction, which is durable at the end, or undone.

        Raises: `StoreError`.
        """
        ...

    def watch(self, pause: float) -> AbstractContextManager[Callable[[float], None]]:
        """Return what waits, at most so many seconds, until something may have changed since it was made.

        Where the store does not say when something changes, it waits `pause` seconds.

        Raises: `StoreError`.
        """
        ...


class Store(Database, Protocol):
    """Keeps records, each a JSON object as text. Thread-safe, and safe in several processes.

    Every method raises `StoreError` where the store cannot be reached, read or written.
    """

    def append(self, *bodies: str) -> int:
        """Add records after the last one, all of them or none, and return the number of the last.

        When this returns, they are on the disk.
        """
        ...

    def records(
        self,
        *,
        after: int = 0,
        since: str = "",
        until: str = "~",
        last: int = -1,
        equal: Mapping[str, str] = MappingProxyType({}),
    ) -> Iterator[ChainedRecord]:
        """Yield records, oldest first: those with numbers above `after`, from `since` until before `until`.

        Of these the `last` ones, or all. `equal` gives values of some of the names in `migrations.NAMES`.

        Raises: `TypeError` for other names.
        """
        ...

    @property
    def head(self) -> Head:
        """The end of the chain."""
        ...

    def verify(self, anchors: Sequence[Head] = ()) -> int:
        """Return how many records there are, if they are those that were written; `anchors` are ends it had before.

        Raises: `BrokenChainError` with the first record that is not.
        """
        ...

    def prune(self, before: str, note: str, *, through: int = 0) -> Mapping[str, int]:
        """Forget the oldest records, all in front of the first that is not older than a time, and what ended before it.

        That are closed questions, and grants that count no more. Returned is how many `records`, `questions` and
        `grants` these were. `note` is a JSON object: the record of that. Where records that are older are `behind` one
        that is not, their number is returned, and that of the one they `stopped_at`; none up to `through` stops it.
        """
        ...

    def close(self) -> None:
        """Close the store, once; later calls fail."""
        ...
