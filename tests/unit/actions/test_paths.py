"""Where a path leads, on a disk made for the test."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.actions.disk import Disk
from permitry.actions.folders import Folder
from permitry.actions.history import View
from permitry.actions.paths import read_path, roots_of
from permitry.core.action import Access, Descent, Place, Roots, Word

READ = Callable[..., Place]


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a folder with a workspace `ws`, a home `home/me`, and a folder `out` next to them, by its real name."""
    top = Path(os.path.realpath(tmp_path))
    for name in ("ws/src/deep", "home/me/.ssh", "out"):
        (top / name).mkdir(parents=True)
    (top / "ws" / "src" / "main.py").write_text("x", encoding="utf-8")
    return top


@pytest.fixture
def read(top: Path) -> READ:
    """Return `read_path` as the workspace sees it."""

    def read(text: str, **options: Any) -> Place:  # noqa: ANN401 -- those of `read_path`
        return read_path(text, [str(top / "ws")], home=str(top / "home" / "me"), **options)

    return read


@for_each(("text", "name"))
def test_without_links_both_names_are_the_normal_one(read: READ, top: Path, text: str, name: str) -> None:
    """Dots, slashes and missing names are settled by the text."""
    full = os.path.normpath(top / name)
    assert read(text) == Place(text, (full,), (full,))


@for_each("slashes", ["/", "//", "///"])
def test_leading_slashes_are_one(read: READ, slashes: str) -> None:
    """No number of leading slashes is another world."""
    place = read(f"{slashes}no-such-name/x")
    assert place.lexical == place.real == ("/no-such-name/x",)
    assert place.is_certain


@pytest.mark.parametrize(
    ("target", "text", "real"),
    [
        ("{top}/out", "link/new.txt", "out/new.txt"),
        ("../out", "link/new.txt", "out/new.txt"),
        ("{top}/out", "link", "out"),
        ("{top}/out/sub", "link/../x", "out/x"),
        ("src/new.py", "link", "ws/src/new.py"),
        ("//{top}/out", "link/x", "out/x"),
        ("{top}/ws/src/", "link/main.py", "ws/src/main.py"),
    ],
)
def test_links_are_followed_as_the_kernel_does(read: READ, top: Path, target: str, text: str, real: str) -> None:
    """Links lead where they point, to missing names too, and `..` after one leads to the parent of its target."""
    (top / "ws" / "link").symlink_to(target.format(top=top))
    place = read(text)
    assert place.real == (str(top / real),)
    assert place.lexical == (os.path.normpath(top / "ws" / text),)
    assert place.is_certain


def test_without_a_disk_there_are_no_links(read: READ, top: Path) -> None:
    """The name is the place, for paths and for the folders they start from."""
    (top / "ws" / "link").symlink_to("src")
    place = read("link/main.py", view=View(Disk(is_there=False)))
    assert place.real == place.lexical == (str(top / "ws" / "link" / "main.py"),)
    assert place.is_certain
    linked = str(top / "ws" / "link")
    assert roots_of(linked, linked, view=View(Disk(is_there=False))) == Roots((linked,), (linked,))
    assert len(roots_of(linked, linked).workspace) == 2


def test_a_chain_of_links_is_followed_to_its_end(read: READ, top: Path) -> None:
    """A link to a link to a link is one path."""
    for name, target in (("one", "two"), ("two", "three"), ("three", str(top / "out"))):
        (top / "ws" / name).symlink_to(target)
    assert read("one/x").real == (str(top / "out" / "x"),)


@pytest.mark.parametrize("text", ["loop", "loop/x", "other/..", "new/../loop/y"])
def test_a_loop_of_links_is_not_certain(read: READ, top: Path, text: str) -> None:
    """Where the kernel gives up, nothing is sure; the name as written stays."""
    (top / "ws" / "loop").symlink_to("other")
    (top / "ws" / "other").symlink_to("loop")
    place = read(text)
    assert not place.is_certain
    assert place.lexical == (os.path.normpath(top / "ws" / text),)


@pytest.mark.parametrize(("links", "is_certain"), [(40, True), (41, False)])
def test_the_kernel_follows_forty_links(read: READ, top: Path, *, links: int, is_certain: bool) -> None:
    """One more link than the kernel follows is like a loop."""
    for at in range(links):
        (top / "ws" / f"l{at}").symlink_to(f"l{at + 1}")
    assert read("l0").is_certain is is_certain


@for_each("text", ["a\0b", "a\nb", "a\tb", "a\x7f", "a\x9b", "a\\b", "\\", "\\\\host\\x", "\ud800", "a\udcff"])
def test_characters_read_in_two_ways_are_not_certain(read: READ, text: str) -> None:
    """Control characters, backslashes and lone surrogates leave a doubt."""
    assert not read(text).is_certain


def test_an_empty_path_names_nothing(read: READ) -> None:
    """No text, no name, no certainty."""
    assert read("") == Place("", is_certain=False)


def test_what_stands_before_a_nul_is_named(read: READ) -> None:
    """A program in C reads no further."""
    assert read("/no-such-name\0.txt").lexical == ("/no-such-name",)


def test_a_backslash_may_be_a_slash(read: READ, top: Path) -> None:
    """Both readings of a backslash are named."""
    assert read("src\\x").lexical == (str(top / "ws" / "src\\x"), str(top / "ws" / "src" / "x"))


def test_a_tilde_of_the_shell_is_the_home_folder(read: READ, top: Path) -> None:
    """The shell replaced it, so there is no other reading."""
    home = str(top / "home" / "me" / ".ssh")
    assert read("~/.ssh", is_home=True) == Place("~/.ssh", (home,), (home,))
    assert read("~", is_home=True).real == (str(top / "home" / "me"),)


def test_any_other_tilde_has_both_readings(read: READ, top: Path) -> None:
    """A tool may or may not replace it."""
    place = read("~/.ssh")
    assert not place.is_certain
    assert place.lexical == (str(top / "ws" / "~" / ".ssh"), str(top / "home" / "me" / ".ssh"))


@for_each("is_home", [True, False])
def test_the_home_of_a_user_is_guessed(read: READ, top: Path, *, is_home: bool) -> None:
    """Who `~you` is can be found in a file of the system; the likely folders are named, and nothing is certain."""
    place = read("~you/x", is_home=is_home)
    assert not place.is_certain
    guesses = {str(top / "ws/~you/x"), str(top / "home/me/x"), str(top / "home/you/x"), "/you/x"}
    assert set(place.lexical) == guesses


def test_a_tilde_without_a_home_is_not_certain() -> None:
    """The home folder may be unknown, even to a shell."""
    place = read_path("~/x", ["/no-such-ws"], home=None, is_home=True)
    assert place == Place("~/x", ("/no-such-ws/~/x",), ("/no-such-ws/~/x",), is_certain=False)


def test_several_bases_give_several_names(top: Path) -> None:
    """After a `cd` that may have happened a path is certainly one of two."""
    place = read_path("x", [str(top / "ws"), str(top / "out")], home=None)
    assert place.real == (str(top / "ws" / "x"), str(top / "out" / "x"))
    assert place.is_certain


def test_an_absolute_path_needs_no_base() -> None:
    """It is the same from everywhere."""
    assert read_path("/no-such-name", [], home=None) == Place("/no-such-name", ("/no-such-name",), ("/no-such-name",))


def test_a_relative_path_without_bases_has_no_name() -> None:
    """What it is relative to is not known."""
    assert read_path("x", [], home=None) == Place("x", is_certain=False)


@for_each("door", ["/proc/self/root", "/proc/1/root", "/proc/thread-self/root", "/proc/self/task/1/root"])
def test_the_root_of_a_process_is_ours(read: READ, top: Path, door: str) -> None:
    """A door of /proc is not certain, and the likely name behind it is reported."""
    place = read(f"{door}{top}/out/x")
    assert not place.is_certain
    assert place.real == (str(top / "out" / "x"),)
    assert place.lexical == (f"{door}{top}/out/x",)


def test_the_folder_of_a_process_is_the_base(read: READ, top: Path) -> None:
    """`/proc/self/cwd` leads back to where the call runs, links on the way included."""
    (top / "ws" / "link").symlink_to(top / "out")
    place = read("/proc/self/cwd/link/x")
    assert place.real == (str(top / "out" / "x"),)
    assert not place.is_certain


@for_each("text", ["/dev/fd/3", "/dev/stdin", "/proc/self/fd/0", "/proc/7/exe", "//proc/./self/cwd"])
def test_doors_of_a_process_are_not_certain(read: READ, text: str) -> None:
    """Each process has its own, so ours tell nothing."""
    assert not read(text).is_certain


def test_a_link_to_a_door_is_a_door(read: READ, top: Path) -> None:
    """Where the door stands does not matter."""
    (top / "ws" / "link").symlink_to("/proc/self/root")
    place = read("link/no-such-name")
    assert not place.is_certain
    assert place.real == ("/no-such-name",)


@for_each("text", ["/proc/cpuinfo", "/proc/self/status", "/dev/null"])
def test_other_files_of_the_system_are_certain(read: READ, text: str) -> None:
    """They are what they seem, and no link is followed for the process that asks."""
    place = read(text)
    assert place.is_certain
    assert place.real == (text,)


def test_doors_need_not_be_links(read: READ, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some systems keep real files in `/dev/fd`."""

    def find_nothing(path: str) -> str:
        raise FileNotFoundError(2, "not here", path)

    monkeypatch.setattr(os, "readlink", find_nothing)
    assert not read("/dev/fd/3").is_certain


@for_each("text", ["file:///no%2Dsuch/x", "FILE:/no-such/x", "file://localhost/no-such/x"])
def test_an_address_of_a_file_has_both_readings(read: READ, top: Path, text: str) -> None:
    """A tool may take it for an address."""
    place = read(text)
    assert not place.is_certain
    assert place.lexical[1:] == ("/no-such/x",)
    assert place.lexical[0].startswith(str(top / "ws"))


def test_a_broken_address_has_one_reading(read: READ) -> None:
    """What is not an address is only a name, but not for every reader."""
    place = read("file://[x/y")
    assert len(place.lexical) == 1
    assert not place.is_certain


def test_a_name_the_system_refuses_is_not_certain(read: READ, top: Path) -> None:
    """Names have a greatest length."""
    place = read("src/" + "a" * 300)
    assert not place.is_certain
    assert place.real == (str(top / "ws" / "src" / ("a" * 300)),)


def test_a_path_no_system_takes_names_nothing(read: READ) -> None:
    """It is not certain, and costs nothing."""
    assert read("a/" * 3000).lexical == ()
    assert not read("a/" * 3000).is_certain


def test_padding_hides_no_name(read: READ, top: Path) -> None:
    """A long way of writing a short path is read, though no system takes it."""
    place = read("./" * 3000 + "src/main.py")
    assert not place.is_certain
    assert place.real == (str(top / "ws" / "src" / "main.py"),)


def test_a_folder_nobody_may_enter_is_not_certain(read: READ, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system does not show may be a link."""

    def refuse(path: str) -> str:
        raise PermissionError(13, "refused", path)

    monkeypatch.setattr(os, "readlink", refuse)
    place = read("src/main.py")
    assert not place.is_certain
    assert place.real == (str(top / "ws" / "src" / "main.py"),)


def test_what_the_caller_knows_is_kept() -> None:
    """A tree is a tree, a glob is not certain."""
    here = Folder(("/nowhere",), None)
    assert here.place_of(Word("src/*"), Access.READ).place.is_certain
    assert not here.place_of(Word("src/*"), Access.READ, is_certain=False).place.is_certain
    assert here.place_of(Word("src"), Access.READ, descent=Descent.ALL).place.is_tree
    assert not here.place_of(Word("src"), Access.READ).place.is_tree


def test_a_place_is_read_once_for_a_decision() -> None:
    """Whether it is read or written; what is deleted is the entry itself."""
    here = Folder(("/nowhere",), None)
    read, written, deleted, listed = (here.place_of(Word("src"), access).place for access in Access)
    assert read is written is listed
    assert deleted.is_entry
    assert here.place_of(Word("src"), Access.READ).place is read


def test_roots_have_both_names(top: Path) -> None:
    """A workspace given as a link has two names; a plain home has one."""
    (top / "link").symlink_to("ws")
    roots = roots_of(f"{top}/out/../link/", str(top / "home"))
    assert roots == Roots((str(top / "link"), str(top / "ws")), (str(top / "home"),))


@for_each("folder", [None, "", "relative"])
def test_a_root_that_is_not_known_has_no_name(folder: str | None) -> None:
    """What is not absolute is relative to nothing we know."""
    assert roots_of(folder, folder) == Roots()
