"""The record by its path."""

import json
import sys
from pathlib import Path

import pytest

from permitry.core.call import ToolCall
from permitry.errors import AuditError, StoreError
from permitry.records import Wanted, is_address, is_store, record_name, recorder_at, records_at


@pytest.fixture(params=["audit.jsonl", "permitry.db", "postgres"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Return a record of each kind, with three calls of two sessions."""
    is_address = request.param == "postgres"
    path = request.getfixturevalue("postgres").new() if is_address else tmp_path / str(request.param)
    for session, calls in (("s1", ("c1", "c2")), ("s2", ("c1",))):
        recorder = recorder_at(str(path), session=session)
        for call in calls:
            recorder.record("decided", ToolCall(f"t-{call}", call_id=call), arguments={"a": f"ä {session}"})
        recorder.close()
    return path


def found(path: Path | str, wanted: Wanted, after: int = 0) -> list[tuple[int, str]]:
    """Return number and call of the records that are asked for."""
    return [(record["number"], record["call_id"]) for record in records_at(path, wanted, after=after)]


def test_both_kinds_are_read_alike(path: Path | str) -> None:
    """By values, text, time, number, and how many."""
    every = [(1, "c1"), (2, "c2"), (3, "c1")]
    assert found(path, Wanted()) == every
    assert found(path, Wanted(last=2)) == every[1:]
    assert found(path, Wanted(), after=1) == every[1:]
    assert found(path, Wanted(equal={"session": "s2"})) == every[2:]
    assert found(path, Wanted(equal={"call_id": "c1", "tool": "t-c1"}, last=1)) == every[2:]
    assert found(path, Wanted(text="ä s1", last=1)) == every[1:2]
    assert found(path, Wanted(since="2020", until="2100")) == every
    assert found(path, Wanted(until="2020")) == found(path, Wanted(since="2100")) == []


def test_the_name_says_which_kind_it_is() -> None:
    """A store ends in `.db`, or is an address."""
    assert is_store("postgresql://h/db")
    assert is_store("postgres://h/a.jsonl")
    assert not is_address("postgresql.db")
    assert is_store("a/b.db")
    assert not is_store("a/b.jsonl")
    assert not is_store("db")


@pytest.mark.parametrize(
    "address", ["postgresql://u:p@h:5/db?password=p", "postgresql://h:5/db", "postgres://u@h:5/db"]
)
def test_what_an_address_is_called_has_no_password(address: str) -> None:
    """Nor anything else that only the server needs."""
    assert record_name(address) == f"{address.partition(':')[0]}://h:5/db"
    assert record_name("a@b?c.jsonl") == "a@b?c.jsonl"


def test_an_address_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says which."""
    monkeypatch.setitem(sys.modules, "permitry.store.postgres", None)
    monkeypatch.delitem(sys.modules, "psycopg", raising=False)
    with pytest.raises(StoreError, match=r"permitry\[postgres\]"):
        recorder_at("postgresql://127.0.0.1:1/db")


@pytest.mark.parametrize("name", ["nowhere.jsonl", "nowhere.db"])
def test_a_record_that_is_not_there_is_said_and_not_made(tmp_path: Path, name: str) -> None:
    """To read is not to write."""
    with pytest.raises(AuditError, match="there is no record"):
        list(records_at(tmp_path / name, Wanted()))
    assert not (tmp_path / name).exists()


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    """With its name."""
    for name, error in (("a.jsonl", AuditError), ("a.db", StoreError)):
        (tmp_path / name).mkdir()
        with pytest.raises(error, match=name):
            list(records_at(tmp_path / name, Wanted()))


def test_half_a_line_is_a_record_that_cannot_be_read(tmp_path: Path) -> None:
    """The others are; an empty line is none."""
    path = tmp_path / "audit.jsonl"
    path.write_text('{"event": "decided"}\n\n{"event": "sta\n[]\n{"event": "finished"}\n')
    events = [(record["number"], record["event"]) for record in records_at(path, Wanted())]
    assert events == [(1, "decided"), (3, "unreadable"), (4, "unreadable"), (5, "finished")]
    assert json.dumps(events)
