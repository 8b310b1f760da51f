"""What a patch is held against before anything is done."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.tables import for_each

from permitry.core.result import ToolResult

Apply: TypeAlias = Callable[..., ToolResult]
Tree: TypeAlias = Callable[[], dict[str, tuple[int, object]]]

PREFIX = "apply_patch verification failed: "


@pytest.fixture
def filled(root: Path, outside: Path) -> Path:
    """Return the workspace with a file, a folder, and links inside and out of it."""
    (root / "a").write_text("one\n", encoding="utf-8")
    (root / "d").mkdir()
    (root / "d" / "b").write_text("two\n", encoding="utf-8")
    (root / "in").symlink_to("d/b")
    (root / "folder").symlink_to("d")
    (root / "out").symlink_to(outside / "secret.txt")
    (root / "away").symlink_to(outside)
    (root / "loop").symlink_to("loop")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("x\n", encoding="utf-8")
    (root / "git").symlink_to(".git")
    (root / "bytes").write_bytes(b"\xff\n")
    os.mkfifo(root / "pipe")
    return root


ADD = "*** Add File: n", "+x"


@for_each(
    ("lines", "expected"),
    [
        (["*** Add File: ../n"], "The path `../n` lies outside the workspace."),
        (["*** Add File: /etc/n"], "The path `/etc/n` lies outside the workspace."),
        (["*** Add File: away/n"], "The path `away/n` lies outside the workspace."),
        (["*** Add File: out"], "The path `out` lies outside the workspace."),
        (["*** Delete File: out"], "The path `out` lies outside the workspace."),
        (["*** Delete File: away/secret.txt"], "The path `away/secret.txt` lies outside the workspace."),
        (["*** Update File: out", "-secret"], "The path `out` lies outside the workspace."),
        (["*** Update File: a", "*** Move to: ../n", "-one"], "The path `../n` lies outside the workspace."),
        (["*** Add File: .git/hooks/n"], "`.git/hooks/n` belongs to git or to permitry"),
        (["*** Add File: .permitry/n"], "`.permitry/n` belongs to git or to permitry"),
        (["*** Add File: d/.GIT/n"], "`d/.GIT/n` belongs to git or to permitry"),
        (["*** Delete File: .git/config"], "`.git/config` belongs to git or to permitry"),
        (["*** Update File: git/config", "-x"], "`git/config` belongs to git or to permitry"),
        (["*** Delete File: git"], "`git` belongs to git or to permitry"),
        (["*** Update File: a", "*** Move to: .git/n", "-one"], "`.git/n` belongs to git or to permitry"),
        (["*** Add File: d"], "Failed to write file d: it is not a regular file"),
        (["*** Add File: ."], "Failed to write file .: it is not a regular file"),
        (["*** Add File: pipe"], "Failed to write file pipe: it is not a regular file"),
        (["*** Add File: loop"], "Failed to write file loop: it is not a regular file"),
        (["*** Add File: a/n"], "Failed to write file a/n: `a` is not a folder"),
        (["*** Delete File: d"], "Failed to delete file d"),
        (["*** Delete File: ."], "Failed to delete file ."),
        (["*** Delete File: d/.."], "Failed to delete file d/.."),
        (["*** Delete File: pipe"], "Failed to delete file pipe"),
        (["*** Update File: d", "-x"], "Failed to read file to update d: `d` is a folder, not a file."),
        (["*** Update File: pipe", "-x"], "Failed to read file to update pipe: `pipe` is not a regular file."),
        (["*** Update File: bytes", "-x"], "Failed to read file to update bytes: stream did not contain valid"),
        (["*** Update File: a", "*** Move to: d", "-one"], "Failed to write file d: it is not a regular file"),
        (["*** Environment ID: e", *ADD], "There is only one environment here."),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_is_done(
    filled: Path, apply: Apply, tree: Tree, lines: list[str], expected: str
) -> None:
    """The operation before it is not done either."""
    before = tree()
    ahead = [] if lines[0].startswith("*** Env") else ["*** Add File: first", "+x"]
    result = apply(*ahead, *lines)
    assert result.ok is False
    assert result.text.startswith(PREFIX + expected.format(root=filled))
    assert tree() == before


@for_each(("lines", "expected"))
def test_a_file_is_named_once(filled: Path, apply: Apply, tree: Tree, lines: list[str], expected: str) -> None:
    """Two operations on one path would see each other's work, whatever they call it."""
    before = tree()
    result = apply(*lines)
    assert result.ok is False
    assert result.text.startswith(PREFIX + expected.format(root=filled))
    assert tree() == before


def test_a_link_is_written_through(filled: Path, apply: Apply) -> None:
    """What it leads to is changed, as far as that lies inside."""
    assert apply("*** Update File: in", "-two", "+2").ok
    assert (filled / "in").is_symlink()
    assert (filled / "d" / "b").read_text(encoding="utf-8") == "2\n"


def test_a_link_is_deleted_itself(filled: Path, apply: Apply) -> None:
    """What it leads to stays; a link to a folder is not a folder."""
    assert apply("*** Delete File: in", "*** Delete File: folder").ok
    assert not (filled / "in").is_symlink()
    assert not (filled / "folder").is_symlink()
    assert (filled / "d" / "b").read_text(encoding="utf-8") == "two\n"


def test_a_link_is_moved_as_a_file(filled: Path, apply: Apply) -> None:
    """The text it leads to gets the new path, and the link goes."""
    assert apply("*** Update File: in", "*** Move to: n", "-two", "+2").ok
    assert not (filled / "in").is_symlink()
    assert (filled / "n").read_text(encoding="utf-8") == "2\n"
    assert (filled / "d" / "b").read_text(encoding="utf-8") == "two\n"


def test_a_file_that_moves_stays_executable(filled: Path, apply: Apply) -> None:
    """Its permissions go with it; what it replaces keeps its own."""
    (filled / "a").chmod(0o755)
    assert apply("*** Update File: a", "*** Move to: n", "-one", "+1").ok
    assert (filled / "n").stat().st_mode & 0o777 == 0o755


def test_a_file_too_large_is_refused(filled: Path, apply: Apply) -> None:
    """As by every tool that edits."""
    (filled / "a").write_bytes(b"one\n" * 1_048_577)
    assert "it is larger than 4194304 bytes" in apply("*** Update File: a", "-one").text


def test_many_large_files_are_refused(filled: Path, apply: Apply) -> None:
    """A small patch can name much."""
    for number in range(17):
        (filled / f"f{number}").write_bytes(b"one\n" + b"x" * 4_000_000)
    updates = [line for number in range(17) for line in (f"*** Update File: f{number}", "-one")]
    assert "are larger than 67108864 bytes in all" in apply(*updates).text


def test_a_patch_over_very_many_files_is_refused(apply: Apply, tree: Tree) -> None:
    """Each of them takes its time."""
    assert "is about more than 2000 files" in apply(*[f"*** Add File: f{number}" for number in range(2_001)]).text
    assert tree() == {}


def test_a_path_of_very_many_parts_is_refused(apply: Apply, tree: Tree) -> None:
    """A hundred are enough."""
    assert "has more than 100 parts" in apply(f"*** Add File: {'a/' * 100}a").text
    assert tree() == {}
    assert apply(f"*** Add File: {'a/' * 99}a").ok
