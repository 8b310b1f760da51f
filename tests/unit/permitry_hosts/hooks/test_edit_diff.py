"""What an edit of a host's tool would change."""

import os
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry_hosts.hooks.edit_diff import diff_of

TEXT = "one\ntwo\ntwo\n"
EDITS = [{"old_string": "one", "new_string": "1"}, {"old_string": "1", "new_string": "I"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a file."""
    (tmp_path / "a.txt").write_text(TEXT)
    return tmp_path


def changed(folder: Path, **arguments: Any) -> list[str]:  # noqa: ANN401 -- arguments of a call
    """Return the lines of a diff that say what changes."""
    found = diff_of(ToolCall("Edit", arguments), str(folder)) or ""
    return [line for line in found.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]


@for_each(
    "arguments, expected",
    [
        ({"file_path": "a.txt", "content": "one\nnew\n"}, ["-two", "-two", "+new"]),
        ({"path": "b.txt", "file_text": "new"}, ["+new"]),
        ({"file_path": "a.txt", "old_string": "one", "new_string": "1"}, ["-one", "+1"]),
        ({"filePath": "a.txt", "oldString": "two", "newString": "2", "replaceAll": True}, ["-two", "-two", "+2", "+2"]),
        (
            {"file_path": "a.txt", "edits": EDITS},
            ["-one", "+I"],
        ),
        ({"path": "a.txt", "old_str": "not there", "new_str": "x"}, ["-not there", "+x"]),
        ({"file_path": "none", "old_string": "gone", "new_string": "x"}, ["-gone", "+x"]),
    ],
)  # fmt: skip
def test_an_edit_is_shown_as_a_diff(folder: Path, arguments: dict[str, Any], expected: list[str]) -> None:
    """Of the file as it is; one whose text is not in it by itself."""
    assert changed(folder, **arguments) == expected


def test_a_patch_is_shown_as_it_is(folder: Path) -> None:
    """It says itself what it changes."""
    patch = "*** Begin Patch\n*** Add File: x\n+y\n*** End Patch"
    assert diff_of(ToolCall("apply_patch", {"input": patch}), str(folder)) == patch


@for_each("arguments", [
    {"command": "ls"}, {"file_path": "a.txt"}, {"content": "x"}, {"file_path": 3, "content": "x"}, {"input": "hello"},
    {"file_path": "a.txt", "edits": "x"}, {"file_path": "a.txt", "edits": [3, {"old_string": 1, "new_string": "x"}]},
])  # fmt: skip
def test_other_calls_have_none(folder: Path, arguments: dict[str, Any]) -> None:
    """Nothing is guessed of what is not an edit."""
    assert diff_of(ToolCall("Edit", arguments), str(folder)) is None


def test_what_is_not_a_small_file_of_text_is_not_read(folder: Path) -> None:
    """A link, a pipe that no one writes to, a large file, and one that is not text."""
    (folder / "link").symlink_to("a.txt")
    os.mkfifo(folder / "pipe")
    (folder / "large").write_text("two\n" * 300_000)
    (folder / "bytes").write_bytes(b"\xff two")
    for name in ("link", "pipe", "large", "bytes", "nul\0"):
        assert changed(folder, file_path=name, old_string="two", new_string="2") == ["-two", "+2"], name


def test_what_would_take_long_to_compare_is_not(folder: Path) -> None:
    """The page says how long it is."""
    found = diff_of(ToolCall("Write", {"file_path": "a.txt", "content": "x\n" * 5_000}), str(folder))
    assert found == "(3 lines become 5000; too many to compare)"
