"""Looking through the workspace."""

from pathlib import Path

import pytest

from permitry_tools import _looking
from permitry_tools._looking import Look
from permitry_tools.workspace import Workspace


@pytest.fixture
def tree(root: Path) -> Path:
    """Return a workspace with some files."""
    for name in ("a.py", "b.ts", "src/c.py", "src/deep/d.js", "src/deep/deeper/e.py", ".hidden/f.py", ".git/g.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("glob", "names"),
    [
        ("**/*.py", ".hidden/f.py a.py src/c.py src/deep/deeper/e.py"),
        ("src/**/*.py", "src/c.py src/deep/deeper/e.py"),
        ("src/**/deeper/**/e.py", "src/deep/deeper/e.py"),
        ("src/**", "src/c.py src/deep/d.js src/deep/deeper/e.py"),
        ("*.{ts,js}", "b.ts src/deep/d.js"),
        ("{src/**/,}{a,c,x}.py", "a.py src/c.py"),
        ("{a,{b,c}}.*", "a.py b.ts src/c.py"),
        ("{a", ""),
        ("a}.py", ""),
        ("", ".hidden/f.py a.py b.ts src/c.py src/deep/d.js src/deep/deeper/e.py"),
    ],
)
@pytest.mark.usefixtures("tree")
def test_a_pattern_means_what_it_means_elsewhere(workspace: Workspace, glob: str, names: str) -> None:
    """Any folders or none, either of several; hidden files are there, those of git are not."""
    assert sorted(Look(workspace, glob).names()) == names.split()


def test_a_pattern_for_too_many_things_is_cut_short(workspace: Workspace, tree: Path) -> None:
    """It ends, and finds what its first alternatives say."""
    (tree / "aaaaaaaaaa").touch()
    look = Look(workspace, "{a,b}" * 10)
    assert list(look.names()) == ["aaaaaaaaaa"]
    assert list(Look(workspace, "{a.py," + "x," * 100 + "y}").names()) == ["a.py"]


def test_what_is_no_text_is_skipped_and_counted(workspace: Workspace, root: Path, outside: Path) -> None:
    """Binary, too large, or outside."""
    (root / "binary").write_bytes(b"a\0b")
    (root / "large").write_bytes(b"x" * (4 * 1024 * 1024 + 1))
    (root / "link").symlink_to(outside / "secret.txt")
    (root / "text").write_bytes(b"\xffok")
    look = Look(workspace)
    assert [look.text(name) for name in look.names()] == [None, None, None, "\ufffdok"]
    assert look.notes() == ["...[skipped 3 files: binary, over 4 MiB, or not readable]..."]


@pytest.mark.parametrize(("bound", "value"), [("_MOST_SEEN", 2), ("_MOST_READ", 10)])
@pytest.mark.usefixtures("tree")
def test_a_look_that_gives_up_says_so(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, bound: str, value: int
) -> None:
    """Files and bytes are counted; six files of nearly ten bytes are more."""
    monkeypatch.setattr(_looking, bound, value)
    look = Look(workspace)
    texts = [look.text(name) for name in look.names()]
    assert len(texts) == 2 if bound == "_MOST_SEEN" else len(texts) < 6
    assert look.notes() == [f"...[only the first {len(texts)} files were looked at]..."]


@pytest.mark.usefixtures("tree")
def test_a_look_at_everything_has_no_notes(workspace: Workspace) -> None:
    """Nothing was left out."""
    look = Look(workspace)
    assert len([look.text(name) for name in look.names()]) == 6
    assert look.notes() == []
