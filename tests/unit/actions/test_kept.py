"""Calls that are read again only if something they depend on has changed."""

import pickle
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from permitry.actions import disk, kept
from permitry.actions.extract import ReadActions
from permitry.core.action import Actions
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.well_known import well_known

READER = ReadActions("/home/u")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a workspace with a file and a folder."""
    (tmp_path / "src").mkdir()
    (tmp_path / "a").touch()
    return tmp_path


def _read(work: Path | None, reader: ReadActions = READER, **arguments: object) -> Actions:
    call = ToolCall("bash", arguments)
    return reader(call, AuthContext(workspace=None if work is None else str(work)), well_known(call))


def _touched(actions: Actions) -> list[tuple[tuple[str, ...], ...]]:
    return [(touch.place.real, touch.place.tops) for touch in actions.touches()]


@pytest.mark.parametrize("command", ["git status", "cat a | sort", "cp a src", "ls src > b", "rm -r x"])
def test_the_same_call_has_the_same_actions(work: Path, command: str) -> None:
    """With all that was worked out of them."""
    actions = _read(work, command=command)
    assert _touched(actions) == _touched(_read(work, command=command))
    assert _read(work, command=command) is actions


@pytest.mark.parametrize(
    ("command", "change"),
    [
        ("cat b", lambda work: (work / "b").symlink_to("a")),
        ("cp a b", lambda work: (work / "b").mkdir()),
        ("rm -r x", lambda work: (work / "x").mkdir()),
        ("cat src/x", lambda work: ((work / "src").rmdir(), (work / "src").symlink_to("b"))),
    ],
)
def test_it_is_read_again_when_the_disk_has_changed(work: Path, command: str, change: Callable[[Path], object]) -> None:
    """A new link, and a folder that was not there, lead elsewhere."""
    actions = _read(work, command=command)
    before = _touched(actions)
    change(work)
    again = _read(work, command=command)
    assert again is not actions
    assert _touched(again) != before


@pytest.mark.parametrize("command", ["grep -r x src", "cp -r src b"])
def test_it_is_read_again_when_folders_were_listed(work: Path, command: str) -> None:
    """To list them once more would take as long."""
    actions = _read(work, command=command)
    for touch in actions.touches():
        if touch.place.look is not None:
            touch.place.look(str(work), None)
    assert _read(work, command=command) is not actions


def test_it_is_read_again_when_there_were_too_many_look_ups() -> None:
    """What it would have looked up is not known."""
    found = disk.Disk(looks=0)
    found.link_at("/a")
    assert not found.is_unchanged


def test_other_arguments_are_another_call(work: Path) -> None:
    """`1` and `True` are equal, and are not the same; the order may say which doubt is named."""
    actions = _read(work, command="ls", x=1, y=2)
    assert _read(work, command="ls", x=True, y=2) is not actions
    assert _read(work, command="ls", y=2, x=1) is not actions
    assert _read(work / "src", command="ls", x=1, y=2) is not actions
    assert _read(work, command="ls", x=1, y=2) is actions


def test_another_declaration_is_another_call(work: Path) -> None:
    """Also one that is equal: to compare them takes longer."""
    call, context = ToolCall("bash", {"command": "ls"}), AuthContext(workspace=str(work))
    spec = well_known(call)
    assert spec is not None
    assert READER(call, context, attrs.evolve(spec)) is not READER(call, context, spec)
    assert READER(call, context, None) is not READER(call, context, None)


@pytest.mark.parametrize(
    "arguments", [{"command": ["ls"]}, {"command": "ls " + "a" * 1_000}, {"command": "ls; " * 60}, {"x": 0.5}]
)
def test_what_is_large_or_not_plain_is_not_kept(work: Path, arguments: dict[str, object]) -> None:
    """A list could not be looked up, and what is kept must not take much memory."""
    assert _read(work, READER, **arguments) is not _read(work, READER, **arguments)


def test_without_a_workspace_nothing_is_kept() -> None:
    """The folder of this process may change."""
    assert _read(None, command="ls") is not _read(None, command="ls")


def test_when_there_are_many_calls_all_are_forgotten(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that they do not take more and more memory."""
    monkeypatch.setattr(kept, "MOST_KEPT", 2)
    reader = ReadActions()
    first, second = (_read(work, reader, command=text) for text in ("a", "b"))
    assert _read(work, reader, command="a") is first
    _read(work, reader, command="c")
    assert _read(work, reader, command="b") is not second


def test_a_copy_of_a_reader_has_read_nothing(work: Path) -> None:
    """It may be for another machine."""
    actions = _read(work, command="ls")
    copy = pickle.loads(pickle.dumps(READER))  # noqa: S301 -- our own bytes
    assert copy == READER
    assert _read(work, copy, command="ls") is not actions
