"""The record in a store."""

import json
from pathlib import Path

import pytest

from permitry.audit.stored import StoredRecorder
from permitry.core.call import ToolCall
from permitry.errors import AuditError
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry.store.sqlite import SqliteStore


def test_a_handler_keeps_its_record_in_a_store(tmp_path: Path) -> None:
    """With the events of a file, and each with its time and session."""
    store = SqliteStore(tmp_path / "permitry.db")
    recorder = StoredRecorder(store, clock=lambda: "2026-11-23T10:00:00.000+00:00", session="s1")
    handler = ToolHandler(Session(yolo_mode=True), recorder=recorder)
    recorder.begin(mode="yolo")
    handler.begin(ToolCall("look", {"password": "x"}, call_id="c1"))
    recorder.reloaded(added={})
    lines = [json.loads(record.body) for record in store.records()]
    assert [line["event"] for line in lines] == ["session", "decided", "reloaded"]
    assert {(line["at"], line["session"]) for line in lines} == {("2026-11-23T10:00:00.000+00:00", "s1")}
    assert lines[1]["arguments"] == {"password": "[redacted]"}
    assert [record.number for record in store.records(equal={"call_id": "c1"})] == [2]
    assert store.verify() == 3


def test_what_the_store_cannot_keep_is_not_recorded(tmp_path: Path) -> None:
    """Then the call does not run."""
    recorder = StoredRecorder(SqliteStore(tmp_path / "permitry.db"))
    recorder.close()
    with pytest.raises(AuditError, match="closed"):
        recorder.begin()
    handler = ToolHandler(Session(yolo_mode=True), recorder=recorder)
    assert not handler.handle(ToolCall("look")).ok
