"""A recorder that keeps its lines in a store."""

from collections.abc import Callable
from typing import Protocol

import attrs

from permitry.audit.record import LineRecorder, new_session, utc_now
from permitry.errors import AuditError, StoreError

__all__ = ["RecordStore", "StoredRecorder"]


class RecordStore(Protocol):
    """Keeps lines, each for good when `append` returns."""

    def append(self, *bodies: str) -> int:
        """Keep lines, and return the number of the last.

        Raises: `StoreError`.
        """
        ...

    def close(self) -> None:
        """Close the store."""
        ...


@attrs.define
class StoredRecorder(LineRecorder):
    """Keeps each event in a store, on the disk when the write returns."""

    store: RecordStore
    clock: Callable[[], str] = utc_now
    session: str = attrs.field(factory=new_session)

    def _append(self, *lines: str) -> None:
        try:
            self.store.append(*lines)
        except StoreError as error:
            raise AuditError(str(error)) from error

    def close(self) -> None:
        """Close the store; later records fail."""
        self.store.close()
