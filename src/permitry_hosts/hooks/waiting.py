"""Waiting for a human, who answers in another terminal."""

import time
from typing import TYPE_CHECKING

from permitry.channels.stored_question import Row

if TYPE_CHECKING:
    from permitry.store.questions import StoredQuestions

__all__ = ["wait_for_answer"]

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
