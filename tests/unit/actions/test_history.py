"""What the commands of one text change about where the paths of the others lead."""

import os
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.actions.derive.script import read_command
from permitry.actions.folders import Folder
from permitry.actions.history import Changes, History
from permitry.core.action import Access, Operands, Place, Run, Touch


@pytest.fixture
def here(tmp_path: Path) -> Folder:
    """Return a folder with some files, folders and links."""
    top = Path(os.path.realpath(tmp_path))
    for name in ("a/f", "b/c/f", "x", "t/one"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("a", encoding="utf-8")
    for name, target in (("l", "x"), ("to-a", "a"), ("t/in", "one")):
        (top / name).symlink_to(target)
    return Folder((str(top),), None)


def _is_certain(text: str, folder: Folder) -> bool:
    """Return whether all that the last command touches is certain."""
    found = read_command(text, folder).certain
    last = found[-1]
    touches = last.operands.touches if isinstance(last, Run) else (last,)
    return all(isinstance(touch, Touch) and touch.place.is_certain for touch in touches)


@for_each("text")
def test_what_changes_no_way_leaves_it_certain(text: str, here: Folder) -> None:
    """New files and folders, what is removed, and links elsewhere."""
    assert _is_certain(text, here)


@for_each("text")
def test_behind_what_may_make_a_link_a_way_through_it_is_not_certain(text: str, here: Folder) -> None:
    """Also where it is moved or copied on, or runs at the same time; and behind what no one knows."""
    assert not _is_certain(text, here)


def test_a_link_that_may_be_gone_leads_to_both(here: Folder) -> None:
    """To what it led to, and to its own name."""
    touch = read_command("rm to-a; touch to-a/f", here).certain[-1]
    assert isinstance(touch, Run)
    top = here.bases[0]
    assert touch.operands.touches[0].place.real == (f"{top}/a/f", f"{top}/to-a/f")


def test_nothing_is_asked_before_somebody_asks() -> None:
    """The operands of earlier commands are read with those of the last."""
    asked: list[str] = []

    def read(_: Changes) -> Operands:
        asked.append("once")
        return Operands((Touch(Access.DELETE, Place("x", ("/x",), ("/x",))),), is_listed=True)

    history = History(is_ordered=True)
    history.add(read)
    changes = history.next()
    assert asked == []
    assert changes().is_gone("/x/y")
    assert changes() == Changes(frozenset({"/x"}))
    assert asked == ["once"]


def test_too_many_names_are_anywhere() -> None:
    """There is a limit to what is kept in mind."""
    names = frozenset(map(str, range(3000)))
    assert Changes().joined(Changes(names)) == Changes(is_anywhere=True)
