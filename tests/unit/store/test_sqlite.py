"""The store in a file of SQLite: what can go wrong with a file. See `test_store.py` for what every store does."""

import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each
from tests.unit.store.conftest import body

from permitry.errors import StoreError
from permitry.store.chain import BrokenChainError
from permitry.store.migrations import MIGRATIONS
from permitry.store.sqlite import SqliteStore, _close, _connect, _identity_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the store is to be."""
    return tmp_path / "state" / "permitry.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """Return a store with five records."""
    store = SqliteStore(path)
    store.append(*map(body, range(5)))
    yield store
    store.close()


def change(path: Path, *statements: str, values: Sequence[object] = ()) -> None:
    """Change the file behind the store's back."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement, values)
    connection.close()


# Keeping ---------------------------------------------------------------------------------------------------------


def test_only_its_owner_reads_it(store: SqliteStore) -> None:
    """Nor what SQLite puts next to it."""
    assert {stat.S_IMODE(each.stat().st_mode) for each in store.path.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


def test_what_is_removed_leaves_no_bytes(store: SqliteStore) -> None:
    """Once SQLite has written it to the file, which it does when it is closed at the latest."""
    secret = b"sk-live-secret"
    with store.change() as connection:
        connection.execute("CREATE TABLE kept (text TEXT)")
        connection.execute("INSERT INTO kept VALUES (?)", (secret.decode() * 3_000,))
    with store.change() as connection:
        connection.execute("UPDATE kept SET text = NULL")
    store.close()
    assert [each.name for each in store.path.parent.iterdir()] == [store.path.name]
    assert secret not in store.path.read_bytes()


def test_a_failure_fails_each_of_the_calls_that_share_a_write(path: Path) -> None:
    """None of them may take its record for kept; the next ones are kept again."""
    store = SqliteStore(path, patience=0.2)
    blocker = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    blocker.execute("BEGIN IMMEDIATE")

    def tried(number: int) -> str:
        try:
            return str(store.append(body(number)))
        except StoreError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(tried, range(8)))
    assert any("locked" in each and str(path) in each for each in said)
    assert all("locked" in each or "busy" in each for each in said)
    blocker.execute("ROLLBACK")
    blocker.close()
    assert store.append(body(9)) == 1


# What can go wrong with a file -------------------------------------------------------------------------------------


def _link(path: Path) -> None:
    path.symlink_to(path.with_name("other"))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda path: path.write_text("hello, this is not a store"), "not a database"),
        (lambda path: path.mkdir(), "cannot open"),
        (_link, "cannot open"),
        (os.mkfifo, "cannot open"),
    ],
)
def test_what_is_no_store_is_left_as_it_is(path: Path, spoil: Callable[[Path], object], why: str) -> None:
    """The error names the file."""
    path.parent.mkdir()
    spoil(path)
    with pytest.raises(StoreError, match=why) as caught:
        SqliteStore(path)
    assert str(path) in str(caught.value)
    assert not path.with_name("other").exists()


def test_a_store_of_a_newer_permitry_is_not_touched(store: SqliteStore) -> None:
    """It may have a form that is not known here."""
    store.close()
    change(store.path, f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(StoreError, match="newer"):
        SqliteStore(store.path)


_SCHEMA = "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name LIKE 'record%'"


def rewrite(path: Path, old: str, new: str) -> None:
    """Change what the file says of its tables, and nothing in them."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(_SCHEMA, (old, new))
    connection.close()


def test_what_a_record_is_found_by_cannot_be_made_up(store: SqliteStore) -> None:
    """Each record is as it was written, and one is not found by its tool."""
    store.close()
    rewrite(store.path, "json_extract(body, '$.tool')", "iif(number = 3, 'x', json_extract(body, '$.tool'))")
    with pytest.raises(StoreError, match="not as permitry makes them"):
        SqliteStore(store.path)


def test_a_trigger_is_none_of_ours(store: SqliteStore) -> None:
    """It could approve what is asked, or make a grant."""
    store.close()
    change(store.path, "CREATE TRIGGER t AFTER INSERT ON question BEGIN UPDATE question SET answer = 'yes'; END")
    with pytest.raises(StoreError, match="not as permitry makes them"):
        SqliteStore(store.path)


def test_an_index_that_leaves_out_records_is_found(store: SqliteStore) -> None:
    """What is asked for by the id of a call is looked up there."""
    store.close()
    rewrite(store.path, "record (call_id)", "record (tool)")
    change(store.path, "REINDEX")
    rewrite(store.path, "record (tool)", "record (call_id)")
    store = SqliteStore(store.path)
    with pytest.raises(StoreError, match="is damaged"):
        store.verify()
    store.close()


@for_each(
    ("wanted", "index"),
    [
        ({"times": ("2026-11-02", "~")}, "record_at (at>? AND at<?)"),
        ({"equal": {"session": ("s",)}}, "record_session (session=?"),
        ({"equal": {"verdict": ("block",)}, "last": 5}, "record_verdict (verdict=?"),
        ({"equal": {"rule": ("r",)}}, "record_rule (rule=?"),
        ({"equal": {"call_id": ("c",)}}, "record_call (call_id=?"),
    ],
)
def test_records_are_found_by_an_index(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, wanted: dict[str, Any], index: str
) -> None:
    """Of a million as fast as of a few."""
    plans: list[str] = []

    def explain(_: SqliteStore, connection: sqlite3.Connection, query: str, values: Sequence[object] = ()) -> list[Any]:
        plans.extend(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", tuple(values)))
        return []

    monkeypatch.setattr(SqliteStore, "_rows", explain)
    assert list(store.records(**wanted)) == []
    assert any(f"USING INDEX {index}" in plan for plan in plans), plans


def test_a_time_is_asked_for_as_it_is_without_the_index(store: SqliteStore) -> None:
    """Records without one are in front of all others."""
    store.append("{}", body(0), body(1), body(2))
    found = [
        [record.number for record in store.records(times=times)] for times in (("", "2026-11-02"), ("2026-11-02", "~"))
    ]
    assert found[0][0] < found[1][0]
    assert sorted(found[0] + found[1]) == [record.number for record in store.records()]
    assert [record.number for record in store.records(times=("2026-11-02", "~"), after=found[1][0])] == found[1][1:]


def test_a_damaged_file_is_said(store: SqliteStore) -> None:
    """And nothing is taken for kept."""
    store.close()
    with store.path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(8192))
    with pytest.raises((StoreError, BrokenChainError)):
        SqliteStore(store.path).verify()


def test_a_file_that_was_replaced_takes_no_more_records(store: SqliteStore) -> None:
    """They would not be found."""
    store.path.rename(store.path.with_name("moved"))
    with pytest.raises(StoreError, match="No such file"):
        store.append(body(6))
    store.path.write_bytes(store.path.with_name("moved").read_bytes())
    with pytest.raises(StoreError, match="replaced"):
        store.append(body(6))


def test_a_second_store_of_a_process_loses_no_record_of_the_first(store: SqliteStore) -> None:
    """A process that ends removes the log of changes only where no one else has it open."""
    second, last = SqliteStore(store.path), store.head.number
    code = (
        "import sys; from permitry.store.sqlite import SqliteStore as S; s = S(sys.argv[1]); s.append('{}'); s.close()"
    )
    for number in (last + 2, last + 4):
        subprocess.run([sys.executable, "-c", code, str(store.path)], check=True)
        assert store.append(body(1)) == number
    assert second.verify() == last + 4
    with contextlib.closing(sqlite3.connect(store.path)) as other, other:
        assert other.execute("SELECT count(*) FROM record").fetchone() == (last + 4,)
    other.close()


def test_a_file_whose_log_was_removed_takes_no_more_records(store: SqliteStore) -> None:
    """They would be written to a log that no one finds."""
    store.append(body(1))
    Path(f"{store.path}-wal").unlink()
    with pytest.raises(StoreError, match="replaced"):
        store.append(body(2))


def test_no_store_is_where_all_users_can_write(path: Path) -> None:
    """Another user could leave a log of changes next to it, such as one that adds a grant."""
    path.parent.mkdir()
    path.parent.chmod(0o1777)
    with pytest.raises(StoreError, match="all users can write to the folder"):
        SqliteStore(path)
    assert list(path.parent.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_said(path: Path) -> None:
    """Before any call is decided."""
    path.parent.write_text("a file")
    with pytest.raises(StoreError, match="cannot open"):
        SqliteStore(path)


FILLING = """
import resource, signal, sys
from permitry.errors import StoreError
from permitry.store.sqlite import SqliteStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = SqliteStore(sys.argv[1])
store.append("{}")
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
kept = 1
try:
    while True: kept = store.append('{"x": "' + "x" * 1000 + '"}')
except StoreError as error: print(error)
assert store.verify() == kept
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert store.append("{}") == kept + 1
assert store.verify() == kept + 1
"""


def test_a_disk_that_takes_no_more_is_said_and_later_records_are_kept(path: Path) -> None:
    """What was said to be kept is there."""
    done = subprocess.run([sys.executable, "-c", FILLING, str(path)], capture_output=True, text=True, check=True)
    assert str(path) in done.stdout


def listing(path: Path) -> dict[str, tuple[object, ...]]:
    """Return all that is in the folder of a store."""
    found: dict[str, tuple[object, ...]] = {}
    for each in path.parent.iterdir():
        status = each.stat()
        found[each.name] = (stat.S_IMODE(status.st_mode), status.st_ino, status.st_mtime_ns, each.read_bytes())
    return found


@pytest.mark.parametrize("left", ["closed", "crashed", "a log alone"])
def test_reading_needs_no_right_to_write_and_changes_nothing(store: SqliteStore, tmp_path: Path, left: str) -> None:
    """Neither the mode nor the log, whether it was closed, or its process ended before that."""
    path = tmp_path / "copy" / "permitry.db"
    path.parent.mkdir()
    if left == "closed":
        store.close()
    for each in store.path.parent.iterdir():
        if left != "a log alone" or not each.name.endswith("-shm"):
            (path.parent / each.name).write_bytes(each.read_bytes())
            (path.parent / each.name).chmod(0o440)
    path.parent.chmod(0o550)
    before = listing(path)
    reading = SqliteStore(path, is_read_only=True)
    assert (reading.verify(), reading.head.number, len(list(reading.records()))) == (5, 5, 5)
    reading.close()
    after = listing(path)
    if left == "crashed":
        # SQLite notes in this one who reads.
        del before["permitry.db-shm"], after["permitry.db-shm"]
    assert after == before
    path.parent.chmod(0o750)


def test_reading_brings_no_older_store_to_a_newer_form(path: Path) -> None:
    """Its records are read as they are."""
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in MIGRATIONS[0]:
            connection.execute(statement)
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    before = listing(path)
    assert SqliteStore(path, is_read_only=True).verify() == 0
    assert listing(path) == before


def test_what_is_not_a_store_is_not_made_one_by_reading(path: Path) -> None:
    """It stays empty, or is not there."""
    path.parent.mkdir()
    with pytest.raises(StoreError):
        SqliteStore(path, is_read_only=True)
    assert not path.exists()
    path.write_bytes(b"")
    with pytest.raises(StoreError, match="not as permitry makes them"):
        SqliteStore(path, is_read_only=True)
    assert path.read_bytes() == b""


def test_a_store_that_is_written_to_while_it_is_read_is_not_believed(store: SqliteStore) -> None:
    """It was closed when the reading began."""
    store.close()
    reading = SqliteStore(store.path, is_read_only=True)
    records = reading.records()
    next(records)
    other = SqliteStore(store.path)
    other.append(body(6))
    with pytest.raises(StoreError, match="try again"):
        list(records)
    other.close()


def test_only_the_process_that_opened_it_closes_a_connection(tmp_path: Path) -> None:
    """A fork has the connections of its parent, whose locks would end."""
    connection = _connect(tmp_path / "a.db", "mode=rwc", 1)
    _close(connection, os.getpid() + 1)
    assert connection.execute("SELECT 1").fetchone() == (1,)
    _close(connection, os.getpid())
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")


def test_a_file_is_another_one_after_it_was_replaced(tmp_path: Path) -> None:
    """Whatever it holds, and under the same name."""
    path, other = tmp_path / "a.db", tmp_path / "b.db"
    path.touch()
    other.touch()
    before = _identity_of(path)
    assert _identity_of(path) == before
    other.replace(path)
    assert _identity_of(path) != before
