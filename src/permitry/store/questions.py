"""Questions in a store: each is answered once, in time, and none is forgotten."""

import json
from typing import Any

import attrs

from permitry.store.store import Database, Row, change_rows, read_rows

__all__ = ["Now", "Row", "StoredQuestions", "in_time"]

_COLUMNS = (
    "id", "session", "agent", "call_id", "digest", "call", "redacted", "decision", "shown", "spec", "approvers",
    "above", "asked_at", "deadline", "boot", "steady", "answer", "answered_at", "answered_by", "closed_at",
)  # fmt: skip
_LIST = ", ".join(_COLUMNS)
_FIRST = _COLUMNS[: _COLUMNS.index("answer")]
_ADD = f"INSERT INTO question ({', '.join(_FIRST)}) VALUES ({', '.join('?' * len(_FIRST))})"  # noqa: S608 -- names of ours
_LOOK = f"SELECT {_LIST} FROM question WHERE "  # noqa: S608 -- as above
_CLOSE = "UPDATE question SET closed_at = ?, answer = NULL, call = NULL, shown = NULL WHERE "
_LOOK_ABOVE = "SELECT coalesce(max(above), '[]') FROM question WHERE id = ?"
_MOST_ABOVE = 30

# INVARIANT: a clock that is set back makes no late answer an early one. As long as the machine runs, the seconds since
# its start count, which cannot be set; later, and elsewhere, a clock that is behind what it was before is not believed.
_IN_TIME = """((boot = ? AND boot <> '' AND steady >= ?) OR ((boot <> ? OR boot = '') AND deadline >= ?
    AND ? >= (SELECT max(coalesce(answered_at, asked_at)) FROM question)))"""

# An answer counts for as long after the deadline as there was before it; then its call is not made any more.
_NOT_TAKEN = """((boot = ? AND boot <> '' AND steady + (deadline - asked_at) < ?) OR ((boot <> ? OR boot = '')
    AND (deadline + (deadline - asked_at) < ? OR asked_at > ?)))"""

# INVARIANT: an answer that the one who asked has not seen is neither taken nor dropped.
_WITH_ANSWER = "id = ? AND closed_at IS NULL AND coalesce(answer, '') = ?"

Now = tuple[float, str, float]
"""The time in seconds since 1970; the name of the current run of the machine, if it has one; its length in seconds."""


@attrs.frozen
class StoredQuestions:
    """The questions of a store, as rows. Each method is one transaction, or raises `StoreError`.

    A question is open until `closed_at`; it is answered when it has an `answer`, which the one who asked has still
    to take. Once closed, only what is redacted is left of its call.
    """

    database: Database

    def add(self, row: Row, most: int, size: int) -> bool:
        """Keep a question; False where as many are open already, or with so many bytes of calls."""
        with self.database.change() as connection:
            full = "SELECT count(*), coalesce(sum(length(call)), 0) FROM question WHERE closed_at IS NULL"
            count, taken = connection.execute(full).fetchone()
            if count >= most or taken + len(row["call"]) > size:
                return False
            connection.execute(_ADD, tuple(row[name] for name in _FIRST))
            return True

    def find(self, name: str) -> Row | None:
        """Return a question by its id."""
        return self._find(f"{_LOOK} id = ?", name)

    def earlier(self, session: str, agent: str, call_id: str, digest: str) -> Row | None:
        """Return the last question about a call."""
        query = f"{_LOOK} session = ? AND agent = ? AND call_id = ? AND digest = ? ORDER BY asked_at DESC LIMIT 1"
        return self._find(query, session, agent, call_id, digest)

    def find_unclosed(self, session: str, agent: str, digest: str) -> Row | None:
        """Return the last question about a call, by whatever id, that is not closed."""
        query = f"{_LOOK} session = ? AND agent = ? AND digest = ? AND closed_at IS NULL ORDER BY asked_at DESC LIMIT 1"
        return self._find(query, session, agent, digest)

    def _find(self, query: str, *values: str) -> Row | None:
        return next(iter(read_rows(self.database, _COLUMNS, query, values)), None)

    def renew(self, name: str, call_id: str, above: str, deadline: Now) -> None:
        """Let an open question without an answer be about `call_id` until `deadline`, and asked by `above` too."""
        update = """UPDATE question SET call_id = ?, above = ?, deadline = ?, boot = ?, steady = ?
            WHERE id = ? AND closed_at IS NULL AND answer IS NULL"""
        with self.database.change() as connection:
            # INVARIANT: law 5. Who asks again does not make room for an answer from below the one that asked first.
            (known,) = connection.execute(_LOOK_ABOVE, (name,)).fetchone()
            several = dict.fromkeys([*json.loads(known)[:_MOST_ABOVE], *json.loads(above)])
            connection.execute(update, (call_id, json.dumps(list(several)), *deadline, name))

    def open(self, now: Now) -> list[Row]:
        """Return the questions that can be answered, oldest first."""
        query = f"{_LOOK} closed_at IS NULL AND answer IS NULL AND {_IN_TIME} ORDER BY asked_at, id"
        return read_rows(self.database, _COLUMNS, query, in_time(now))

    def answer(self, name: str, digest: str, answer: str, by: str, now: Now) -> bool:
        """Answer an open question about the call with this digest; of several answers, the first counts."""
        update = f"""UPDATE question SET answer = ?, answered_by = ?, answered_at = ?
            WHERE id = ? AND digest = ? AND closed_at IS NULL AND answer IS NULL AND {_IN_TIME}"""  # noqa: S608 -- as above
        return change_rows(self.database, update, (answer, by, now[0], name, digest, *in_time(now))) == 1

    def take(self, name: str, has: str | None, kept: str, now: Now) -> bool:
        """Close a question with its answer, once: the one that it `has` and that still counts, or a first one, in time.

        `kept` is what is kept of the answer. False where the question has another answer by now, or is closed.
        """
        update = f"""UPDATE question SET closed_at = ?, answer = ?, answered_at = coalesce(answered_at, ?),
            call = NULL, shown = NULL
            WHERE {_WITH_ANSWER} AND ((answer IS NOT NULL AND NOT {_NOT_TAKEN})
            OR (answer IS NULL AND {_IN_TIME}))"""  # noqa: S608 -- as above
        values = (now[0], kept, now[0], name, has or "", *in_time(now), *in_time(now))
        return change_rows(self.database, update, values) == 1

    def close(self, name: str, now: Now, has: str | None = None) -> bool:
        """Close a question without an answer that counts; False where it has another by now, or is closed."""
        return change_rows(self.database, _CLOSE + _WITH_ANSWER, (now[0], name, has or "")) == 1

    def expire(self, now: Now) -> list[str]:
        """Close the questions that get no answer any more, or whose answer is late; return their ids."""
        late = f"(answer IS NULL AND NOT {_IN_TIME}) OR (answer IS NOT NULL AND {_NOT_TAKEN})"
        with self.database.change() as connection:
            query = f"SELECT id FROM question WHERE closed_at IS NULL AND ({late})"  # noqa: S608 -- as above
            names = [name for (name,) in connection.execute(query, (*in_time(now), *in_time(now))).fetchall()]
            for name in names:
                connection.execute(f"{_CLOSE} id = ?", (now[0], name))
            return names


def in_time(now: Now) -> tuple[Any, ...]:
    """Return the values of a moment for the SQL that asks whether something is in time."""
    wall, boot, steady = now
    return boot, steady, boot, wall, wall
