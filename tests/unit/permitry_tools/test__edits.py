"""An edit of one file: worked out from what the file holds, and made only by `make`."""

from pathlib import Path

import pytest

from permitry.errors import ToolError
from permitry_tools._edits import FileEdit
from permitry_tools._reading import ReadMemory
from permitry_tools.workspace import Workspace


def _upper(text: str, _: Path) -> str:
    return text.upper()


@pytest.fixture
def edit(root: Path, workspace: Workspace) -> FileEdit:
    """Return an edit of a file `a` that holds `x` and a newline."""
    (root / "a").write_text("x\n", encoding="utf-8")
    return FileEdit.of(workspace, "a", _upper)


def test_an_edit_is_only_worked_out(root: Path, edit: FileEdit) -> None:
    """Its diff can be shown before anything is written."""
    assert edit.changes
    assert edit.diff() == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+X\n"
    assert (root / "a").read_text(encoding="utf-8") == "x\n"


def test_an_edit_that_changes_nothing_says_so(root: Path, workspace: Workspace) -> None:
    """A file that is already as it would be, such as an empty one."""
    (root / "empty").touch()
    edit = FileEdit.of(workspace, "empty", _upper)
    assert not edit.changes
    assert edit.diff() == ""


@pytest.mark.parametrize(
    ("path", "why"),
    [("none", "not found"), ("latin", "not UTF-8"), ("../outside/secret.txt", "escapes")],
)
def test_what_is_no_text_of_the_workspace_cannot_be_edited(
    root: Path, outside: Path, workspace: Workspace, path: str, why: str
) -> None:
    """And the function that edits is not called."""
    assert outside.is_dir()
    (root / "latin").write_bytes(b"\xe9")
    with pytest.raises(ToolError, match=why):
        FileEdit.of(workspace, path, lambda _, __: pytest.fail("edited"))


def test_who_knew_the_file_knows_it_after_the_edit(root: Path, edit: FileEdit) -> None:
    """An edit of one's own is not a change by others."""
    memory = ReadMemory()
    memory.note(edit.where, b"x\n")
    edit.make(memory)
    assert (root / "a").read_bytes() == b"X\n"
    assert memory.knows(edit.where, b"X\n")


def test_who_did_not_know_the_file_does_not_know_it_after_the_edit(edit: FileEdit) -> None:
    """An edit shows only a part of a file."""
    memory = ReadMemory()
    edit.make(memory)
    assert not memory.has_met(edit.where)
