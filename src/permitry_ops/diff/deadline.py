"""The time limit of a search: its inner loops ask whether the time is up."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["OutOfTimeError", "check_time", "end_at", "is_over"]

_END: ContextVar[float] = ContextVar("_END", default=math.inf)


class OutOfTimeError(Exception):
    """Raised within a search when its time is up."""


@contextmanager
def end_at(deadline: float | None) -> Iterator[None]:
    """Let what runs inside end at a time of `time.monotonic`, in seconds; with None, never."""
    token = _END.set(math.inf if deadline is None else deadline)
    try:
        yield
    finally:
        _END.reset(token)


def is_over() -> bool:
    """Return whether the time is up."""
    return time.monotonic() > _END.get()


def check_time() -> None:
    """Do nothing while there is time. Raises: `OutOfTimeError`."""
    if is_over():
        raise OutOfTimeError
