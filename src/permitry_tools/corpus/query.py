"""SQL that a model writes, over the metadata of the corpus and nothing else."""

import json
import math
import sqlite3
from typing import Any

from permitry.port import current_cancellation
from permitry_tools.corpus.store import METADATA, CorpusStore

__all__ = ["QueryError", "is_select", "query"]

_FUNCTIONS = frozenset(
    {
        "abs", "avg", "coalesce", "count", "date", "glob", "group_concat", "ifnull", "iif", "instr", "julianday",
        "length", "like", "lower", "ltrim", "max", "min", "nullif", "replace", "round", "rtrim", "strftime", "substr",
        "substring", "sum", "total", "trim", "upper",
    }
)  # fmt: skip
_ONLY = "only SELECT is allowed, from " + ", ".join(METADATA)  # noqa: S608 -- no SQL, but a message
_MOST_ROWS = 200
_MOST_CHARACTERS = 12_000
_STEPS = 1_000
_MOST_STEPS = 2_000_000
_LIMITS = {
    # Of any text or row on the way. With the steps it bounds what SQLite puts into a temporary file to sort it.
    sqlite3.SQLITE_LIMIT_LENGTH: 4_096,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 10,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}


class QueryError(Exception):
    """A query that is not allowed, is wrong, or takes too long."""


def query(store: CorpusStore, sql: str) -> tuple[list[dict[str, Any]], bool]:
    """Return the rows of one SELECT over the metadata, as JSON objects, and whether these are all.

    The connection is read-only; an authorizer refuses every table that is not in `METADATA`, every function that is
    not harmless, and every other kind of statement. At most 200 rows, 12,000 characters and 2 million steps.

    Raises: `QueryError`; `ToolError` when the corpus cannot be read.
    """
    if not is_select(sql):
        raise QueryError(_ONLY)
    refused: list[str] = []
    steps = 0
    cancellation = current_cancellation()

    def authorize(action: int, first: str | None, second: str | None, database: str | None, _: str | None) -> int:
        refusal = _refusal(action, first, second, database)
        if refusal is None:
            return sqlite3.SQLITE_OK
        refused.append(refusal)
        return sqlite3.SQLITE_DENY

    def count() -> bool:
        nonlocal steps
        steps += _STEPS
        return steps > _MOST_STEPS or cancellation.is_cancelled

    with store.read() as connection:
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        connection.set_authorizer(authorize)
        connection.set_progress_handler(count, _STEPS)
        try:
            return _rows(connection.execute(sql))
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            if steps > _MOST_STEPS:
                raise QueryError("the query takes too long; ask for less") from error
            raise QueryError(refused[0] if refused else str(error)) from error


def is_select(sql: str) -> bool:
    """Return whether a text begins like a query; an authorizer is not asked about EXPLAIN."""
    return sql.lstrip("( \t\r\n").lower().startswith(("select", "with", "values"))


def _refusal(action: int, first: str | None, second: str | None, database: str | None) -> str | None:
    """Return why SQLite may not do this, or None where it may."""
    # INVARIANT: a table counts by its own name. Who reads it is not looked at: a subquery may bear any name.
    match action:
        case sqlite3.SQLITE_SELECT | sqlite3.SQLITE_RECURSIVE:
            return None
        case sqlite3.SQLITE_READ if first in METADATA and database in ("main", None):
            return None
        case sqlite3.SQLITE_READ:
            return f"`{first}` may not be read; {_ONLY}"
        case sqlite3.SQLITE_FUNCTION if (second or "").lower() in _FUNCTIONS:
            return None
        case sqlite3.SQLITE_FUNCTION:
            return f"the function `{second}` may not be used"
        case _:
            return _ONLY


def _is_finite(value: object) -> bool:
    # SQL knows infinity, JSON does not.
    return isinstance(value, float) and math.isfinite(value)


def _rows(cursor: sqlite3.Cursor) -> tuple[list[dict[str, Any]], bool]:
    if cursor.description is None:
        raise ValueError(_ONLY)
    names = [column[0] for column in cursor.description]
    rows: list[dict[str, Any]] = []
    left = _MOST_CHARACTERS
    for values in cursor:
        row = {
            name: value if isinstance(value, int | str | None) or _is_finite(value) else str(value)
            for name, value in zip(names, values, strict=True)
        }
        left -= len(json.dumps(row, ensure_ascii=False))
        if len(rows) == _MOST_ROWS or left < 0:
            return rows, False
        rows.append(row)
    return rows, True
