"""The diff from what is there now to what was there before."""

import shutil
from pathlib import Path

import attrs
import pytest
from tests.unit.undo.conftest import CALL, Keep

from permitry.actions.changes import Change
from permitry.undo import diff as module
from permitry.undo.diff import diff_of
from permitry.undo.restoration import plan
from permitry.undo.vault import Vault


def _diff(vault: Vault, name: str, base: Path | None) -> str:
    entry = attrs.evolve(vault.find(name), workspace=None if base is None else str(base))
    return diff_of(plan(vault, entry), vault.path(name))


def test_what_comes_back_and_what_goes(vault: Vault, keep: Keep, work: Path) -> None:
    """Files, links, folders and modes; what is the same in both is left out."""
    name = keep("a", "d", "n")
    (work / "a").write_text("b")
    (work / "a").chmod(0o600)
    (work / "d" / "link").unlink()
    (work / "d").chmod(0o700)
    (work / "n").mkdir()
    (work / "n" / "file").write_text("new\n")
    assert _diff(vault, name, work) == (
        "diff --git a/a b/a\nold mode 600\nnew mode 644\n"
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+a\n"
        "folder d: mode 700 becomes 755\n"
        "diff --git a/d/link b/d/link\n--- /dev/null\n+++ b/d/link\n@@ -0,0 +1 @@\n+link to ../a\n"
        "folder n is removed\n"
        "diff --git a/n/file b/n/file\n--- a/n/file\n+++ /dev/null\n@@ -1 +0,0 @@\n-new\n"
    )


def test_a_folder_in_place_of_a_file(vault: Vault, keep: Keep, work: Path) -> None:
    """Both are said; without a workspace by whole names."""
    name = keep("d")
    shutil.rmtree(work / "d")
    (work / "d").write_text("file\n")
    text = _diff(vault, name, None)
    path = str(work / "d")[1:]
    assert text.startswith(f"folder {path} comes back\ndiff --git a/{path} b/{path}\n--- a/{path}\n+++ /dev/null\n")


@pytest.mark.parametrize("data", [b"\0", b"\xff", b"x" * (256 * 1024 + 1)], ids=["nul", "not text", "large"])
def test_what_is_not_text_is_named(vault: Vault, work: Path, data: bytes) -> None:
    """Also where only one side is."""
    (work / "a").write_bytes(data)
    name = vault.keep(CALL, [Change(str(work / "a"))])
    (work / "a").write_text("text\n")
    assert _diff(vault, name, work) == "diff --git a/a b/a\nBinary files a/a and b/a differ\n"


def test_a_long_diff_says_how_much_is_left_out(
    vault: Vault, keep: Keep, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By files."""
    name = keep("d")
    shutil.rmtree(work / "d")
    monkeypatch.setattr(module, "_MOST_FILES", 1)
    assert _diff(vault, name, work) == "folder d comes back\n...[3 more files]...\n"
