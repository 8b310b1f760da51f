"""The published cases of two other tools that apply patches: what they read, find, write and refuse, so do we.

Where we differ on purpose, the case is in a table with the reason.
"""

import json
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ToolError
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools.patch import LineEndings, patch_in_shell, register
from permitry_tools.patch.parse import AddFile, Chunk, DeleteFile, Hunk, parse_patch
from permitry_tools.patch.preview import hunks_of
from permitry_tools.patch.seek import Haystack
from permitry_tools.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / ".." / "shared" / "cases" / "apply_patch_cases.jsonl"
PREFIX = "apply_patch verification failed: "

Case: TypeAlias = dict[str, Any]

ATOMIC = {
    "scenario-015_failure_after_partial_success_leaves_changes",
    "codex-test_apply_patch_cli_failure_after_partial_success_leaves_changes",
}
"""Codex leaves the file it has made before the operation that fails. We make nothing."""

OTHER_WORDS = {
    "openplanter-test_apply_patch_bad_input-parse": "The first line of the patch must be",
    "openplanter-test_parse_empty_patch_raises-parse": "The first line of the patch must be",
    "openplanter-test_parse_no_operations_raises-parse": "No files were modified.",
    "openplanter-test_add_file_non_plus_line_raises-parse": "is not a valid hunk header",
    "openplanter-test_chunk_not_found_raises": "Failed to find expected lines in",
    "openplanter-test_delete_directory_raises": "Failed to delete file",
    "openplanter-test_delete_missing_file_raises": "Failed to delete file",
    "openplanter-test_update_missing_file_raises": "Failed to read file to update",
}
"""OpenPlanter refuses these as well, in other words: ours, which are those of Codex."""

OTHER_ENDS = {
    "openplanter-test_add_existing_file_raises": {"exists.txt": "new content\n"},
    "openplanter-test_trailing_newline_absent_preserved": {"notrailing.txt": "aaa\nBBB\nccc\n"},
    "openplanter-test_fuzzy_whitespace_match": None,
    "openplanter-test_chunk_retry_from_zero": None,
}
"""The files as we leave them where OpenPlanter leaves others; None where we refuse and change nothing."""


def _rows() -> list[Case]:
    if not CASES.exists():
        return []
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


ROWS = _rows()


def of_kind(*kinds: str, dialect: str = "codex") -> list[Any]:
    """Return the cases of these kinds as parameters."""
    rows = [row for row in ROWS if row["kind"] in kinds and row["dialect"] == dialect]
    return [pytest.param(row, id=row["id"]) for row in rows]


def made(case: Case, root: Path) -> None:
    """Make the files a case begins with."""
    for name in case.get("input_dirs", ()):
        (root / name).mkdir(parents=True)
    for name, content in case["input_files"].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content.encode())


def files(root: Path) -> dict[str, str]:
    """Return all files below the root; a temporary file that was left behind shows."""
    found = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes().decode() for path in found}


def applied(case: Case, root: Path) -> ToolResult:
    """Apply the patch of a case through the door."""
    registry = ToolRegistry()
    endings = LineEndings(case.get("mode", LineEndings.KEEP.value))
    register(registry, Workspace(root), endings=endings)
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)
    return handler.handle(ToolCall("apply_patch", {"input": case["patch"].replace("{cwd}", str(root))}))


def called_as_in_the_patch(error: str, patch: str) -> str:
    """Return an error of Codex, which names files in full, as we tell it: a file is called what the patch calls it."""
    assert "{cwd}" not in patch
    return error.replace("{cwd}/", "")


def as_published(hunk: Hunk) -> Case:
    """Return a hunk in the words of the cases."""
    if isinstance(hunk, AddFile):
        return {"op": "add", "path": hunk.path, "contents": hunk.content}
    if isinstance(hunk, DeleteFile):
        return {"op": "delete", "path": hunk.path}
    chunks = list(map(chunk_as_published, hunk.chunks))
    return {"op": "update", "path": hunk.path, "move_to": hunk.move_to, "chunks": chunks}


def chunk_as_published(chunk: Chunk) -> Case:
    """Return a chunk in the words of the cases."""
    return {
        "change_context": chunk.context,
        "old_lines": chunk.old_lines,
        "new_lines": chunk.new_lines,
        "is_end_of_file": chunk.is_end_of_file,
    }


def test_all_cases_are_here() -> None:
    """All 125 cases of one tool and all 17 of the other are run by the tests below."""
    if not ROWS:
        pytest.skip("the folder `shared` is not beside this checkout")
    kinds = ("apply", "unified_diff", "parse", "seek", "invocation")
    assert len(of_kind(*kinds)) == 125
    assert len(of_kind("apply", "parse", dialect="openplanter")) == 17
    assert {row["id"] for row in ROWS} >= {*ATOMIC, *OTHER_WORDS, *OTHER_ENDS}


@for_each("case", of_kind("parse"))
def test_a_patch_is_read_alike(case: Case) -> None:
    """The same operations come out, or the same error for the same line."""
    if case["expected_parse_error"] is None:
        patch = parse_patch(case["patch"], is_lenient=case["lenient"])
        assert list(map(as_published, patch.hunks)) == case["expected_hunks"]
        assert patch.environment == case.get("expected_environment_id")
        return
    with pytest.raises(ToolError) as caught:
        parse_patch(case["patch"], is_lenient=case["lenient"])
    line = case["expected_error_line"]
    place = "Invalid patch: " if line is None else f"Invalid patch hunk on line {line}: "
    assert str(caught.value) == place + case["expected_parse_error"]


@for_each("case", of_kind("seek"))
def test_lines_are_found_alike(case: Case) -> None:
    """The same place is found, or none."""
    last = max(0, len(case["lines"]) - len(case["pattern"]))
    found = Haystack(case["lines"]).find(case["pattern"], last if case["eof"] else case["start"])
    assert found == case["expected_index"]


@for_each("case", of_kind("apply"))
def test_a_patch_is_applied_alike(case: Case, tmp_path: Path) -> None:
    """The same files are left, and the model is shown the same; but a patch that fails leaves all files alone."""
    made(case, tmp_path)
    result = applied(case, tmp_path)
    assert files(tmp_path) == (case["input_files"] if case["id"] in ATOMIC else case["expected_files"])
    if case["expected_error"] is not None:
        assert (result.ok, result.text) == (
            False,
            PREFIX + called_as_in_the_patch(case["expected_error"], case["patch"]),
        )
    else:
        assert result.ok
        shown = case.get("expected_stdout", result.text).replace("{cwd}", str(tmp_path))
        assert result.text == shown


@for_each("case", of_kind("unified_diff"))
def test_a_change_is_shown_alike(case: Case, tmp_path: Path) -> None:
    """The unified diff of an update is the same."""
    made(case, tmp_path)
    assert applied(case, tmp_path).ok
    assert files(tmp_path) == case["expected_files"]
    ((name, before),) = case["input_files"].items()
    assert hunks_of(before, files(tmp_path)[name], case["context_lines"]) == case["expected_unified_diff"]


@for_each("case", of_kind("invocation"))
def test_a_patch_in_a_command_is_recognized_alike(case: Case) -> None:
    """The same commands are calls of `apply_patch`, and the same patches are refused for want of one."""
    if case["expected"] == "implicit_invocation_error":
        with pytest.raises(ToolError, match="without a call of `apply_patch`"):
            patch_in_shell(case["argv"])
        return
    found = patch_in_shell(case["argv"])
    if case["expected"] == "not_apply_patch":
        assert found is None
        return
    assert found is not None
    assert found.folder == case["expected_workdir"]
    assert list(map(as_published, parse_patch(found.patch).hunks)) == case["expected_hunks"]


@for_each("case", of_kind("apply", "parse", dialect="openplanter"))
def test_the_other_dialect_is_met_as_far_as_told(case: Case, tmp_path: Path) -> None:
    """The second tool's cases leave the same files, but for those that the tables above give a reason for."""
    before = case.get("input_files", {})
    made({"input_files": before, "input_dirs": case.get("input_dirs", ())}, tmp_path)
    result = applied(case, tmp_path)
    name = case["id"]
    if name in OTHER_ENDS:
        ours = OTHER_ENDS[name]
        assert (result.ok, files(tmp_path)) == (ours is not None, before if ours is None else ours)
        assert files(tmp_path) != case["expected_files"]
        return
    refuses = case.get("expected_error", case.get("expected_parse_error")) is not None
    assert (result.ok, files(tmp_path)) == (not refuses, case.get("expected_files", {}))
    assert refuses == (name in OTHER_WORDS)
    assert OTHER_WORDS.get(name, "Success.") in result.text
