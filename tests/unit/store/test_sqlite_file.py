"""The file of a store."""

import os
import sqlite3
from pathlib import Path

import pytest

from permitry.store.sqlite_file import close, connect, identity_of


def test_only_the_process_that_opened_it_closes_a_connection(tmp_path: Path) -> None:
    """A fork has the connections of its parent, whose locks would end."""
    connection = connect(tmp_path / "a.db", "mode=rwc", 1)
    close(connection, os.getpid() + 1)
    assert connection.execute("SELECT 1").fetchone() == (1,)
    close(connection, os.getpid())
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")


def test_a_file_is_another_one_after_it_was_replaced(tmp_path: Path) -> None:
    """Whatever it holds, and under the same name."""
    path, other = tmp_path / "a.db", tmp_path / "b.db"
    path.touch()
    other.touch()
    before = identity_of(path)
    assert identity_of(path) == before
    other.replace(path)
    assert identity_of(path) != before
