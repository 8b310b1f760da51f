"""Where the record goes."""

import errno
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.audit.record import JsonlRecorder, MemoryRecorder, decision_fields, user_name
from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Phase, RuleFailure, Verdict
from permitry.errors import AuditError

_CALL = ToolCall("look", {"path": "ä.txt"}, call_id="c1")


def _failing(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the record is to be."""
    return tmp_path / "audit.jsonl"


def test_a_decision_is_recorded_in_full() -> None:
    """Everything the operator may ask about a decision is kept, as JSON."""
    failure = RuleFailure("night", "KeyError: 'hour'")
    decision = Decision(
        Verdict.BLOCK, "night", Phase.RESTRICTION, "too late", "Wait.", (failure,), "rules.toml:3", "v1"
    )
    assert decision_fields(decision) == {
        "verdict": "block",
        "rule": "night",
        "phase": "restriction",
        "reason": "too late",
        "source": "rules.toml:3",
        "errors": ["night: KeyError: 'hour'"],
        "policy_version": "v1",
    }


def test_the_place_of_a_rule_is_kept(path: Path) -> None:
    """The line of a rule in `permitry:secrets` has the form of a secret, and is none: an auditor needs it."""
    recorder = JsonlRecorder(str(path))
    recorder.record("decided", _CALL, source="permitry:secrets:7", reason="token: abc")
    recorder.close()
    (line,) = _lines(path)
    assert (line["source"], line["reason"]) == ("permitry:secrets:7", "token: [redacted]")


def test_memory_keeps_events_in_order() -> None:
    """Each event names its call by id, tool and digest, and carries its details."""
    recorder = MemoryRecorder()
    recorder.record("decided", _CALL, verdict="allow")
    recorder.record("started", _CALL)
    head = {"call_id": "c1", "tool": "look", "digest": _CALL.digest}
    assert list(recorder.records) == [{"event": "decided", **head, "verdict": "allow"}, {"event": "started", **head}]


def test_memory_is_bounded() -> None:
    """The oldest records make room for new ones."""
    recorder = MemoryRecorder(limit=3)
    for number in range(10):
        recorder.record("decided", _CALL, number=number)
    assert [each["number"] for each in recorder.records] == [7, 8, 9]


def test_two_memories_share_nothing() -> None:
    """A recorder of one handler does not see another's events."""
    first, second = MemoryRecorder(), MemoryRecorder()
    first.record("decided", _CALL)
    assert not second.records


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


def test_a_line_is_synced_before_record_returns(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is asked to keep the line, after all of it was written."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    recorder = JsonlRecorder(str(path))
    recorder.record("decided", _CALL)
    assert synced == [path.stat().st_size]
    recorder.close()


def test_a_short_write_is_continued(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes only a few bytes at a time still gets the whole line."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    recorder = JsonlRecorder(str(path))
    recorder.record("decided", _CALL, text="x" * 100)
    assert _lines(path)[0]["text"] == "x" * 100
    recorder.close()


def test_a_line_is_pure_ascii_without_breaks(path: Path) -> None:
    """Whatever a call holds, an event stays one line that any program can read."""
    recorder = JsonlRecorder(str(path))
    recorder.record("finished", _CALL, error="line\nbreak \u2028 \ud800")
    data = path.read_bytes()
    assert data.isascii()
    assert data.count(b"\n") == 1
    recorder.close()


def test_only_the_owner_may_read_the_record(path: Path) -> None:
    """Arguments of calls concern no one else."""
    JsonlRecorder(str(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_existing_record_is_closed_to_others(path: Path) -> None:
    """Only the owner may read it, also when someone made it before."""
    path.touch()
    path.chmod(0o644)
    JsonlRecorder(str(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_record_may_go_to_a_pipe(path: Path) -> None:
    """What is not a regular file cannot be synced, and keeps its permissions."""
    os.mkfifo(path)
    path.chmod(0o622)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    recorder = JsonlRecorder(str(path))
    recorder.record("decided", _CALL)
    recorder.close()
    assert json.loads(os.read(reader, 10_000))["event"] == "decided"
    os.close(reader)
    assert stat.S_IMODE(path.stat().st_mode) == 0o622


def test_missing_folders_are_made(tmp_path: Path) -> None:
    """The record's folder need not exist, and is its owner's only."""
    path = tmp_path / "state" / "permitry" / "audit.jsonl"
    JsonlRecorder(str(path)).close()
    assert path.is_file()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_relative_path_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare file name means the current folder."""
    monkeypatch.chdir(tmp_path)
    JsonlRecorder("audit.jsonl").close()
    assert (tmp_path / "audit.jsonl").is_file()


def test_an_existing_record_is_continued(path: Path) -> None:
    """Nothing that was recorded is ever overwritten."""
    for event in ("decided", "started"):
        recorder = JsonlRecorder(str(path))
        recorder.record(event, _CALL)
        recorder.close()
    assert [line["event"] for line in _lines(path)] == ["decided", "started"]


def test_the_time_is_reported_in_utc(path: Path) -> None:
    """Without a clock of the host's, the time carries its offset."""
    recorder = JsonlRecorder(str(path))
    recorder.record("decided", _CALL)
    assert _lines(path)[0]["at"].endswith("+00:00")
    recorder.close()


def test_a_path_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    """A recorder that could keep nothing is not built."""
    with pytest.raises(AuditError, match="cannot write the record"):
        JsonlRecorder(str(tmp_path))


def test_a_folder_that_cannot_be_made_is_refused(path: Path) -> None:
    """A file where a folder should be ends the attempt."""
    path.touch()
    with pytest.raises(AuditError, match="cannot write the record"):
        JsonlRecorder(str(path / "audit.jsonl"))


def test_after_closing_nothing_is_recorded(path: Path) -> None:
    """A closed recorder says so instead of dropping events."""
    recorder = JsonlRecorder(str(path))
    recorder.close()
    with pytest.raises(AuditError, match="is closed"):
        recorder.record("decided", _CALL)


def test_a_closed_recorder_never_touches_another_file(path: Path, tmp_path: Path) -> None:
    """The number of a closed file may belong to someone else by now: it is neither written nor closed."""
    recorder = JsonlRecorder(str(path))
    recorder.close()
    with (tmp_path / "other").open("wb", buffering=0) as other:
        with pytest.raises(AuditError):
            recorder.record("decided", _CALL)
        recorder.close()
        other.write(b"mine")
    assert (tmp_path / "other").read_bytes() == b"mine"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_an_error() -> None:
    """An event that does not fit on the disk is not said to be kept."""
    recorder = JsonlRecorder("/dev/full")
    with pytest.raises(AuditError, match="No space left"):
        recorder.record("decided", _CALL)
    recorder.close()


def test_a_disk_that_cannot_sync_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written is not enough: what is not synced is not recorded."""

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    recorder = JsonlRecorder(str(path))
    with pytest.raises(AuditError, match="Input/output error"):
        recorder.record("decided", _CALL)
    recorder.close()


def test_a_half_written_line_does_not_spoil_the_next(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said to be recorded can be read again: the next event begins a line, and only that one."""
    recorder, write = JsonlRecorder(str(path)), os.write

    def torn(file: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", _failing)
        return write(file, data[:7])

    monkeypatch.setattr(os, "write", torn)
    with pytest.raises(AuditError, match="No space left"):
        recorder.record("decided", _CALL)
    monkeypatch.setattr(os, "write", write)
    for event in ("started", "finished"):
        recorder.record(event, _CALL)
    recorder.close()
    torn_line, *rest = path.read_text(encoding="utf-8").splitlines()
    assert len(torn_line) == 7
    assert [json.loads(line)["event"] for line in rest] == ["started", "finished"]


@pytest.mark.parametrize("before", ['{"event": "star', '{"event": "started"}', "\n{"])
def test_a_line_torn_by_a_crash_does_not_spoil_the_next_session(path: Path, before: str) -> None:
    """A process killed in the middle of a line is a failed write, too; what it left stays as it is."""
    path.write_text(before, encoding="utf-8")
    recorder = JsonlRecorder(str(path), clock=lambda: "now")
    for _ in range(2):
        recorder.record("decided", _CALL)
    recorder.close()
    old, *new = path.read_text(encoding="utf-8").removeprefix(before.rpartition("\n")[0]).lstrip("\n").splitlines()
    assert old == before.strip()
    assert [json.loads(line)["event"] for line in new] == ["decided", "decided"]


@pytest.mark.parametrize("before", ["", '{"event": "started"}\n'])
def test_a_whole_record_gets_no_empty_line(path: Path, before: str) -> None:
    """Nothing is put between two sessions that both ended well."""
    path.write_text(before, encoding="utf-8")
    recorder = JsonlRecorder(str(path))
    recorder.record("decided", _CALL)
    recorder.close()
    assert [line["event"] for line in _lines(path)] == ["started"] * bool(before) + ["decided"]


def test_a_line_that_was_not_synced_does_not_spoil_the_next(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No one knows how much of it will be on the disk."""
    recorder = JsonlRecorder(str(path))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", _failing)
        with pytest.raises(AuditError):
            recorder.record("decided", _CALL)
    recorder.record("started", _CALL)
    recorder.close()
    lines = path.read_text(encoding="utf-8").splitlines()
    assert (lines[1], json.loads(lines[2])["event"]) == ("", "started")


def test_writers_at_once_keep_whole_lines(path: Path) -> None:
    """Threads of one recorder, and recorders of one file, never mix their lines."""
    recorders = [JsonlRecorder(str(path)), JsonlRecorder(str(path))]

    def write(number: int) -> None:
        recorders[number % 2].record("decided", _CALL, number=number, text="x" * 20_000)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(64)))
    assert sorted(line["number"] for line in _lines(path)) == list(range(64))
    for recorder in recorders:
        recorder.close()


def test_a_pipe_whose_reader_has_left_is_no_record(path: Path) -> None:
    """No one kept the event, so it is not recorded."""
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    recorder = JsonlRecorder(str(path))
    os.close(reader)
    with pytest.raises(AuditError):
        recorder.record("decided", _CALL)
    recorder.close()


def test_a_record_in_memory_has_a_bound_in_bytes() -> None:
    """The oldest of what is large goes, with all before it; also where the other bound has taken some already."""
    for limit in (4, 100):
        recorder = MemoryRecorder(limit, size=30_000)
        for number in range(20):
            call = ToolCall("write", {"text": "x" * 10_000 if number % 2 else "x"}, call_id=str(number))
            recorder.record("decided", call, arguments=call.to_dict())
            if number == 3:
                recorder.reloaded(added={}, problems=[])
        assert [each["call_id"] for each in recorder.records][-3:] == ["17", "18", "19"]
        assert sum(len(str(each["arguments"])) for each in recorder.records) < 30_000
        assert 3 <= len(recorder.records) <= 4


def test_one_record_that_is_larger_than_all_is_not_kept() -> None:
    """And the next one is kept as ever."""
    recorder = MemoryRecorder(size=5_000)
    large = ToolCall("write", {"text": "x" * 10_000})
    recorder.record("decided", large, arguments=large.to_dict())
    recorder.record("decided", ToolCall("look"), arguments={})
    assert [each["tool"] for each in recorder.records] == ["look"]


@for_each("in_memory", [True, False])
def test_a_reload_is_an_event(tmp_path: Path, *, in_memory: bool) -> None:
    """It belongs to no call."""
    recorder = MemoryRecorder() if in_memory else JsonlRecorder(str(tmp_path / "audit.jsonl"))
    recorder.reloaded(added={"rules.toml": ["a"]}, problems=[])
    kept = recorder.records[0] if isinstance(recorder, MemoryRecorder) else json.loads(Path(recorder.path).read_text())
    assert {name: kept[name] for name in ("event", "added", "problems")} == {
        "event": "reloaded",
        "added": {"rules.toml": ["a"]},
        "problems": [],
    }
