"""What an MCP server writes on standard error."""

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["LastWords"]

_LAST_WORDS = 4_000


class LastWords:
    """Keeps the end of what a server writes on standard error, for an error that says why it is not there."""

    def __init__(self) -> None:
        self._kept = b""

    def text(self) -> str:
        """Return what was said last."""
        return self._kept.decode(errors="replace")

    @contextlib.contextmanager
    def listen(self) -> Iterator[Any]:
        """Yield the file for the server to write to; a thread reads what comes."""
        reading, writing = os.pipe()
        thread = threading.Thread(target=self._read, args=(reading,), daemon=True)
        thread.start()
        with os.fdopen(writing, "w") as file:
            yield file
        # A process that has left its parent may hold the other end for ever.
        thread.join(1)

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, "rb", 0) as pipe:
            while chunk := pipe.read(65_536):
                self._kept = (self._kept + chunk)[-_LAST_WORDS:]
