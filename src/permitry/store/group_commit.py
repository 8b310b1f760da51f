"""One write for all calls that come at the same time."""

import abc
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import attrs

from permitry.errors import StoreError

__all__ = ["GroupCommit", "PendingWrite"]


@attrs.define(eq=False)
class PendingWrite:
    """Records to be written together; `last` is the number of the last one when they are."""

    bodies: tuple[str, ...]
    last: int | None = None
    error: Exception | None = None


@attrs.define(eq=False)
class GroupCommit(abc.ABC):
    """Adds records: the call that comes first writes for all that wait. Thread-safe; there is no thread of its own.

    A call waits at most `patience` seconds for others, of this process and of others together.
    """

    patience: float = attrs.field(default=10.0, kw_only=True)
    _queue: list[PendingWrite] = attrs.field(factory=list, init=False, repr=False)
    _queueing: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)
    _writing: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)
    # When the patience of the call that has its turn ends.
    _until: float = attrs.field(default=0.0, init=False, repr=False)

    def append(self, *bodies: str) -> int:
        """Add records after the last one, all or none, and return the number of the last; else `StoreError`."""
        waiting = PendingWrite(bodies)
        with self._queueing:
            self._queue.append(waiting)
        try:
            with self._turn():
                # The first call to get here writes for all that have come meanwhile.
                if waiting.last is None and waiting.error is None:
                    with self._queueing:
                        batch, self._queue = self._queue, []
                    self._write_all(batch)
        finally:
            # Without a turn: who has given up is not to be written.
            with self._queueing, suppress(ValueError):
                self._queue.remove(waiting)
        if waiting.error is not None:
            raise StoreError(str(waiting.error)) from waiting.error
        if waiting.last is None:
            raise StoreError("the write to the store was interrupted")
        return waiting.last

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Let one call at a time use the connection; `StoreError` for one that does not get its turn."""
        until = time.monotonic() + self.patience
        if not self._writing.acquire(timeout=self.patience):
            why = f"other calls of this process have used it for {self.patience:g} seconds"
            raise StoreError(f"the store is busy: {why}")
        try:
            self._until = until
            yield
        finally:
            self._writing.release()

    def _write_all(self, batch: Sequence[PendingWrite]) -> None:
        try:
            self._write(batch)
        except BaseException as error:
            for waiting in batch:
                waiting.last = None
                waiting.error = error if isinstance(error, StoreError) else StoreError(f"interrupted: {error!r}")
            if not isinstance(error, StoreError):
                raise

    @abc.abstractmethod
    def _write(self, batch: Sequence[PendingWrite]) -> None:
        """Write all of these, or none, and set `last` of each; raise `StoreError` for none."""
