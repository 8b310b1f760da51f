"""Several files changed together, and what is left when a step fails."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from permitry.errors import ToolError
from permitry_tools.patch.commit import Change, commit

Tree: TypeAlias = Callable[[], dict[str, tuple[int, object]]]

STEPS = ("open", "mkdir", "fchmod", "link", "rename", "replace")


@pytest.fixture
def changes(root: Path) -> list[Change]:
    """Return changes of all kinds: a new file in new folders, two new contents, a move, a file and a link that go."""
    for name in ("old", "moved", "gone", "over"):
        (root / name).write_bytes(name.encode())
    (root / "old").chmod(0o640)
    (root / "link").symlink_to("old")
    return [
        Change(Path("new/er/est"), "new/er/est", b"1"),
        Change(Path("old"), "old", b"2", expected=b"old"),
        Change(Path("over"), "over", b"3", mode=0o700),
        Change(Path("moved"), "moved", None, expected=b"moved"),
        Change(Path("gone"), "gone", None),
        Change(Path("link"), "link", None),
    ]


def failing(
    monkeypatch: pytest.MonkeyPatch, at: int, error: BaseException, *, is_broken: bool = False
) -> Callable[[], int]:
    """Let the step number `at` fail, with `is_broken` all behind it too; return a counter of the steps."""
    count = 0

    def spoilt(step: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*args: object, **rest: object) -> object:
            nonlocal count
            count += 1
            if count == at or (is_broken and count > at):
                raise error
            return step(*args, **rest)

        return stepped

    for name in STEPS:
        monkeypatch.setattr(os, name, spoilt(getattr(os, name)))
    return lambda: count


def leftovers(root: Path) -> list[str]:
    """Return the temporary files that are left."""
    return [path.name for path in root.rglob(".permitry-*")]


def test_all_changes_are_made(root: Path, changes: list[Change], tree: Tree) -> None:
    """Permissions of what was there stay, and nothing temporary is left."""
    commit(root, changes)
    after = tree()
    assert {name: content for name, (_, content) in after.items()} == {
        "new": None, "new/er": None, "new/er/est": b"1", "old": b"2", "over": b"3",
    }  # fmt: skip
    assert after["old"][0] & 0o777 == 0o640


def test_a_new_file_has_the_permissions_it_is_given(root: Path) -> None:
    """A file that moves takes its own along; whatever the mask of the process is."""
    commit(root, [Change(Path("a"), "a", b"x", mode=0o755), Change(Path("b"), "b", b"x")])
    umask = os.umask(0)
    os.umask(umask)
    modes = [(root / name).stat().st_mode & 0o777 for name in "ab"]
    assert modes == [0o755, 0o666 & ~umask]


@pytest.mark.parametrize("number", range(1, 60))
def test_when_a_step_fails_nothing_is_changed(
    root: Path, changes: list[Change], tree: Tree, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Whichever step it is, everything is as it was: contents, permissions, links and folders."""
    before = tree()
    with monkeypatch.context() as patched:
        steps = failing(patched, number, OSError(errno.ENOSPC, "No space left on device"))
        message = ""
        try:
            commit(root, changes)
        except ToolError as error:
            message = str(error)
        total = steps()
    if message:
        assert message.endswith("cannot be changed: No space left on device. Nothing was changed.")
        assert tree() == before
        return
    # Only tidying up is left to fail, or the file system knows no second names: then all is done.
    assert (root / "old").read_bytes() == b"2"
    assert not (root / "link").is_symlink()
    assert leftovers(root) == [] or total - len(changes) < number <= total


def test_the_steps_above_are_all(root: Path, changes: list[Change], monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty are more than there are."""
    with monkeypatch.context() as patched:
        steps = failing(patched, 0, OSError())
        commit(root, changes)
        assert 25 < steps() < 60


@pytest.mark.parametrize("number", [1, 5, 12, 20, 26, 30])
def test_an_interrupt_changes_nothing_either(
    root: Path, changes: list[Change], tree: Tree, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """What was begun is undone on the way out."""
    before = tree()
    with monkeypatch.context() as patched:
        failing(patched, number, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            commit(root, changes)
    assert tree() == before


def test_what_cannot_be_undone_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that breaks in the middle leaves the old content next to the file, and the model learns of it."""
    (root / "a").write_bytes(b"a")
    (root / "b").write_bytes(b"b")
    changes = [Change(Path(name), name, b"new") for name in "ab"]
    with monkeypatch.context() as patched:
        whole = failing(patched, 0, OSError())
        commit(root, changes)
        total = whole()
    (root / "a").write_bytes(b"a")
    with monkeypatch.context() as patched:
        # The last steps put the second file in its place, and tidy up.
        failing(patched, total - 4, OSError(errno.EIO, "Input/output error"), is_broken=True)
        with pytest.raises(ToolError) as caught:
            commit(root, changes)
    assert str(caught.value).startswith("`b` cannot be changed: Input/output error. What was done before could not be")
    assert "undone: `a` (Input/output error), `b` (Input/output error). The old content is" in str(caught.value)
    assert [path.read_bytes() for path in root.glob(".permitry-*.old")] == [b"a"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Change(Path("a"), "a", b"x", expected=b"other"), "`a` was changed by another process meanwhile."),
        (Change(Path("b"), "b", b"x", expected=b"other"), "`b` was removed by another process meanwhile."),
        (Change(Path("b"), "b", None), "`b` was removed by another process meanwhile."),
        (Change(Path("d"), "d", b"x"), "`d` is not a regular file."),
        (Change(Path("l"), "l", b"x"), "`l` is not a regular file."),
        (Change(Path("l/x"), "l/x", b"x"), "`l/x` cannot be changed: Not a directory."),
        (Change(Path("a/x"), "a/x", b"x"), "`a/x` cannot be changed: Not a directory."),
    ],
)
def test_what_has_changed_since_it_was_looked_at_is_left_alone(
    root: Path, tree: Tree, change: Change, message: str
) -> None:
    """The changes before it are taken back; no link is followed that was put in place meanwhile."""
    (root / "a").write_bytes(b"a")
    (root / "d").mkdir()
    (root / "l").symlink_to("d")
    before = tree()
    with pytest.raises(ToolError) as caught:
        commit(root, [Change(Path("n/new"), "n/new", b"x"), change])
    assert str(caught.value) == f"{message} Nothing was changed."
    assert tree() == before


def test_a_file_with_two_names_keeps_the_other(root: Path) -> None:
    """The content is not changed under the other name, as with every tool that writes."""
    (root / "a").write_bytes(b"a")
    (root / "b").hardlink_to(root / "a")
    commit(root, [Change(Path("a"), "a", b"x")])
    assert ((root / "a").read_bytes(), (root / "b").read_bytes()) == (b"x", b"a")
    assert leftovers(root) == []
