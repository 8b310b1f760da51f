"""The store in a file of SQLite: nothing is lost, nothing is changed unseen, and writers wait for each other."""

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from permitry.errors import StoreError
from permitry.store.chain import BrokenChainError, Head
from permitry.store.migrations import MIGRATIONS
from permitry.store.sqlite import SqliteStore


def body(number: int, **more: object) -> str:
    """Return a record."""
    return json.dumps({"at": f"2026-11-{number % 28 + 1:02}", "event": "decided", "tool": f"t{number}", **more})


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
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement, values)
    connection.close()


# Keeping ---------------------------------------------------------------------------------------------------------


def test_what_is_added_is_found_in_order(store: SqliteStore) -> None:
    """With numbers without a gap, also by another store of the same file."""
    assert store.append(body(5)) == 6
    for each in (store, SqliteStore(store.path)):
        assert [(record.number, record.body) for record in each.records()] == [(n + 1, body(n)) for n in range(6)]
        assert each.verify() == 6
        assert each.head.number == 6


def test_records_are_asked_for_by_what_they_say(store: SqliteStore) -> None:
    """By number, time, and the values of some fields."""

    def found(**wanted: object) -> list[int]:
        return [record.number for record in store.records(**wanted)]  # type: ignore[arg-type]  # as a test gives them

    assert found(after=3) == [4, 5]
    assert found(last=2) == [4, 5]
    assert found(equal={"tool": "t2", "event": "decided"}) == [3]
    assert found(equal={"tool": "t2", "event": "asked"}) == []
    assert found(since="2026-11-02", until="2026-11-04") == [2, 3]
    store.append("{}")
    assert found(last=1) == [6]
    with pytest.raises(TypeError, match="body"):
        found(equal={"body": "x"})


def test_only_its_owner_reads_it(store: SqliteStore) -> None:
    """Nor what SQLite puts next to it."""
    assert {stat.S_IMODE(each.stat().st_mode) for each in store.path.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


def test_all_or_none_of_what_is_added_together_is_kept(store: SqliteStore) -> None:
    """A text that cannot be written is no reason to keep the one before it."""
    with pytest.raises(StoreError):
        store.append(body(5), "no JSON")
    assert store.head.number == 5
    assert store.append(body(6)) == 6
    assert store.verify() == 6


def test_calls_that_come_together_share_a_write(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets its own number, and each is kept once."""
    writes: list[int] = []
    write = SqliteStore._write  # noqa: SLF001 -- counted

    def counted(self: SqliteStore, batch: Sequence[Any]) -> None:
        writes.append(len(batch))
        write(self, batch)

    monkeypatch.setattr(SqliteStore, "_write", counted)
    with ThreadPoolExecutor(16) as pool:
        numbers = list(pool.map(lambda number: store.append(body(number)), range(200)))
    assert dict(zip(numbers, map(body, range(200)), strict=True)) == {
        each.number: each.body for each in store.records(after=5)
    }
    assert sum(writes) == 200
    assert len(writes) < 200


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
    assert all("locked" in each and str(path) in each for each in said)
    blocker.execute("ROLLBACK")
    blocker.close()
    assert store.append(body(9)) == 1


ADDING = """
import sys
from permitry.store.sqlite import SqliteStore
store = SqliteStore(sys.argv[1], patience=60)
for number in range(50): store.append("{}")
"""


def test_processes_get_numbers_of_their_own(path: Path) -> None:
    """No record is lost, and the chain is one."""
    processes = [subprocess.Popen([sys.executable, "-c", ADDING, str(path)]) for _ in range(4)]
    assert [process.wait(120) for process in processes] == [0] * 4
    assert SqliteStore(path).verify() == 200


def test_a_forked_process_has_a_connection_of_its_own(store: SqliteStore) -> None:
    """That of its parent goes on."""
    process = os.fork()
    if not process:
        try:
            store.append(body(9))
        finally:
            os._exit(0)
    os.waitpid(process, 0)
    assert store.append(body(10)) == 7
    assert store.verify() == 7


def test_a_process_that_is_killed_leaves_whole_records(path: Path) -> None:
    """All that it said were kept, and no half."""
    code = ADDING.replace("for number in range(50): store.append", "while True: twice")
    code = code.replace("\nwhile", "\ntwice = lambda body: print(store.append(body, body), flush=True)\nwhile")
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            said = [int(process.stdout.readline()) for _ in range(20)]
            os.kill(process.pid, signal.SIGKILL)
            said += [int(line) for line in process.stdout.read().splitlines() if line]
        store = SqliteStore(path)
        assert store.verify() >= said[-1]
        assert store.head.number % 2 == 0
        store.close()


def test_an_interrupt_is_a_failure_for_those_who_wait(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """And goes on to who was interrupted."""
    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "_connected", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            store.append(body(5))
    assert store.append(body(6)) == 6


# Finding what was changed ------------------------------------------------------------------------------------------

CHANGES = {
    "edited": ("UPDATE record SET body = '{}' WHERE number = 3", 3),
    "hash": ("UPDATE record SET hash = zeroblob(32) WHERE number = 3", 3),
    "deleted": ("DELETE FROM record WHERE number = 3", 3),
    "first": ("DELETE FROM record WHERE number = 1", 1),
    "last": ("DELETE FROM record WHERE number = 5", 5),
    "all": ("DELETE FROM record", 1),
    "renumbered": ("UPDATE record SET number = 9 WHERE number = 5", 5),
    "added": ("INSERT INTO record (number, body, hash) VALUES (6, '{}', zeroblob(32))", 6),
    "head": ("UPDATE chain SET hash = zeroblob(32)", 5),
    "shortened": ("UPDATE chain SET number = 4", 5),
    "lengthened": ("UPDATE chain SET number = 6", 6),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_changed_is_found(store: SqliteStore, name: str) -> None:
    """By the number of the first record that is not as it was."""
    statement, number = CHANGES[name]
    change(store.path, statement)
    with pytest.raises(BrokenChainError) as caught:
        store.verify()
    assert caught.value.number == number


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.lists(st.sampled_from(["swap", "edit", "delete"]), min_size=1, max_size=3), st.data())
def test_no_change_of_records_is_missed(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str], data: st.DataObject
) -> None:
    """However they are changed: the records are other ones, or in another order, or there are fewer."""
    store = SqliteStore(tmp_path_factory.mktemp("s") / "a.db")
    store.append(*map(body, range(8)))
    before = list(store.records())
    for kind in kinds:
        first, second = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 8))
        match kind:
            case "swap":
                for number, other in ((first, -1), (second, first), (-1, second)):
                    change(store.path, "UPDATE record SET number = ? WHERE number = ?", values=(other, number))
            case "edit":
                edit = "UPDATE record SET body = json_set(body, '$.x', ?) WHERE number = ?"
                change(store.path, edit, values=(second, first))
            case _:
                change(store.path, "DELETE FROM record WHERE number BETWEEN ? AND ?", values=(first, second))
    if list(store.records()) == before:
        assert store.verify() == 8
    else:
        with pytest.raises(BrokenChainError):
            store.verify()
    store.close()


def test_who_writes_the_whole_chain_anew_is_found_by_what_was_noted_elsewhere(store: SqliteStore) -> None:
    """The file alone cannot show it."""
    noted = store.head
    assert store.verify([noted]) == 5
    store.append(body(6))
    assert store.verify([noted, store.head]) == 6
    store.close()
    store.path.unlink()
    other = SqliteStore(store.path)
    other.append(*map(body, range(1, 4)))
    assert other.verify() == 3
    with pytest.raises(BrokenChainError, match="noted elsewhere"):
        other.verify([noted])
    other.append(*map(body, range(9)))
    with pytest.raises(BrokenChainError, match="noted elsewhere") as caught:
        other.verify([noted])
    assert caught.value.number == 5
    other.close()


def test_old_records_are_forgotten_and_the_chain_holds(store: SqliteStore) -> None:
    """What was forgotten is on the record, with its last hash."""
    third = list(store.records())[2]
    assert store.prune("2026-11-04", body(9, event="pruned")) == 3
    assert [record.number for record in store.records()] == [4, 5, 6]
    note = json.loads(list(store.records())[-1].body)
    assert (note["event"], note["up_to"], note["records"], note["hash"]) == ("pruned", 3, 3, third.hash.hex())
    assert store.verify() == 3
    assert store.prune("2026-11-04", body(9, event="pruned")) == 0
    assert store.verify([Head(3, third.hash)]) == 3
    change(store.path, "DELETE FROM record WHERE number = 4", "UPDATE chain SET first = 5")
    with pytest.raises(BrokenChainError):
        store.verify()


def test_records_that_are_gone_without_a_word_are_found(store: SqliteStore) -> None:
    """Also where the place at which the chain begins was moved."""
    record = list(store.records())[1]
    change(store.path, "DELETE FROM record WHERE number <= 2")
    change(store.path, "UPDATE chain SET first = 3, before = ?", values=(record.hash,))
    with pytest.raises(BrokenChainError, match="no record says why"):
        store.verify()


# What can go wrong with a file -------------------------------------------------------------------------------------


def _link(path: Path) -> None:
    path.symlink_to(path.with_name("other"))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda path: path.write_text("hello, this is not a store"), "not a store"),
        (lambda path: path.mkdir(), "cannot open"),
        (_link, "cannot open"),
        (os.mkfifo, "not a store"),
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


def test_a_closed_store_keeps_nothing(store: SqliteStore) -> None:
    """Closing twice is fine."""
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.append(body(6))


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


def test_a_reader_holds_up_no_writer(store: SqliteStore) -> None:
    """It sees what there was when it began."""
    reading = store.records()
    assert next(reading).number == 1
    since = time.monotonic()
    store.append(body(6))
    assert time.monotonic() - since < store.patience / 2
    assert [record.number for record in reading] == [2, 3, 4, 5]
