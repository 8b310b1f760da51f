"""Where the record goes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.audit.record import JsonlRecorder, StoredRecorder, user_name
from permitry.audit.recorder import MemoryRecorder
from permitry.core.call import ToolCall
from permitry.errors import AuditError
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry.store.sqlite import SqliteStore

_CALL = ToolCall("look", {"path": "ä.txt"}, call_id="c1")


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the record is to be."""
    return tmp_path / "audit.jsonl"


def test_the_place_of_a_rule_is_kept(path: Path) -> None:
    """The line of a rule in `permitry:secrets` has the form of a secret, and is none: an auditor needs it."""
    recorder = JsonlRecorder(str(path))
    recorder.record("decided", _CALL, source="permitry:secrets:7", reason="token: abc")
    recorder.close()
    (line,) = _lines(path)
    assert (line["source"], line["reason"]) == ("permitry:secrets:7", "token: [redacted]")


def test_a_line_is_in_the_file_when_record_returns(path: Path) -> None:
    """The file holds the whole event while the recorder is still open."""
    recorder = JsonlRecorder(str(path), clock=lambda: "noon", session="s1")
    recorder.record("decided", _CALL, verdict="allow")
    head = {"at": "noon", "session": "s1", "event": "decided", "call_id": "c1", "tool": "look", "digest": _CALL.digest}
    assert _lines(path) == [{**head, "verdict": "allow"}]
    recorder.close()


def test_a_session_begins_with_its_circumstances(path: Path) -> None:
    """The event `session` names the process and what it was given; it is about no call."""
    recorder = JsonlRecorder(str(path), clock=lambda: "noon", session="s1")
    recorder.begin(mode="plan", rules=("permitry:base",))
    head = {"at": "noon", "session": "s1", "event": "session", "process": os.getpid(), "user": user_name()}
    assert _lines(path) == [{**head, "mode": "plan", "rules": ["permitry:base"]}]
    recorder.close()


def test_sessions_in_one_file_are_reported_apart(path: Path) -> None:
    """Every line carries the id of its session, and no two sessions share one."""
    for _ in range(2):
        recorder = JsonlRecorder(str(path))
        recorder.begin()
        recorder.record("decided", _CALL)
        recorder.close()
    first, again, second, last = (line["session"] for line in _lines(path))
    assert (first, second) == (again, last)
    assert first != second


def test_a_line_is_pure_ascii_without_breaks(path: Path) -> None:
    """Whatever a call holds, an event stays one line that any program can read."""
    recorder = JsonlRecorder(str(path))
    recorder.record("finished", _CALL, error="line\nbreak \u2028 \ud800")
    data = path.read_bytes()
    assert data.isascii()
    assert data.count(b"\n") == 1
    recorder.close()


def test_the_time_is_reported_in_utc(path: Path) -> None:
    """Without a clock of the host's, the time carries its offset."""
    recorder = JsonlRecorder(str(path))
    recorder.record("decided", _CALL)
    assert _lines(path)[0]["at"].endswith("+00:00")
    recorder.close()


def test_after_closing_nothing_is_recorded(path: Path) -> None:
    """A closed recorder says so instead of dropping events."""
    recorder = JsonlRecorder(str(path))
    recorder.close()
    with pytest.raises(AuditError, match="is closed"):
        recorder.record("decided", _CALL)


@for_each("in_memory", [True, False])
def test_a_reload_is_an_event(tmp_path: Path, *, in_memory: bool) -> None:
    """It belongs to no call."""
    path = tmp_path / "audit.jsonl"
    recorder = MemoryRecorder() if in_memory else JsonlRecorder(str(path))
    recorder.reloaded(added={"rules.toml": ["a"]}, problems=[])
    kept = recorder.records[0] if isinstance(recorder, MemoryRecorder) else json.loads(path.read_text())
    assert {name: kept[name] for name in ("event", "added", "problems")} == {
        "event": "reloaded",
        "added": {"rules.toml": ["a"]},
        "problems": [],
    }


def test_a_handler_keeps_its_record_in_a_store(tmp_path: Path) -> None:
    """With the events of a file, and each with its time and session."""
    store = SqliteStore(tmp_path / "permitry.db")
    recorder = StoredRecorder(store, clock=lambda: "2026-11-23T10:00:00.000+00:00", session="s1")
    handler = ToolHandler(Session(yolo_mode=True), recorder=recorder)
    recorder.begin(mode="yolo")
    handler.begin(ToolCall("look", {"password": "x"}, call_id="c1"))
    recorder.reloaded(added={})
    lines = [json.loads(record.body) for record in store.records()]
    assert [line["event"] for line in lines] == ["session", "policy", "decided", "reloaded"]
    assert {(line["at"], line["session"]) for line in lines} == {("2026-11-23T10:00:00.000+00:00", "s1")}
    assert lines[2]["arguments"] == {"password": "[redacted]"}
    assert [record.number for record in store.records(equal={"call_id": ("c1",)})] == [3]
    assert store.verify() == 4


def test_what_the_store_cannot_keep_is_not_recorded(tmp_path: Path) -> None:
    """Then the call does not run."""
    recorder = StoredRecorder(SqliteStore(tmp_path / "permitry.db"))
    recorder.close()
    with pytest.raises(AuditError, match="closed"):
        recorder.begin()
    handler = ToolHandler(Session(yolo_mode=True), recorder=recorder)
    assert not handler.handle(ToolCall("look")).ok


def test_why_something_was_not_recorded_is_kept(path: Path) -> None:
    """It is what the user of a hook is shown."""
    recorder = JsonlRecorder(str(path))
    recorder.record("decided", _CALL)
    assert not recorder.failure
    recorder.close()
    with pytest.raises(AuditError):
        recorder.record("decided", _CALL)
    assert "is closed" in recorder.failure
