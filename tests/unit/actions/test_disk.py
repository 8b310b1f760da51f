"""What one decision asks of the disk, and how much of it."""

import os
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.actions.disk import Disk, Links
from permitry.actions.extract import ReadActions
from permitry.actions.folders import Folder
from permitry.core.action import Access, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ArgumentRole, ToolSpec

SHELL = ToolSpec("run_shell_command", roles={"command": ArgumentRole.COMMAND})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names that the system is asked about, as they come."""
    names: list[str] = []
    read = os.readlink

    def count(name: str) -> str:
        names.append(name)
        return read(name)

    monkeypatch.setattr(os, "readlink", count)
    return names


@pytest.fixture
def chained(tmp_path: Path) -> Path:
    """Return a folder with a chain of forty links, each of which goes round by many names."""
    top = Path(os.path.realpath(tmp_path))
    (top / "d").mkdir()
    for at in range(40):
        (top / f"l{at}").symlink_to("d/../" * 200 + (f"l{at + 1}" if at < 39 else "d"))
    return top


def _touched(top: Path, text: str) -> list[bool]:
    """Return which of the places are certain that a command names, all read for one decision."""
    actions = ReadActions()(ToolCall("run_shell_command", {"command": text}), AuthContext(workspace=str(top)), SHELL)
    return [touch.place.is_certain for touch in actions.touches()]


def test_the_system_is_asked_once_about_each_name(chained: Path, asked: list[str]) -> None:
    """Many paths through one chain of links cost no more than one."""
    assert all(_touched(chained, "cat " + " ".join(f"l38/{at}" for at in range(20))))
    assert len(asked) == len(set(asked))
    assert len(asked) < 100


def test_a_repository_of_chained_links_is_followed_within_limits(chained: Path, asked: list[str]) -> None:
    """Of thousands of long chains the system is asked little, and what is beyond the limit is not certain."""
    certain = _touched(chained, "cat " + " ".join(f"l{at % 40}/{at}" for at in range(3000)))
    assert certain[0]
    assert not certain[-1]
    assert len(asked) < 5_000


def test_what_is_not_certain_for_its_cost_is_still_seen(chained: Path) -> None:
    """A restriction has the name as written, and as far as it was followed."""
    place = Folder((str(chained),), None, disk=Disk(looks=500)).place_of(Word("l0/x"), Access.READ).place
    assert not place.is_certain
    assert place.lexical == (f"{chained}/l0/x",)
    assert place.passed


def test_each_decision_asks_anew(tmp_path: Path, asked: list[str]) -> None:
    """Nothing is kept from one to the next: a link may have come in between."""
    top = Path(os.path.realpath(tmp_path))
    assert _touched(top, "cat x") == [True]
    count = len(asked)
    (top / "x").symlink_to("x")
    assert _touched(top, "cat x") == [False]
    assert len(asked) > count


# Links below a folder ------------------------------------------------------------------------------------------------


@for_each(
    ("link", "target", "kind"),
    [
        ("a/l", "b", Links.INSIDE),
        ("a/l", "../b", Links.INSIDE),
        ("a/b/l", "../../c/d", Links.INSIDE),
        ("l", ".", Links.INSIDE),
        ("a/l", "./.././x", Links.INSIDE),
        ("l", "..", Links.OPEN),
        ("a/l", "../../t/x", Links.OPEN),
        ("a/l", "b/../../../x", Links.OPEN),
        ("a/l", "b/..", Links.OPEN),
        ("a/l", "/etc", Links.OPEN),
    ],
)
def test_links_below_a_folder_lead_out_of_it_or_not(tmp_path: Path, link: str, target: str, kind: Links) -> None:
    """By what they say: inside are those that stay below the folder wherever it is moved."""
    (tmp_path / "t" / "a" / "b").mkdir(parents=True)
    (tmp_path / "t" / link).symlink_to(target)
    assert Disk().links_below(str(tmp_path / "t")) is kind


@for_each("name", ["file", "missing", "empty"])
def test_where_there_are_no_links_there_are_none(tmp_path: Path, name: str) -> None:
    """In a file, in a folder that is not there, and in an empty one."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    assert Disk().links_below(str(tmp_path / name)) is Links.NONE


@for_each(("limit", "kind"), [(3, Links.NONE), (2, Links.OPEN)])
def test_no_more_is_listed_than_the_limit(tmp_path: Path, limit: int, kind: Links) -> None:
    """A larger folder may hold any links; so may every one that is asked about later."""
    for name in "abc":
        (tmp_path / name).mkdir()
    assert Disk(entries=limit).links_below(str(tmp_path)) is kind


def test_a_folder_that_cannot_be_listed_may_hold_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system does not show may be there."""

    def refuse(path: str) -> None:
        raise PermissionError(13, "refused", path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert Disk().links_below(str(tmp_path)) is Links.OPEN


def test_without_a_disk_there_is_nothing(tmp_path: Path) -> None:
    """No link and no folder, whatever there is on this machine."""
    (tmp_path / "l").symlink_to("x")
    disk = Disk(is_there=False)
    assert disk.link_at(str(tmp_path / "l")) == (None, True)
    assert disk.links_below(str(tmp_path)) is Links.NONE
    assert not disk.is_folder(str(tmp_path))


@for_each(("name", "is_folder"), [("d", True), ("f", False), ("l", False), ("no", False), ("a\0", False)])
def test_a_folder_is_one_that_is_there(tmp_path: Path, name: str, *, is_folder: bool) -> None:
    """A link to one is none."""
    (tmp_path / "d").mkdir()
    (tmp_path / "f").write_text("", encoding="utf-8")
    (tmp_path / "l").symlink_to("d")
    assert Disk().is_folder(f"{tmp_path}/{name}") is is_folder


def test_what_is_in_the_index_of_no_repository_is_nothing(tmp_path: Path) -> None:
    """What git says of a folder that is in one is asked of git, which need not be there."""
    disk = Disk(workspace=str(tmp_path))
    assert disk.in_index(str(tmp_path)) == ()
    (tmp_path / ".git").mkdir()
    assert Disk(workspace=str(tmp_path)).in_index(str(tmp_path)) is None


def test_a_listing_says_which_names_are_links(tmp_path: Path) -> None:
    """At any depth, those to folders as well."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "l").symlink_to("..")
    assert Disk().listed(str(tmp_path), None, has_hidden=True).links == (f"{tmp_path}/a/l",)
