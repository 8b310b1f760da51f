"""The processes above one: who answers a question must not be started by what asks it."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["ancestors"]


def ancestors(process: int) -> Iterator[int]:
    """Yield the processes above one, the nearest first; none where the system does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        while process > 1:
            # The name of the program may hold anything, and is in parentheses.
            text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
            process = int(text.rpartition(")")[2].split()[1])
            if process > 1:
                yield process
