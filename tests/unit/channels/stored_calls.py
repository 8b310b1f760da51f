"""Calls whose questions are in a store, asked by guards as new processes have them."""

import contextlib
from pathlib import Path
from typing import Any

from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.guard.guard import Guard
from permitry.guard.ledgers import ledger_at, questions_at
from permitry.guard.outcome import Ask
from permitry.guard.session import Session
from permitry.store.records import store_at

ASKS = 'schema = 1\n[[rule]]\nid = "ask"\neffect = "confirm"\npriority = 160\ntools = ["write"]\n'
ALLOWS = ASKS.replace("confirm", "allow").replace("160", "250")
BLOCKS = ASKS.replace("confirm", "block")
YES, NO = ToolConfirmationResponse(True), ToolConfirmationResponse(False, instructions="not that")
CALL = ToolCall("write", {"path": "a", "password": "hunter22"}, call_id="c1")


def fresh(address: str | Path, rules: str = ASKS, **parts: Any) -> Guard:  # noqa: ANN401 -- the fields of a guard
    """Return a guard as a new process has it, for the same session."""
    given: dict[str, Any] = {"ledger": ledger_at(address), "session": Session(id="s1")} | parts
    return Guard(load_policy(rules), **given)


def asked(guard: Guard, call: ToolCall = CALL, spec: ToolSpec | None = None) -> Ask:
    """Return the question about a call."""
    outcome = guard.check(call, spec)
    assert isinstance(outcome, Ask)
    return outcome


def only(address: str) -> StoredQuestion:
    """Return the one question that can be answered."""
    (row,) = questions_at(address).open(Moment.now())
    return StoredQuestion.of(row)


def respond(address: str, response: ToolConfirmationResponse = YES) -> None:
    """Answer the one question from elsewhere."""
    answer_to(questions_at(address), only(address), response, by="ann")


def closed(address: str) -> list[dict[str, Any]]:
    """Return the rows of all questions."""
    with contextlib.closing(store_at(address)) as store, store.read() as connection:
        rows = connection.execute("SELECT * FROM question ORDER BY asked_at")
        return [dict(zip((column[0] for column in rows.description), row, strict=True)) for row in rows]


def change(address: str, statement: str, *values: object) -> None:
    """Change the questions behind the ledger's back."""
    with contextlib.closing(store_at(address)) as store, store.change() as connection:
        connection.execute(statement, values)
