"""Waiting for a human, who answers in another terminal, and not below the processes that wait."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from permitry.channels.stored_question import Row

if TYPE_CHECKING:
    from permitry.store.questions import StoredQuestions

__all__ = ["ancestors", "wait_for_answer"]

_PAUSE = 0.1


def wait_for_answer(questions: "StoredQuestions", name: str, seconds: float) -> None:
    """Return when a question has its answer, or is closed, or so many seconds are over.

    Raises: `StoreError`.
    """
    end = time.monotonic() + seconds
    with questions.watch(_PAUSE) as wait:
        while _is_open(questions.find(name)) and (left := end - time.monotonic()) > 0:
            wait(left)


def _is_open(row: Row | None) -> bool:
    return row is not None and row["closed_at"] is None and row["answer"] is None


def ancestors(process: int) -> Iterator[int]:
    """Yield the processes above one, the nearest first; none where the system does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        while process > 1:
            # The name of the program may hold anything, and is in parentheses.
            text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
            process = int(text.rpartition(")")[2].split()[1])
            if process > 1:
                yield process
