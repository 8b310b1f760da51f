"""The record by its path, read for people and for reports."""

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.cli.records import RecordFilter, RecordFollower, is_record, records_at
from permitry.core.call import ToolCall
from permitry.errors import AuditError, StoreError
from permitry.store.records import recorder_at
from permitry.store.sqlite import SqliteStore


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


def found(path: Path | str, wanted: RecordFilter, after: int = 0) -> list[tuple[int, str]]:
    """Return number and call of the records that are asked for."""
    return [(record["number"], record["call_id"]) for record in records_at(path, wanted, after=after)]


def test_both_kinds_are_read_alike(path: Path | str) -> None:
    """By values, text, time, number, and how many."""
    every = [(1, "c1"), (2, "c2"), (3, "c1")]
    assert found(path, RecordFilter()) == every
    assert found(path, RecordFilter(last=2)) == every[1:]
    assert found(path, RecordFilter(), after=1) == every[1:]
    assert found(path, RecordFilter(equal={"session": "s2"})) == every[2:]
    assert found(path, RecordFilter(equal={"call_id": "c1", "tool": "t-c1"}, last=1)) == every[2:]
    assert found(path, RecordFilter(text="ä s1", last=1)) == every[1:2]
    assert found(path, RecordFilter(equal={"session": ("s2", "s3")})) == every[2:]
    assert found(path, RecordFilter(other={"session": ("s2",)}, last=1)) == every[1:2]
    assert found(path, RecordFilter(before=every[2][0], last=1)) == every[1:2]
    assert found(path, RecordFilter(since="2020", until="2100")) == every
    assert found(path, RecordFilter(until="2020")) == found(path, RecordFilter(since="2100")) == []


@for_each("name", ["nowhere.jsonl", "nowhere.db"])
def test_a_record_that_is_not_there_is_said_and_not_made(tmp_path: Path, name: str) -> None:
    """To read is not to write."""
    with pytest.raises(AuditError, match="there is no record"):
        list(records_at(tmp_path / name, RecordFilter()))
    assert not (tmp_path / name).exists()


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    """With its name."""
    for name, error in (("a.jsonl", AuditError), ("a.db", StoreError)):
        (tmp_path / name).mkdir()
        with pytest.raises(error, match=name):
            list(records_at(tmp_path / name, RecordFilter()))


def test_half_a_line_is_a_record_that_cannot_be_read(tmp_path: Path) -> None:
    """The others are; an empty line is none."""
    path = tmp_path / "audit.jsonl"
    path.write_text('{"event": "decided"}\n\n{"event": "sta\n[]\n{"event": "finished"}\n')
    events = [(record["number"], record["event"]) for record in records_at(path, RecordFilter())]
    assert events == [(1, "decided"), (3, "unreadable"), (4, "unreadable"), (5, "finished")]
    assert json.dumps(events)


def test_a_line_of_a_stranger_hides_no_other(tmp_path: Path) -> None:
    """It is nested too deep to be read, or counts itself."""
    path = tmp_path / "audit.jsonl"
    path.write_text(f'{"[" * 100_000}\n{{"event": "asked", "number": [9]}}\n')
    read = list(records_at(path, RecordFilter()))
    assert [(record["number"], record["event"]) for record in read] == [(1, "unreadable"), (2, "asked")]


def test_a_record_in_a_store_that_is_no_object_hides_no_other(tmp_path: Path) -> None:
    """As with lines; that it was changed is found by `verify`."""
    path = tmp_path / "a.db"
    store = SqliteStore(path)
    store.append('{"event": "asked"}', "{}", '{"event": "finished", "number": 9}')
    store.close()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE record SET body = '[]' WHERE number = 2")
    read = list(records_at(path, RecordFilter()))
    assert [(record["number"], record["event"]) for record in read] == [
        (1, "asked"),
        (2, "unreadable"),
        (3, "finished"),
    ]


def _numbers(following: RecordFollower, wanted: RecordFilter | None = None) -> list[int]:
    return [record["number"] for record in following.read(wanted or RecordFilter())]


def test_what_is_new_is_followed(path: Path) -> None:
    """In a record of each kind, once."""
    following = RecordFollower(path)
    assert _numbers(following, RecordFilter(last=1)) == [3]
    assert _numbers(following) == []
    recorder = recorder_at(str(path))
    recorder.record("asked", ToolCall("t"))
    recorder.record("answered", ToolCall("t"))
    recorder.close()
    assert _numbers(following, RecordFilter(equal={"event": "answered"})) == [5]
    assert _numbers(following) == []


def test_lines_that_were_read_are_not_read_again(tmp_path: Path) -> None:
    """Nor is a line that is not complete; a blank one is counted."""
    path = tmp_path / "audit.jsonl"
    path.write_text('{"event": "a"}\n\n{"event": "b"}\n{"eve')
    following = RecordFollower(path)
    assert _numbers(following) == [1, 3]
    with path.open("r+") as file:
        file.write("x")
        file.seek(0, 2)
        file.write('nt": "c"}\n7\n\n')
    assert [(record["number"], record["event"]) for record in following.read(RecordFilter())] == [
        (4, "c"),
        (5, "unreadable"),
    ]
    assert _numbers(following) == []


def test_a_record_that_was_replaced_is_read_from_its_beginning(tmp_path: Path) -> None:
    """Or cut; one that is gone is an error."""
    path, other = tmp_path / "audit.jsonl", tmp_path / "other.jsonl"
    path.write_text('{"event": "a"}\n{"event": "b"}\n')
    following = RecordFollower(path)
    assert _numbers(following) == [1, 2]
    path.write_text('{"event": "c"}\n')
    assert _numbers(following) == [1]
    other.write_text('{"event": "d"}\n{"event": "e"}\n')
    other.replace(path)
    assert _numbers(following) == [1, 2]
    path.unlink()
    with pytest.raises(AuditError, match="there is no record"):
        _numbers(following)
    path.mkdir()
    with pytest.raises(AuditError, match="cannot read"):
        _numbers(following)


def test_what_a_store_has_no_column_for_is_asked_for_as_well(path: Path) -> None:
    """Such as the agent; the last ones are counted after that."""
    recorder = recorder_at(str(path))
    for agent in ("helper", "helper", "main"):
        recorder.record("decided", ToolCall("t", call_id="c9"), agent=agent)
    recorder.close()
    assert found(path, RecordFilter(equal={"agent": "helper"}, last=1)) == [(5, "c9")]


@pytest.mark.parametrize(("text", "is_one"), [("{}\n", False), ("", False), ("\xff", False), ("[]", False)])
def test_a_record_is_known_by_its_first_line(path: Path, tmp_path: Path, text: str, *, is_one: bool) -> None:
    """An event of a session; what cannot be read is none."""
    other = tmp_path / "other.jsonl"
    other.write_bytes(text.encode("latin-1"))
    assert is_record(path)
    assert is_record(other) is is_one
    assert not is_record(tmp_path)
