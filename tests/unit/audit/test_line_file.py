"""A record in a file of lines."""

import errno
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from permitry.audit.record import JsonlRecorder
from permitry.core.call import ToolCall
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


def test_a_path_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    """A recorder that could keep nothing is not built."""
    with pytest.raises(AuditError, match="cannot write the record"):
        JsonlRecorder(str(tmp_path))


def test_a_folder_that_cannot_be_made_is_refused(path: Path) -> None:
    """A file where a folder should be ends the attempt."""
    path.touch()
    with pytest.raises(AuditError, match="cannot write the record"):
        JsonlRecorder(str(path / "audit.jsonl"))


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
