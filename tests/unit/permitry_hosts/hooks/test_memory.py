"""What one hook has noted, the next one of the session knows."""

import contextlib
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.shared import SideEffects
from permitry.errors import AuditError, PermitryError
from permitry.guard.session import Session
from permitry_hosts.hooks.memory import locked

CALL = ToolCall("fetch", {"url": "https://example.com"})
EFFECTS = SideEffects(frozenset({"seen"}), frozenset({"web"}), frozenset({"host:example.com"}))


def _next(folder: Path, name: str = "s1", *, runs: bool = False, is_read: bool = False) -> Session:
    """Return the session of a hook, in which a call runs."""
    session = Session()
    with locked(folder, name) as notes, notes.remembered(session, is_read=is_read):
        if runs:
            session.apply(CALL, EFFECTS)
    return session


def test_calls_and_labels_are_known_to_the_next_hook(tmp_path: Path) -> None:
    """With all that budgets count."""
    first = _next(tmp_path / "hooks", runs=True)
    then = _next(tmp_path / "hooks")
    assert list(then.history.latest()) == list(first.history.latest())
    assert (then.labels, then.counts) == ({"seen"}, {"fetch": 1})
    assert (tmp_path / "hooks").stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "hooks").iterdir()] == [0o600]


def test_every_call_is_noted_once(tmp_path: Path) -> None:
    """However many hooks there were."""
    for _ in range(3):
        _next(tmp_path, runs=True)
    assert len(_next(tmp_path).history) == 3


def test_sessions_do_not_know_each_other(tmp_path: Path) -> None:
    """A name may hold anything."""
    _next(tmp_path, "../s1", runs=True)
    assert len(_next(tmp_path).history) == 0
    assert len(_next(tmp_path, "../s1").history) == 1


def test_what_is_asked_for_the_second_time_is_not_noted(tmp_path: Path) -> None:
    """It is the same call."""
    _next(tmp_path, runs=True, is_read=True)
    assert len(_next(tmp_path).history) == 0


@for_each("text", ["what?\n", "[]\n", "{}\n", '{"labels": []}\n', '{"at": 1'])
def test_notes_that_cannot_be_read_are_an_error(tmp_path: Path, text: str) -> None:
    """Forgotten, they would allow more."""
    _next(tmp_path, runs=True)
    (path,) = tmp_path.iterdir()
    path.write_text(text)
    with pytest.raises(PermitryError, match="what this session has done"):
        _next(tmp_path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """The notes are no other file."""
    _next(tmp_path, runs=True)
    (path,) = tmp_path.iterdir()
    path.rename(tmp_path / "other")
    path.symlink_to("other")
    with pytest.raises(OSError, match="symbolic links"):
        _next(tmp_path)


def test_a_session_begins_once_in_each_record(tmp_path: Path) -> None:
    """What could not be recorded is tried again; the name of a record is not written down."""
    begun: list[str] = []

    def begin(record: str, *, fails: bool = False) -> None:
        with locked(tmp_path, "s1") as notes, contextlib.suppress(AuditError):
            notes.begin_once(record, lambda: _fail() if fails else begun.append(record))

    begin("a.db", fails=True)
    for record in ("a.db", "postgresql://ann:secret@host/b", "a.db", "postgresql://ann:secret@host/b"):
        begin(record)
    assert begun == ["a.db", "postgresql://ann:secret@host/b"]
    assert not any("secret" in path.read_text() for path in tmp_path.iterdir())


def _fail() -> None:
    raise AuditError("no disk")
