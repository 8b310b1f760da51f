"""What the file tools share about one file."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.errors import ToolError
from permitry_tools._reading import ReadMemory, body_of, exact_text, line_hash, lines_of, locate, read_bytes
from permitry_tools.workspace import Workspace

_PLACE = Path("a.txt")


def test_nothing_is_known_at_first() -> None:
    """Not even that a file is empty."""
    assert not ReadMemory().knows(_PLACE, b"")
    assert not ReadMemory().has_met(_PLACE)


def test_a_file_is_known_while_it_holds_the_same() -> None:
    """Another content is another file to the one who has read it."""
    memory = ReadMemory()
    memory.note(_PLACE, b"one")
    assert memory.knows(_PLACE, b"one")
    assert not memory.knows(_PLACE, b"two")
    assert not memory.knows(Path("b.txt"), b"one")
    assert memory.has_met(_PLACE)


def test_an_edit_is_followed_from_what_was_known() -> None:
    """An edit of something else makes nothing known."""
    memory = ReadMemory()
    memory.follow(_PLACE, b"one", b"two")
    assert not memory.knows(_PLACE, b"two")
    memory.note(_PLACE, b"one")
    memory.follow(_PLACE, b"other", b"two")
    assert not memory.knows(_PLACE, b"two")
    memory.follow(_PLACE, b"one", b"two")
    assert memory.knows(_PLACE, b"two")


def test_memories_are_apart() -> None:
    """Nothing is shared between two of them."""
    ReadMemory().note(_PLACE, b"one")
    assert not ReadMemory().knows(_PLACE, b"one")


@for_each(
    ("one", "other"), [("a b", "ab"), ("a", " a"), ("a", "a "), ("a", "a\t"), ("a\tb", "a b"), ("a", "A"), ("", " ")]
)
def test_a_hash_sees_every_character(one: str, other: str) -> None:
    """Blanks as well: in Python they are code."""
    assert line_hash(one) != line_hash(other)


def test_a_hash_has_four_digits_of_the_checksum() -> None:
    """The value is a promise: a model may hold an anchor for a long time."""
    assert (line_hash("alpha"), line_hash("beta"), line_hash("")) == ("396a", "0463", "0000")
    assert len({line_hash(str(number)) for number in range(10_000)}) > 9_000


def test_lines_and_their_bodies() -> None:
    """Only a newline ends a line, and a carriage return before it belongs to the end."""
    assert lines_of("a\r\nb\rc\u2028\n\nd") == ["a\r\n", "b\rc\u2028\n", "\n", "d"]
    assert [body_of(line) for line in lines_of("a\r\nb\n\r\nc")] == ["a", "b", "", "c"]


def test_what_is_no_utf_8_is_no_exact_text() -> None:
    """A replacement character would be written back."""
    with pytest.raises(ToolError, match=r"^`a` is not UTF-8 text\.$"):
        exact_text("a", b"\xff")
    assert exact_text("a", "\ufeffä\r\n".encode()) == "\ufeffä\r\n"


def test_a_file_is_found_where_it_really_is(root: Path, workspace: Workspace) -> None:
    """A link is followed as far as it stays inside."""
    (root / "a.txt").write_bytes(b"x")
    (root / "link").symlink_to("a.txt")
    assert read_bytes(workspace, "link") == (_PLACE, b"x")
    assert locate(workspace, "sub/../link") == _PLACE
    assert locate(workspace, str(root.resolve() / "new")) == Path("new")


@pytest.mark.parametrize("path", ["..", "../work2", "/etc", "link", "link/below", "sub/../../x"])
def test_what_leads_outside_is_refused(root: Path, workspace: Workspace, outside: Path, path: str) -> None:
    """By whatever way."""
    (root / "link").symlink_to(outside)
    with pytest.raises(ToolError, match=f"^Path escapes workspace: {path}$"):
        locate(workspace, path)
