"""A connection to PostgreSQL on which no one waits for ever: a server that hangs answers nothing, not even an error."""

import math
import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg

__all__ = ["BoundedConnection"]

T = TypeVar("T")


class BoundedConnection(psycopg.Connection[tuple[Any, ...]]):
    """Ends, and fails, where an answer takes more than `limit` seconds, or has not come at the moment `until`."""

    limit: float = math.inf
    until: float = math.inf

    def wait(self, gen: Generator[Any, Any, T], *arguments: Any, **options: Any) -> T:  # noqa: ANN401 -- of psycopg
        """Return what the generator returns, if in time. Raises: `psycopg.OperationalError`."""
        return super().wait(self._in_time(gen), *arguments, **options)

    def _in_time(self, waiting: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        until = min(self.until, time.monotonic() + self.limit)
        try:
            wanted = next(waiting)
            while True:
                # From time to time psycopg sends 0: nothing has come yet.
                ready = yield wanted
                if not ready and time.monotonic() >= until:
                    self.close()
                    raise psycopg.OperationalError("the server has not answered in time")
                wanted = waiting.send(ready)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]  # which it is typed as
