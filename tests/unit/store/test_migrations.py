"""The forms of a store."""

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.postgres import Cluster
from tests.tables import for_each

from permitry.errors import StoreError
from permitry.store.chain import Head, link
from permitry.store.migrations import MIGRATIONS, POSTGRES
from permitry.store.sqlite import SqliteStore
from permitry_ops.postgres import PostgresStore

RELEASED = {
    "SQLite": ("b88fe436c9ed2c00", "be9cbd6ce1e38f58"),
    "PostgreSQL": ("a1e931ccf7072afd", "83b357d31aa2f225"),
}
RECORD = link(Head(), '{"kept": true}')
ROWS = {
    "question": {
        "id": "q1", "session": "s", "agent": "", "call_id": "c", "digest": "d", "call": "{}", "redacted": "{}",
        "decision": "{}", "approvers": "[]", "above": "[]", "asked_at": 1.0, "deadline": 2.0, "boot": "", "steady": 0.0,
    },
    "permission_grant": {
        "id": "g1", "rule": "", "reason": "", "granted_by": "", "made_at": 1.0, "boot": "", "steady": 0.0,
        "uses_left": 3,
    },
}  # fmt: skip


def _kept(version: int, schema: str) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield statements that fill a store of a version."""
    if version >= 1:
        yield f"INSERT INTO {schema}record (number, body, hash) VALUES (?, ?, ?)", RECORD  # noqa: S608 -- names of ours
        yield f"UPDATE {schema}chain SET number = ?, hash = ?", (RECORD.number, RECORD.hash)  # noqa: S608 -- as above
    for table, row in ROWS.items() if version >= 2 else ():
        marks = ", ".join("?" * len(row))
        yield f"INSERT INTO {schema}{table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values())  # noqa: S608 -- as above


def _check_kept(store: Any, version: int) -> None:  # noqa: ANN401 -- a store of either kind
    assert list(store.records()) == ([RECORD] if version >= 1 else [])
    for table, row in ROWS.items() if version >= 2 else ():
        with store.read() as connection:
            found = connection.execute(f"SELECT {', '.join(row)} FROM {table}").fetchall()  # noqa: S608 -- as above
        assert [tuple(each) for each in found] == [tuple(row.values())]


@for_each(("name", "migrations"), [("SQLite", MIGRATIONS), ("PostgreSQL", POSTGRES)])
def test_what_was_released_never_changes(name: str, migrations: Sequence[Sequence[str]]) -> None:
    """A store of that version is there somewhere; what is new is added behind."""
    digests = [hashlib.sha256("\0".join(statements).encode()).hexdigest()[:16] for statements in migrations]
    assert tuple(digests[: len(RELEASED[name])]) == RELEASED[name]


@for_each("version", range(len(MIGRATIONS) + 1))
def test_a_store_of_any_version_is_brought_to_this_one(tmp_path: Path, version: int) -> None:
    """With all that was in it, and can be used then."""
    path = tmp_path / "permitry.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for statements in MIGRATIONS[:version]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
        for statement, values in _kept(version, ""):
            connection.execute(statement, values)
    connection.close()
    store = SqliteStore(path)
    _check_kept(store, version)
    count = 1 if version else 0
    assert store.append("{}") == count + 1
    assert store.verify() == count + 1
    store.close()


@for_each("version", range(len(POSTGRES) + 1))
def test_a_database_of_any_version_is_brought_to_this_one(postgres: Cluster, version: int) -> None:
    """With all that was in it, and can be used then, also by those who open it at the same time."""
    url = postgres.new()
    with psycopg.connect(url) as server:
        if version:
            server.execute("CREATE SCHEMA permitry; CREATE TABLE permitry.version (number INTEGER)")
            server.execute("INSERT INTO permitry.version VALUES (%s)", (version,))
        for statements in POSTGRES[:version]:
            for statement in statements:
                server.execute(statement.encode())
        for statement, values in _kept(version, "permitry."):
            server.execute(statement.replace("?", "%s").encode(), values)
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(PostgresStore, [url] * 8))
    _check_kept(stores[0], version)
    count = 1 if version else 0
    assert sorted(store.append("{}") for store in stores) == list(range(count + 1, count + 9))
    assert stores[0].verify() == count + 8
    for store in stores:
        store.close()


def test_a_database_of_a_newer_permitry_is_not_touched(postgres: Cluster) -> None:
    """It may have a form that is not known here."""
    url = postgres.new()
    PostgresStore(url).close()
    with psycopg.connect(url) as server:
        server.execute("UPDATE permitry.version SET number = %s", (len(POSTGRES) + 1,))
    with pytest.raises(StoreError, match="newer"):
        PostgresStore(url)


def test_reading_brings_a_database_to_no_form(postgres: Cluster) -> None:
    """One without a store stays without."""
    url = postgres.new()
    with pytest.raises(StoreError, match="no store"):
        PostgresStore(url, is_read_only=True)
    with psycopg.connect(url) as server:
        assert server.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'permitry'").fetchone() == (0,)
