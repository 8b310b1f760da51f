"""What is touched by names that were found: all below a folder, where links lead, or anything."""

from pathlib import Path

import attrs
import pytest

from permitry.actions.folders import Folder
from permitry.actions.found_names import finds_links, found_in, touch_perhaps
from permitry.actions.history import Changes
from permitry.actions.programs.named import Named
from permitry.core.action import Access, Word
from permitry.core.words import Found

SRC = Word("src")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a folder with a file in `src`."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x", encoding="utf-8")
    return tmp_path


def _names(
    work: Path, found: Found, *, alone: bool = True, access: Access = Access.READ, goes_on: bool = False
) -> list[str]:
    """Return the names that are touched, the last parts alone."""
    folder = Folder((str(work),), None, writes_alone=alone)
    named = Named(access, SRC, True, access is Access.DELETE, found=found, goes_on=goes_on)
    return [
        name.rpartition("/")[2] or "?" for touch in found_in(named, found, folder) for name in touch.place.real or ("",)
    ]


def test_all_below_a_folder_is_touched(work: Path) -> None:
    """And nothing else, where there is no link."""
    assert _names(work, Found((SRC,))) == ["src"]


def test_links_lead_where_they_lead(work: Path) -> None:
    """Unless their name is another one, or they are removed themselves."""
    (work / "src" / "l.py").symlink_to("/nowhere/key")
    assert _names(work, Found((SRC,))) == ["src", "key"]
    assert _names(work, Found((SRC,), ("*.PY",))) == ["src", "key"]
    assert _names(work, Found((SRC,), ("*.c",))) == ["src"]
    assert _names(work, Found((SRC,), has_links=False)) == ["src"]
    assert _names(work, Found((SRC,)), access=Access.DELETE) == ["src"]


def test_names_that_are_split_are_looked_at(work: Path) -> None:
    """One with a blank may become any other."""
    found = Found((SRC,), is_split=True)
    assert _names(work, found) == ["src"]
    (work / "src" / "a b").write_text("x", encoding="utf-8")
    assert _names(work, found) == ["?"]
    assert _names(work, Found((SRC,))) == ["src"]


def test_a_name_may_be_an_option(work: Path) -> None:
    """Where what is printed does not begin with the folder."""
    (work / "src" / "-f").write_text("x", encoding="utf-8")
    assert _names(work, Found((SRC,), may_be_option=True)) == ["?"]
    assert _names(work, Found((SRC,))) == ["src"]


def test_other_commands_may_make_names(work: Path) -> None:
    """So nothing is known of names that are split; and of links, where what they make is not known."""
    assert _names(work, Found((SRC,), is_split=True), alone=False) == ["?"]
    folder = Folder((str(work),), None, earlier=lambda: Changes(is_anywhere=True))
    (touch,) = found_in(Named(Access.READ, SRC, True), Found((SRC,)), folder)
    assert touch.place.is_open


def test_only_what_was_found_is_below_it(work: Path) -> None:
    """And all below that, for a program that goes on there."""
    (work / "src" / "old").mkdir()
    (work / "src" / "old" / "b.c").write_text("x", encoding="utf-8")
    folder = Folder((str(work),), None, writes_alone=True)
    shown = []
    for goes_on in (False, True):
        named = Named(Access.READ, SRC, True, found=Found((SRC,), ("old",)), goes_on=goes_on)
        (touch,) = touch_perhaps(named, folder)
        assert touch.place.look is not None
        shown.append([Path(name).name for name in touch.place.look(f"{work}/src", None).names])
    assert shown == [["old"], ["old", "b.c"]]


def test_a_link_is_found_where_one_may_be(work: Path) -> None:
    """By its name, below a folder that the program goes on in, or by a pattern of the shell."""
    folder, named = Folder((str(work),), None), Named(Access.READ, SRC)
    assert not finds_links(named, Found((SRC,)), folder)
    (work / "src" / "l.py").symlink_to("key")
    folder = Folder((str(work),), None)
    assert finds_links(named, Found((SRC,)), folder)
    assert not finds_links(named, Found((SRC,), ("*.c",)), folder)
    assert not finds_links(named, Found((SRC,), has_links=False), folder)
    assert finds_links(attrs.evolve(named, goes_on=True), Found((SRC,), has_links=False), folder)
    assert finds_links(Named(Access.READ, Word("s*", is_glob=True)), Found((SRC,), ("*.c",)), folder)
