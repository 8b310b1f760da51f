"""`decided` and `started` of a call that runs at once are one write."""

import json
from pathlib import Path
from typing import Any

import pytest

from permitry.audit.record import JsonlRecorder, StoredRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.errors import AuditError
from permitry.guard.outcome import Pending, Ready
from permitry.handler import Blocked, Cause, ToolHandler
from permitry.store.sqlite import SqliteStore

_LOOK, _WRITE = ToolCall("look", {"path": "a"}, call_id="c1"), ToolCall("write", {"path": "a"}, call_id="c2")
Writes = list[list[str]]


@pytest.fixture(params=[JsonlRecorder, lambda path: StoredRecorder(SqliteStore(path))], ids=["lines", "store"])
def recorder(request: pytest.FixtureRequest, tmp_path: Path) -> StoredRecorder:
    """Return a record on the disk."""
    recorder: StoredRecorder = request.param(str(tmp_path / "a.db"))
    return recorder


@pytest.fixture
def writes(handler: ToolHandler, recorder: StoredRecorder, monkeypatch: pytest.MonkeyPatch) -> Writes:
    """Return the events of each write of the handler."""
    made: Writes = []
    append = recorder.store.append

    def counted(_: object, *lines: str) -> None:
        append(*lines)
        made.append([json.loads(line)["event"] for line in lines])

    monkeypatch.setattr(type(recorder.store), "append", counted)
    handler.recorder = recorder
    return made


def test_a_call_that_is_allowed_and_runs_at_once_is_two_writes(handler: ToolHandler, writes: Writes) -> None:
    """Before it runs, and after."""
    assert handler.handle(_LOOK).ok
    assert writes == [["decided", "started"], ["finished"]]
    assert not handler.handle(_LOOK).ok
    assert len(writes) == 2


def test_a_host_that_runs_it_later_has_the_start_recorded_then(handler: ToolHandler, writes: Writes) -> None:
    """The same call given to `handle` later is started there, and on record once."""
    assert isinstance(handler.begin(_LOOK), Ready)
    assert writes == [["decided"]]
    assert handler.handle(_LOOK).ok
    assert writes == [["decided"], ["started"], ["finished"]]


def test_a_call_that_is_asked_about_or_blocked_is_not_started(handler: ToolHandler, writes: Writes) -> None:
    """One that was approved is started when it runs."""
    pending: Any = handler.begin(_WRITE)
    assert isinstance(pending, Pending)
    ready: Any = handler.resolve(pending.pending_id, ToolConfirmationResponse(True))
    assert handler.run(ready).ok
    assert writes == [["decided"], ["asked"], ["answered"], ["started"], ["finished"]]
    assert not handler.handle(ToolCall("unheard_of")).ok
    assert "started" not in writes[5]


def test_both_are_on_the_disk_before_the_tool_runs(
    handler: ToolHandler, recorder: StoredRecorder, writes: Writes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they cannot be written, the tool does not run, and the call is blocked."""
    ran: list[Writes] = []

    def look(_: object) -> str:
        ran.append(list(writes))
        return ""

    spec = handler.registry.get("look")
    assert spec is not None
    handler.registry.register(spec, look, replace=True)
    handler.handle(_LOOK)
    assert ran == [[["decided", "started"]]]

    def full(*_: object) -> None:
        raise AuditError("the disk is full")

    monkeypatch.setattr(type(recorder.store), "append", full)
    assert "could not be recorded" in handler.handle(ToolCall("look", {"path": "b"}, call_id="c3")).text
    blocked = handler.begin(ToolCall("look", {"path": "b"}, call_id="c3"))
    assert isinstance(blocked, Blocked)
    assert blocked.cause is Cause.NOT_RECORDED
    assert len(ran) == 1


def test_a_call_whose_tool_was_replaced_is_finished_on_record(
    handler: ToolHandler, writes: Writes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not look as if it still ran."""
    record = StoredRecorder.record

    def swapped(self: StoredRecorder, event: str, call: ToolCall, /, **details: object) -> None:
        record(self, event, call, **details)
        if event == "started":
            handler.registry.unregister("look")

    monkeypatch.setattr(StoredRecorder, "record", swapped)
    assert not handler.handle(_LOOK).ok
    assert writes == [["decided", "started"], ["finished"], ["decided"]]


def test_what_fails_together_is_not_kept(recorder: StoredRecorder, writes: Writes) -> None:
    """Nor is what another recorder keeps meanwhile held back."""

    def fail() -> None:
        with recorder.together():
            recorder.record("decided", _LOOK)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert writes == []


def test_another_record_inside_is_not_held_back(recorder: StoredRecorder, tmp_path: Path) -> None:
    """Only what goes to this one shares a write."""
    other = JsonlRecorder(str(tmp_path / "other.jsonl"))
    with recorder.together():
        other.record("decided", _LOOK)
        assert (tmp_path / "other.jsonl").read_text().count("\n") == 1
    other.close()
