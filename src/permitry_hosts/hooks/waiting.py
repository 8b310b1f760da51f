"""Waiting for a human, who answers in another terminal."""

import shlex
import time
from typing import TYPE_CHECKING

from permitry.channels.stored_question import Row
from permitry.config.layers import default_store
from permitry.guard.outcome import Ask
from permitry.store.records import record_name
from permitry_hosts.hooks.host import Effect, Verb
from permitry_hosts.hooks.stores import Places

if TYPE_CHECKING:
    from permitry.store.questions import StoredQuestions

__all__ = ["deny_unanswered", "wait_for_answer"]

_PAUSE = 0.1
_UNASKED = (
    "{message} No one can be asked here, so it did not run. Ask the user to answer `permitry approve {id}{store}` in "
    "another terminal, then make the same call again; do not retry it before."
)


def wait_for_answer(questions: "StoredQuestions", name: str, seconds: float) -> None:
    """Return when a question has its answer, or is closed, or so many seconds are over.

    Raises: `StoreError`.
    """
    end = time.monotonic() + seconds
    with questions.database.watch(_PAUSE) as wait:
        while _is_open(questions.find(name)) and (left := end - time.monotonic()) > 0:
            wait(left)


def deny_unanswered(ask: Ask, places: Places) -> Effect:
    """Return what is answered about a question that is still open: how the user can answer it."""
    is_default = places.store == str(default_store().absolute())
    named = "" if is_default else f" --store {shlex.quote(record_name(places.store))}"
    return Effect(Verb.DENY, _UNASKED.format(message=ask.decision.message, id=ask.id, store=named))


def _is_open(row: Row | None) -> bool:
    return row is not None and row["closed_at"] is None and row["answer"] is None
