"""The forms of a store."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from tests.postgres import Cluster

from permitry.errors import StoreError
from permitry.store.migrations import MIGRATIONS, POSTGRES
from permitry.store.postgres import PostgresStore
from permitry.store.sqlite import SqliteStore


@pytest.mark.parametrize("version", range(len(MIGRATIONS) + 1))
def test_a_store_of_any_version_is_brought_to_this_one(tmp_path: Path, version: int) -> None:
    """And can be used then."""
    path = tmp_path / "permitry.db"
    with sqlite3.connect(path) as connection:
        for statements in MIGRATIONS[:version]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    store = SqliteStore(path)
    assert store.append("{}") == 1
    assert store.verify() == 1


@pytest.mark.parametrize("version", range(len(POSTGRES) + 1))
def test_a_database_of_any_version_is_brought_to_this_one(postgres: Cluster, version: int) -> None:
    """And can be used then, also by those who open it at the same time."""
    url = postgres.new()
    with psycopg.connect(url) as server:
        if version:
            server.execute("CREATE SCHEMA permitry; CREATE TABLE permitry.version (number INTEGER)")
            server.execute("INSERT INTO permitry.version VALUES (%s)", (version,))
        for statements in POSTGRES[:version]:
            for statement in statements:
                server.execute(statement.encode())
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(PostgresStore, [url] * 8))
    assert sorted(store.append("{}") for store in stores) == list(range(1, 9))
    assert stores[0].verify() == 8
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
