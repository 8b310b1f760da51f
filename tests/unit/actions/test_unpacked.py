"""What is made below a folder: read once, when it is first needed, and only where it is certain."""

from pathlib import Path

from tests.tables import for_each

from permitry.actions.disk import Disk
from permitry.actions.folders import Folder
from permitry.actions.programs.named import Contents
from permitry.actions.unpacked import Given, may_write, with_contents
from permitry.core.action import Access, Descent, Operands, Place, Run, Touch, Unknown, Word


def _place(name: str, *, is_certain: bool = True, is_tree: bool = False) -> Place:
    return Place(name, (name,), (name,), is_certain, is_tree)


def _run(*touches: Touch, doubt: str | None = "writes", is_listed: bool = True) -> Run:
    return Run((Word("x"),), doubt, read_operands=lambda: Operands(touches, is_listed=is_listed))


@for_each(
    ("action", "writes"),
    [
        (Touch(Access.WRITE, _place("/a")), True),
        (Touch(Access.DELETE, _place("/a")), True),
        (Touch(Access.READ, _place("/a")), False),
        (Touch(Access.WRITE, _place("/b")), False),
        (Touch(Access.WRITE, _place("/b", is_certain=False)), True),
        (Touch(Access.WRITE, _place("/", is_tree=True)), False),
        (Touch(Access.WRITE, _place("/a", is_tree=True)), True),
        (_run(Touch(Access.WRITE, _place("/a"))), True),
        (_run(Touch(Access.WRITE, _place("/b"))), False),
        (_run(is_listed=False), True),
        (_run(Touch(Access.WRITE, _place("/a")), doubt=None), False),
        (Unknown("x", "unread"), True),
    ],
)
def test_what_may_write_to_a_file(action: Touch | Run | Unknown, *, writes: bool) -> None:
    """A program that is not known may write to any; one that only reads to none."""
    assert may_write([action], _place("/a")) is writes


def test_a_tree_is_read_once(tmp_path: Path) -> None:
    """Its names are below the target, with the folders they are in."""
    (tmp_path / "from" / "a").mkdir(parents=True)
    (tmp_path / "from" / "a" / "b").touch()
    folder = Folder((str(tmp_path),), None, disk=Disk())
    target = folder.place_of(Word("to"), Access.WRITE, descent=Descent.NEW).place
    given = Given(is_written=lambda _: False)
    place = with_contents(target, Contents("tree", (Word("from/"),)), folder, given)
    made = place.made()
    assert made is not None
    assert sorted(made.names) == [f"{tmp_path}/to/{name}" for name in ("a", "a/b")]
    assert place.made() is made
    assert with_contents(target, Contents("tree", (Word("from/"),)), folder, Given()).made() is None
    assert with_contents(target, None, folder, given) is target


def test_what_writes_below_a_folder_writes_to_it() -> None:
    """A repository is changed by any file in it."""
    inner = Touch(Access.WRITE, _place("/a/.git/HEAD"))
    assert may_write([inner], _place("/a/.git", is_tree=True))
    assert not may_write([inner], _place("/a/.git"))
    assert not may_write([inner], _place("/b/.git", is_tree=True))


def test_a_clone_is_made_in_no_folder_that_holds_something(tmp_path: Path) -> None:
    """Git refuses; in an empty one, and in one that the call may empty, it makes what is not known."""
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "a").touch()
    (tmp_path / "empty").mkdir()
    folder = Folder((str(tmp_path),), None, disk=Disk())
    for name, given, is_known in (
        ("used", Given(is_written=lambda _: False), True), ("used", Given(), False),
        ("empty", Given(is_written=lambda _: False), False), ("none", Given(is_written=lambda _: False), False),
    ):  # fmt: skip
        target = folder.place_of(Word(name), Access.WRITE, descent=Descent.NEW).place
        made = with_contents(target, Contents("clone"), folder, given).made()
        assert (made is not None and made.is_nothing) is is_known


def test_patches_that_change_one_another_are_not_read(tmp_path: Path) -> None:
    """The second one may be another by then."""
    patch = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-x\n+y\n"
    (tmp_path / "1.patch").write_text(patch.format("2.patch"))
    (tmp_path / "2.patch").write_text(patch.format("a/b"))
    folder = Folder((str(tmp_path),), None, disk=Disk())
    target = folder.place_of(Word("."), Access.WRITE, descent=Descent.NEW).place
    given = Given(is_written=lambda _: False)
    for names, expected in ((["2.patch"], ["a", "a/b"]), (["1.patch", "2.patch"], None), (["none"], None), ([], None)):
        contents = Contents("patch", tuple(map(Word, names)), 1)
        made = with_contents(target, contents, folder, given).made()
        assert (made and [name.removeprefix(f"{tmp_path}/") for name in made.names]) == expected


def test_what_git_brings_is_read_in_one_known_folder_alone(tmp_path: Path) -> None:
    """And never without a workspace, in which git itself could be."""
    folder = Folder((str(tmp_path),), None, disk=Disk())
    target = folder.place_of(Word("."), Access.WRITE, descent=Descent.NEW).place
    given = Given(is_written=lambda _: False)
    for contents in (
        Contents("index", (Word("a"),)), Contents("index", (Word("$a", is_open=True),)),
        Contents("index", (Word("a"),), at=Word("$a", is_open=True)),
    ):  # fmt: skip
        assert with_contents(target, contents, folder, given).made() is None
