"""What hooks record is in the store of the user; where that is away, locked or damaged, no call runs."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.postgres import Cluster
from tests.unit.permitry_hosts.hooks.payloads import command

from permitry.cli.records import RecordFilter, records_at
from permitry.core.call import ToolCall
from permitry.errors import AuditError
from permitry.store.sqlite import SqliteStore
from permitry_hosts.hooks.answering import Options, answer
from permitry_hosts.hooks.host import Reply
from permitry_hosts.hooks.stores import Places, Stores

Hook = Callable[..., Reply]
SILENT = Reply()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the state folder of a user."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "state/permitry"


@pytest.fixture
def hook(home: Path) -> Hook:
    """Return a function that asks about a command; the rules are one that blocks `rm`."""
    rules = home.parents[1] / "rules.toml"
    rules.write_text(
        "schema = 1\nextends = ['permitry:tools-claude-code']\n"
        "[[rule]]\nid = 'a'\neffect = 'block'\nwhen.command = 'rm *'"
    )

    def ask(
        text: str = "make", *, store: str | None = None, record: str | None = None, stores: Stores | None = None
    ) -> Reply:
        options = Options([str(rules)], record=record, store=store, patience=0.2, stores=stores or Stores())
        return answer("claude-code", json.dumps(command("claude-code", text)).encode(), options, {})

    return ask


def _is_denied(reply: Reply, problem: str) -> bool:
    """Return whether the call is denied, with words for the model."""
    return (reply.code, "deny" in reply.out, problem in reply.out) == (0, True, True)


def _events(name: str | Path) -> list[str]:
    """Return what is on record about calls."""
    return [each["event"] for each in records_at(name, RecordFilter()) if "call_id" in each]


def test_the_record_is_in_the_store_of_the_user(hook: Hook, home: Path) -> None:
    """In one chain, for that user alone."""
    assert hook() == SILENT
    assert "deny" in hook("rm a").out
    assert _events(home / "permitry.db") == ["decided", "decided"]
    with closing(SqliteStore(home / "permitry.db")) as store:
        assert store.verify() == 4
    assert not (home / "audit.jsonl").exists()


@pytest.mark.parametrize("is_kept", [False, True])
def test_a_session_and_its_rules_are_on_record_once(hook: Hook, home: Path, is_kept: bool) -> None:  # noqa: FBT001 -- a fixture
    """As a process of its own has it, and as the resident."""
    stores = Stores(is_kept=is_kept)
    for text in ("make", "rm a", "make b"):
        hook(text, stores=stores)
    stores.close()
    records = list(records_at(home / "permitry.db", RecordFilter()))
    assert [each["event"] for each in records] == ["policy", "session", "decided", "decided", "decided"]
    session = records[1]
    assert (session["session"], session["workspace"]) == ("claude-code:s1", "/home/ann/project")
    assert records[0]["files"][0]["name"] == str(home.parents[1] / "rules.toml")
    assert records[0]["code_rules"] == ["protect-own-files", "protect-resident"]
    assert {each["policy_version"] for each in records} == {records[0]["policy_version"]}


def test_another_store_may_be_named(hook: Hook, home: Path, tmp_path: Path) -> None:
    """By `--store`, or by a record that is one; a record elsewhere is as well possible."""
    for number, more in enumerate([{"store": "s.db"}, {"record": "r.db"}, {"record": "r.jsonl", "store": "t.db"}]):
        given = {name: str(tmp_path / value) for name, value in more.items()}
        assert hook(**given) == SILENT
        places = Places(given.get("store"), given.get("record"))
        assert places.store == str(tmp_path / ("s.db", "r.db", "t.db")[number])
        assert _events(places.record) == ["decided"]
        assert Path(places.store).exists()
    assert not (home / "permitry.db").exists()


def test_a_postgresql_keeps_it_as_well(hook: Hook, home: Path, postgres: Cluster) -> None:
    """It is named by its address."""
    address = postgres.new()
    assert hook(store=address) == SILENT
    assert _events(address) == ["decided"]
    assert not (home / "permitry.db").exists()


def test_what_is_no_store_is_refused(hook: Hook) -> None:
    """A question could not be kept in it."""
    assert _is_denied(hook(store="audit.jsonl"), "not a store")


@pytest.fixture
def locked(home: Path) -> Iterator[None]:
    """Lock the store, as a process does that never ends."""
    SqliteStore(home / "permitry.db").close()
    with closing(sqlite3.connect(home / "permitry.db", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


@pytest.mark.usefixtures("locked")
def test_a_locked_store_blocks_in_time(hook: Hook, home: Path) -> None:
    """Long before the deadline, and says so."""
    begun = time.monotonic()
    assert _is_denied(hook(), "is locked")
    assert time.monotonic() - begun < 3
    assert (home / "permitry.db").exists()


def test_a_store_that_is_locked_later_blocks_in_time(hook: Hook, home: Path) -> None:
    """One that is kept open, as the resident has it; afterwards the work goes on."""
    stores = Stores(is_kept=True)
    assert hook(stores=stores) == SILENT
    with closing(sqlite3.connect(home / "permitry.db", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert _is_denied(hook(stores=stores), "cannot write to the store")
        connection.execute("ROLLBACK")
    assert hook(stores=stores) == SILENT
    stores.close()
    assert _events(home / "permitry.db") == ["decided", "decided"]


def test_a_damaged_store_blocks(hook: Hook, home: Path) -> None:
    """Whether it is none at all, or a page of it is wrong."""
    home.mkdir(parents=True)
    (home / "permitry.db").write_text("what?")
    assert _is_denied(hook(), "is not a database")
    (home / "permitry.db").unlink()
    hook()
    (home / "permitry.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 8_000)
    assert _is_denied(hook(), "cannot open")


def test_a_store_that_was_removed_is_made_again(hook: Hook, home: Path) -> None:
    """By a process that has kept it open as well; nothing is written where no one finds it."""
    stores = Stores(is_kept=True)
    hook(stores=stores)
    for path in home.glob("permitry.db*"):
        path.unlink()
    assert hook(stores=stores) == SILENT
    assert _events(home / "permitry.db") == ["decided"]
    stores.close()


def test_a_store_is_kept_open_where_that_is_wanted(home: Path) -> None:
    """And otherwise closed with the answer, so that its log is merged."""
    name = str(home / "permitry.db")
    with Stores(is_kept=True) as stores:
        first = stores.at(name, 1.0)
    assert stores.at(name, 1.0) is first
    assert stores.at(name, 2.0) is not first
    stores.close()
    with Stores() as stores:
        stores.at(name, 1.0).append("{}")
        assert (home / "permitry.db-wal").exists()
    assert not (home / "permitry.db-wal").exists()


def test_a_file_of_the_record_is_closed_with_the_answer(home: Path) -> None:
    """A store is kept open, as long as the others are."""
    with Stores() as stores:
        with stores.recorder(Places(None, str(home / "r.jsonl")), "s1") as in_file:
            in_file.record("decided", ToolCall("make"))
        with pytest.raises(AuditError, match="is closed"):
            in_file.record("decided", ToolCall("make"))
        with stores.recorder(Places(), "s1") as in_store:
            pass
        in_store.record("decided", ToolCall("make"))


def test_a_store_in_another_place_is_guarded(hook: Hook, tmp_path: Path) -> None:
    """With the files that SQLite puts next to it; an agent writes no answer there."""
    for name in ("s.db", "s.db-wal", "s.db-journal"):
        assert "belong to permitry" in hook(f"cp x {tmp_path}/{name}", store=str(tmp_path / "s.db")).out
        assert hook(f"cp x {tmp_path}/{name}") == SILENT
