"""The tool `edit_file`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.core.spec import ArgumentRole
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.result import ToolResult

Use = Callable[..., ToolResult]
Preview = Callable[..., str | None]


@pytest.fixture
def edited(root: Path) -> Path:
    """Return a file to edit."""
    path = root / "a.txt"
    path.write_bytes(b"one\ntwo\nthree\n")
    return path


def test_one_piece_of_text_is_replaced(edited: Path, use: Use) -> None:
    """Everything else stays byte for byte."""
    result = use("edit_file", path="./a.txt", old_text="two\n", new_text="2\n2\n")
    assert result == ToolResult(True, "Edited a.txt.")
    assert edited.read_bytes() == b"one\n2\n2\nthree\n"


def test_text_can_be_taken_out(edited: Path, use: Use) -> None:
    """The new text may be empty."""
    assert use("edit_file", path="a.txt", old_text="two\n", new_text="").ok
    assert edited.read_bytes() == b"one\nthree\n"


@pytest.mark.parametrize(
    ("old_text", "told"),
    [
        ("four", "`old_text` was not found in `a.txt`"),
        ("e", "`old_text` occurs 3 times in `a.txt`"),
        ("TWO", "was not found"),
    ],
)
def test_text_must_occur_exactly_once(edited: Path, use: Use, old_text: str, told: str) -> None:
    """A guess changes nothing, and the model learns why."""
    result = use("edit_file", path="a.txt", old_text=old_text, new_text="x")
    assert result.ok is False
    assert told in result.text
    assert edited.read_bytes() == b"one\ntwo\nthree\n"


def test_line_endings_are_kept(edited: Path, use: Use) -> None:
    """A file with CRLF has CRLF everywhere but in the new text."""
    edited.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree")
    assert use("edit_file", path="a.txt", old_text="two", new_text="2").ok
    assert edited.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\nthree"


def test_line_endings_are_part_of_the_text(edited: Path, use: Use) -> None:
    """LF does not stand for CRLF."""
    edited.write_bytes(b"one\r\ntwo\r\n")
    assert "was not found" in use("edit_file", path="a.txt", old_text="one\ntwo", new_text="x").text


def test_what_is_no_utf_8_is_not_edited(edited: Path, use: Use) -> None:
    """Bytes that cannot be read exactly would not be written back exactly."""
    edited.write_bytes(b"one \xff two")
    assert use("edit_file", path="a.txt", old_text="two", new_text="2").text == "`a.txt` is not UTF-8 text."
    assert edited.read_bytes() == b"one \xff two"


def test_a_file_larger_than_the_limit_is_not_edited(edited: Path, use: Use) -> None:
    """Four MiB are the most."""
    edited.write_bytes(b"one" + b"x" * 4 * 1024 * 1024)
    assert use("edit_file", path="a.txt", old_text="one", new_text="1").text == "`a.txt` is larger than 4194304 bytes."
    assert edited.stat().st_size == 4 * 1024 * 1024 + 3


@pytest.mark.parametrize("head", [b"", b"a"])
def test_a_large_file_of_wide_characters_is_never_cut_off(edited: Path, use: Use, head: bytes) -> None:
    """The limit is in bytes: a file that was read in part only is not written back, wherever it was cut."""
    data = head + "é".encode() * 3_000_000
    edited.write_bytes(data)
    result = use("edit_file", path="a.txt", old_text="a", new_text="b")
    assert (result.ok, result.text) == (False, "`a.txt` is larger than 4194304 bytes.")
    assert edited.read_bytes() == data


def test_a_missing_file_is_not_made(root: Path, use: Use) -> None:
    """There is nothing to edit."""
    assert use("edit_file", path="new/a.txt", old_text="one", new_text="1").text == "There is no file `new/a.txt`."
    assert list(root.iterdir()) == []


def test_nothing_outside_is_edited(root: Path, outside: Path, use: Use) -> None:
    """Neither by a path nor by a link."""
    (root / "link").symlink_to(outside / "secret.txt")
    for path in ("link", "../outside/secret.txt"):
        assert "outside the workspace" in use("edit_file", path=path, old_text="secret", new_text="x").text
    assert (outside / "secret.txt").read_bytes() == b"secret"


def test_the_old_text_is_not_empty(edited: Path, use: Use) -> None:
    """Nothing occurs everywhere."""
    result = use("edit_file", path="a.txt", old_text="", new_text="x")
    assert result.text.startswith("The arguments do not fit: `old_text`:")
    assert edited.read_bytes() == b"one\ntwo\nthree\n"


def test_the_preview_is_the_edit(edited: Path, preview: Preview) -> None:
    """The human sees the place, and the file stays as it is."""
    shown = preview("edit_file", path="a.txt", old_text="two", new_text="2")
    assert shown == "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    assert edited.read_bytes() == b"one\ntwo\nthree\n"


def test_the_preview_names_the_file_that_would_be_edited(edited: Path, root: Path, preview: Preview) -> None:
    """A link shows as what it leads to."""
    (root / "link").symlink_to(edited.name)
    shown = str(preview("edit_file", path="link", old_text="two", new_text="2"))
    assert shown.startswith("--- a/a.txt\n+++ b/a.txt\n")


@pytest.mark.usefixtures("edited")
def test_an_edit_that_would_fail_shows_why(preview: Preview) -> None:
    """The human is told before the model is."""
    shown = preview("edit_file", path="a.txt", old_text="four", new_text="4")
    assert shown == "(no preview: `old_text` was not found in `a.txt`; give text that occurs exactly once.)"


def test_the_tool_says_that_it_writes(registry: ToolRegistry) -> None:
    """Its path is one that is written."""
    spec = registry.get("edit_file")
    assert spec is not None
    assert (spec.traits.only_reads, dict(spec.roles or {})) == (False, {"path": ArgumentRole.WRITE_PATH})
