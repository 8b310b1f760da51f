"""Looking at paths: no link is followed, and what could not be brought back is refused."""

import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from permitry.actions.changes import Change
from permitry.errors import UndoError
from permitry.undo import inspection
from permitry.undo.inspection import Limits, look, roots_of
from permitry.undo.nodes import Kind, Node


def _look(*paths: Path, is_tree: bool = True, **limits: Any) -> tuple[Node, ...]:  # noqa: ANN401 -- the fields of limits
    return look([Change(str(path), is_tree) for path in paths], Limits(**limits))


def _kinds(work: Path, nodes: tuple[Node, ...]) -> dict[str, str]:
    return {os.path.relpath(node.path, work): node.kind.value for node in nodes}


def test_a_tree_is_all_that_is_below(work: Path) -> None:
    """Links as links, and two names of one file as such."""
    nodes = _look(work / "d")
    assert _kinds(work, nodes) == {"d": "folder", "d/link": "link", "d/x": "file", "d/y": "file"}
    found = {Path(node.path).name: node for node in nodes}
    assert found["link"].text == "../a"
    assert (found["x"].same, found["y"].same) == ("", str(work / "d" / "x"))
    assert found["x"].digest == found["y"].digest != ""


def test_a_folder_alone_is_without_what_is_below(work: Path) -> None:
    """What only changes its mode does not touch that."""
    assert _kinds(work, _look(work / "d", is_tree=False)) == {"d": "folder"}


def test_each_path_is_looked_at_once(work: Path) -> None:
    """Also where one is below another, or given twice."""
    changes = [Change(str(work / name), is_tree) for name, is_tree in (("d/x", False), ("d", True), ("d", False))]
    assert len(look(changes, Limits())) == 4


def test_a_file_in_the_way_of_another_path_is_one_file(work: Path) -> None:
    """As `cp x a` may mean `a/x`: what is there is `a`, once."""
    (node,) = _look(work / "a", work / "a" / "x", work / "a" / "y", is_tree=False)
    assert (node.path, node.same) == (str(work / "a"), "")


@pytest.mark.parametrize(("name", "found"), [("n", "n"), ("n/m/o", "n"), ("a/b/c", "a")])
def test_what_is_missing_is_the_first_folder_that_is(work: Path, name: str, found: str) -> None:
    """Or the file that is in its place; the roots to look at later say so."""
    (node,) = _look(work / name, is_tree=False)
    assert node.path == str(work / found)
    change = Change(str(work / name))
    assert (node.kind is Kind.ABSENT) is (found == "n")
    assert roots_of([change], [node]) == (Change(str(work / found), is_tree=True),)


def test_a_folder_that_became_a_link_is_refused(work: Path) -> None:
    """What is named is what is kept: nothing of where the link leads."""
    (work / "d").rename(work / "e")
    (work / "d").symlink_to("e")
    with pytest.raises(UndoError, match="is not what it was"):
        _look(work / "d" / "x")


def test_what_cannot_be_brought_back_is_refused(work: Path) -> None:
    """A pipe and a socket, wherever they are in the tree."""
    os.mkfifo(work / "d" / "pipe")
    with pytest.raises(UndoError, match="a pipe, a socket or a device"):
        _look(work / "d")
    (work / "d" / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(work / "d" / "s"))
    with pytest.raises(UndoError, match="a pipe, a socket or a device"):
        _look(work / "d")


def test_the_root_of_all_files_is_refused() -> None:
    """Nothing is above it."""
    with pytest.raises(UndoError, match="root of all files"):
        _look(Path("/"))


def test_a_mounted_file_system_is_refused() -> None:
    """It is another disk."""
    with pytest.raises(UndoError, match="mounted"):
        _look(Path("/proc"))


def test_another_name_that_is_not_kept_is_refused(work: Path) -> None:
    """A change through this name would be one of that file as well."""
    with pytest.raises(UndoError, match="another name"):
        _look(work / "d" / "x")
    assert len(_look(work / "d" / "x", work / "d" / "y")) == 2


def test_too_much_is_refused(work: Path) -> None:
    """In bytes, before it is read, and in files."""
    (work / "huge").touch()
    os.truncate(work / "huge", 1 << 40)
    with pytest.raises(UndoError, match="more than 100 bytes"):
        _look(work / "huge", size=100)
    with pytest.raises(UndoError, match="more than 3 files"):
        _look(work / "d", files=3)


def test_what_changes_while_it_is_read_is_refused(work: Path) -> None:
    """The copy could be half of one and half of the other."""

    def take(file: int, _: int) -> tuple[str, str, int]:
        os.truncate(work / "a", 100)
        return str(file), "", 0

    with pytest.raises(UndoError, match="changes while it is kept"):
        look([Change(str(work / "a"))], Limits(), take)


def test_no_more_is_read_than_there_was(work: Path) -> None:
    """A file to which another process appends has no end."""
    with (work / "a").open("rb") as stream:
        assert b"".join(inspection.pieces_of(stream.fileno(), 1)) == b"a"


def test_what_cannot_be_read_is_refused(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is said."""
    listed = os.listdir

    def refuse(folder: int) -> list[str]:
        if stat.S_ISDIR(os.fstat(folder).st_mode):
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(UndoError, match=r"work/d` cannot be read: Permission denied"):
        _look(work / "d")


def test_what_belongs_to_another_user_is_refused(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It could not be given back to them, unless by root."""
    user, group = os.geteuid(), os.getegid()
    monkeypatch.setattr(os, "getgroups", lambda: [group])
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.raises(UndoError, match="another user or group"):
        _look(work / "a")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert len(_look(work / "a")) == 1
