"""What is made below a folder: read once, when it is first needed, and only where it is certain."""

from pathlib import Path

import pytest

from permitry.actions.disk import Disk
from permitry.actions.folders import Folder
from permitry.actions.programs.named import Contents
from permitry.actions.unpacked import Given, may_write, with_contents
from permitry.core.action import Access, Descent, Operands, Place, Run, Touch, Unknown, Word


def _place(name: str, *, is_certain: bool = True, is_tree: bool = False) -> Place:
    return Place(name, (name,), (name,), is_certain, is_tree)


def _run(*touches: Touch, doubt: str | None = "writes", is_listed: bool = True) -> Run:
    return Run((Word("x"),), doubt, read_operands=lambda: Operands(touches, is_listed=is_listed))


@pytest.mark.parametrize(
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
