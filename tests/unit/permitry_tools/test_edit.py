"""The tool `edit_file`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.core.result import ToolResult
from permitry.core.spec import ArgumentRole
from permitry.dispatch.registry import ToolRegistry
from permitry_tools import edit
from permitry_tools.workspace import Workspace

Use = Callable[..., ToolResult]
Preview = Callable[..., str | None]


@pytest.fixture
def registry(workspace: Workspace) -> ToolRegistry:
    """Return the tool alone."""
    registry = ToolRegistry()
    edit.register(registry, workspace)
    return registry


@pytest.fixture
def edited(root: Path) -> Path:
    """Return a file to edit."""
    path = root / "a.txt"
    path.write_bytes(b"one\ntwo\nthree\n")
    return path


def test_one_piece_of_text_is_replaced(edited: Path, use: Use) -> None:
    """Everything else stays byte for byte."""
    result = use("edit_file", path="./a.txt", old_text="two\n", new_text="2\n2\n")
    assert result == ToolResult(True, "Edited a.txt")
    assert edited.read_bytes() == b"one\n2\n2\nthree\n"


def test_text_can_be_taken_out(edited: Path, use: Use) -> None:
    """The new text may be empty."""
    assert use("edit_file", path="a.txt", old_text="two\n", new_text="").ok
    assert edited.read_bytes() == b"one\nthree\n"


_UNIQUE = "Provide more context to make it unique."


@pytest.mark.parametrize(
    ("old_text", "expected"),
    [
        ("four", "edit_file failed: old_text not found in a.txt"),
        ("TWO", "edit_file failed: old_text not found in a.txt"),
        ("\n\n", "edit_file failed: old_text not found in a.txt"),
        ("e", f"edit_file failed: old_text appears 3 times in a.txt. {_UNIQUE}"),
    ],
)
def test_text_must_occur_exactly_once(edited: Path, use: Use, old_text: str, expected: str) -> None:
    """A guess changes nothing, and the model learns why."""
    assert use("edit_file", path="./a.txt", old_text=old_text, new_text="x") == ToolResult(False, expected)
    assert edited.read_bytes() == b"one\ntwo\nthree\n"


def test_text_that_overlaps_itself_is_ambiguous(edited: Path, use: Use) -> None:
    """`aa` is twice in `aaa`."""
    edited.write_bytes(b"aaa")
    shown = f"edit_file failed: old_text appears 2 times in a.txt. {_UNIQUE}"
    assert use("edit_file", path="a.txt", old_text="aa", new_text="b") == ToolResult(False, shown)


# Blanks aside -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "texts", "after"),
    [
        ("a\n  b  c\nd\n", ("b c", "x\n"), "a\nx\nd\n"),
        ("a\n  b  c\nd\n", ("b c", "x"), "a\nx\nd\n"),
        ("a\n  b  c\nd\n", ("\tb c\n", ""), "a\nd\n"),
        ("if a:\n\tb\n\n\tc\n", ("  b\n\n  c", "    d"), "if a:\n    d\n"),
        ("a\n  b  c", ("b c", "x"), "a\nx"),
        ("a\r\n b\r\nc\r\n", ("a\nb", "x\ny"), "x\r\ny\r\nc\r\n"),
        ("a\r\n b\r\nc\r\n", ("a\nb", "x\r\ny\r\n"), "x\r\ny\r\nc\r\n"),
    ],
)
def test_whole_lines_may_differ_in_blanks(
    edited: Path, use: Use, before: str, texts: tuple[str, str], after: str
) -> None:
    """The lines are replaced as they are, and the new ones end like them."""
    old_text, new_text = texts
    edited.write_bytes(before.encode())
    assert use("edit_file", path="a.txt", old_text=old_text, new_text=new_text) == ToolResult(True, "Edited a.txt")
    assert edited.read_bytes() == after.encode()


def test_a_part_of_a_line_may_not_differ_in_blanks(edited: Path, use: Use) -> None:
    """The rest of the line would be lost."""
    edited.write_bytes(b"call(a,  b)\n")
    assert not use("edit_file", path="a.txt", old_text="a, b", new_text="c").ok


@pytest.mark.parametrize(
    ("before", "old_text", "count"),
    [("  a b\nc\n\ta b\n", "a  b", 2), (" a\n a\n a\n", "\ta", 3), (" a\n a\n a\n", "\ta\n\ta", 2)],
)
def test_the_first_of_several_is_not_taken(edited: Path, use: Use, before: str, old_text: str, count: int) -> None:
    """The model is asked for more context, and nothing changes."""
    edited.write_bytes(before.encode())
    shown = f"edit_file failed: old_text appears {count} times, blanks aside, in a.txt. {_UNIQUE}"
    assert use("edit_file", path="a.txt", old_text=old_text, new_text="x") == ToolResult(False, shown)
    assert edited.read_bytes() == before.encode()


def test_blank_lines_are_not_matched_by_other_blanks(edited: Path, use: Use) -> None:
    """There is nothing in them to know the place by."""
    edited.write_bytes(b"a\n \n\t\nb\n")
    shown = "edit_file failed: old_text not found in a.txt"
    assert use("edit_file", path="a.txt", old_text="\n\n", new_text="x") == ToolResult(False, shown)


def test_many_lines_that_look_alike_take_no_time(edited: Path, use: Use) -> None:
    """The search is linear: this one would compare 300,000 lines 30,000 times."""
    edited.write_bytes(b" a\n" * 300_000)
    result = use("edit_file", path="a.txt", old_text="a\n" * 30_000 + "b", new_text="x")
    assert result.text == "edit_file failed: old_text not found in a.txt"


# Bytes ------------------------------------------------------------------------------------------------------------


def test_line_endings_are_kept(edited: Path, use: Use) -> None:
    """A file with CRLF has CRLF everywhere but in the new text."""
    edited.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree")
    assert use("edit_file", path="a.txt", old_text="two", new_text="2").ok
    assert edited.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\nthree"


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
    assert use("edit_file", path="new/a.txt", old_text="one", new_text="1").text == "File not found: new/a.txt"
    assert list(root.iterdir()) == []


def test_nothing_outside_is_edited(root: Path, outside: Path, use: Use) -> None:
    """Neither by a path nor by a link."""
    (root / "link").symlink_to(outside / "secret.txt")
    for path in ("link", "../outside/secret.txt"):
        shown = f"Path escapes workspace: {path}"
        assert use("edit_file", path=path, old_text="secret", new_text="x") == ToolResult(False, shown)
    assert (outside / "secret.txt").read_bytes() == b"secret"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "a.txt", "old_text": "", "new_text": "x"}, "edit_file requires old_text"),
        ({"path": "a.txt", "new_text": "x"}, "edit_file requires old_text"),
        ({"path": "", "old_text": "", "new_text": "x"}, "edit_file requires path"),
        ({"path": "a.txt", "old_text": "one"}, "The arguments do not fit: `new_text` is missing."),
    ],
)
def test_what_is_missing_is_asked_for(edited: Path, use: Use, arguments: dict[str, str], expected: str) -> None:
    """Nothing occurs everywhere, and nothing is replaced by nothing unless that is said."""
    assert use("edit_file", **arguments) == ToolResult(False, expected)
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
    """The human sees it before the model does."""
    shown = preview("edit_file", path="a.txt", old_text="four", new_text="4")
    assert shown == "(no preview: edit_file failed: old_text not found in a.txt)"


def test_the_tool_says_that_it_writes(registry: ToolRegistry) -> None:
    """Its path is one that is written."""
    spec = registry.get("edit_file")
    assert spec is not None
    assert (spec.traits.only_reads, dict(spec.roles or {})) == (False, {"path": ArgumentRole.WRITE_PATH})
