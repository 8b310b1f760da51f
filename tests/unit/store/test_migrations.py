"""The forms of a store."""

import json
import sqlite3
from pathlib import Path

import pytest

from permitry.store.migrations import MIGRATIONS, NAMES
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


def test_all_names_can_be_asked_for(tmp_path: Path) -> None:
    """Each is a column, with what the record says."""
    store = SqliteStore(tmp_path / "permitry.db")
    store.append(json.dumps(dict.fromkeys(NAMES, "x")))
    equal = dict.fromkeys(NAMES, "x")
    assert [record.number for record in store.records(since="x", equal=equal)] == [1]
