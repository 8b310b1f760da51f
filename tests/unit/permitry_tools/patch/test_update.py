"""The new text of a file; ends of lines are compared with another tool in `tests/peers/test_apply_patch.py`."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.errors import ToolError
from permitry_tools.patch.parse import Chunk
from permitry_tools.patch.update import LineEndings, apply_chunks

KEEP, LF = LineEndings.KEEP, LineEndings.LF


def chunk(lines: str, context: str | None = None, *, at_end: bool = False) -> Chunk:
    """Return a chunk; its lines are separated by bars."""
    return Chunk(context, tuple((line[0], line[1:]) for line in lines.split("|")), at_end)


def test_chunks_are_looked_for_behind_each_other() -> None:
    """The second of two equal places is the next chunk's."""
    text = "x\na\nx\na\n"
    assert apply_chunks(text, [chunk("-a|+1"), chunk("-a|+2")], path="f") == "x\n1\nx\n2\n"
    with pytest.raises(ToolError, match="Failed to find expected lines in f:\nx"):
        apply_chunks(text, [chunk("-a|+1", "x"), chunk("-a|+2"), chunk("-x")], path="f")


def test_context_says_where_to_begin() -> None:
    """The line of the `@@` is before the change, wherever."""
    assert apply_chunks("a\nf\na\n", [chunk("-a|+b", "f")], path="f") == "a\nf\nb\n"
    with pytest.raises(ToolError, match="Failed to find context 'g' in f"):
        apply_chunks("a\nf\na\n", [chunk("-a|+b", "g")], path="f")


def test_lines_without_old_ones_stand_at_the_end() -> None:
    """So do those of a second chunk, behind the first; and a file that is empty gets them."""
    assert apply_chunks("a\nb\n", [chunk("+1"), chunk("-a"), chunk("+2")], path="f") == "b\n1\n2\n"
    assert apply_chunks("", [chunk("+1")], path="f") == "1\n"


@for_each(("endings", "new"), [(KEEP, "a\n\nx\n"), (LF, "a\nx\n")])
def test_what_is_added_is_behind_a_blank_last_line_or_before(endings: LineEndings, new: str) -> None:
    """Before it only as the other tool did it of old."""
    assert apply_chunks("a\n\n", [chunk("+x")], path="f", endings=endings) == new


def test_the_last_empty_line_of_a_patch_may_be_none_of_the_file() -> None:
    """An empty line before the next header is taken for context; the file ends before it."""
    assert apply_chunks("a\nb\n", [chunk(" a|-b|+c| ")], path="f") == "a\nc\n"
    assert apply_chunks("a\nb\n", [chunk("-b|-|+c|+")], path="f") == "a\nc\n"


def test_an_empty_line_alone_does_not_fit_everywhere() -> None:
    """Without it nothing would be left to look for."""
    for endings in (KEEP, LF):
        with pytest.raises(ToolError, match="Failed to find expected lines"):
            apply_chunks("a\nb\n", [chunk("+x| ")], path="f", endings=endings)


def test_context_stays_as_the_file_has_it() -> None:
    """A generous reading finds the place; it does not rewrite what was not to change."""
    text = "\u201ca\u201d  \nb\n"
    assert apply_chunks(text, [chunk(' "a"|-b|+c')], path="f") == "\u201ca\u201d  \nc\n"
    assert apply_chunks(text, [chunk(' "a"|-b|+c')], path="f", endings=LF) == '"a"\nc\n'


def test_the_end_of_the_file_is_the_place() -> None:
    """The same lines before it are not meant."""
    assert apply_chunks("a\nb\na\n", [chunk("-a|+z", at_end=True)], path="f") == "a\nb\nz\n"


_LINE = st.sampled_from(["a", "b", "c", ""])
_TEXT = st.lists(st.tuples(_LINE, st.sampled_from(["\n", "\r\n", "\r"])), max_size=8)


@given(_TEXT, st.data())
@settings(max_examples=300, deadline=None, database=None, derandomize=True)
def test_what_is_not_replaced_stays_byte_for_byte(lines: list[tuple[str, str]], data: st.DataObject) -> None:
    """Whatever line is changed, the ones before and behind it are as they were, with their ends."""
    lines = [(f"{number}{line}", end) for number, (line, end) in enumerate(lines)]
    if not lines:
        return
    at = data.draw(st.integers(0, len(lines) - 1))
    new = apply_chunks("".join(map("".join, lines)), [chunk(f"-{lines[at][0]}|+new")], path="f")
    around = itertools.chain(lines[:at], [("new", lines[0][1])], lines[at + 1 :])
    assert new == "".join(map("".join, around))


def test_a_large_file_takes_many_chunks() -> None:
    """Ten thousand of them are a moment's work."""
    text = "".join(f"line {number}\r\n" for number in range(200_000))
    chunks = [chunk(f"-line {number}|+new") for number in range(0, 200_000, 20)]
    assert apply_chunks(text, chunks, path="f").count("new\r\n") == 10_000


def test_overlapping_changes_of_a_large_file_are_not_made_for_ever() -> None:
    """As the other tool did it of old they take the file's length each."""
    text = "a\n" * 100_000
    chunks = [chunk("-a|+b", at_end=True)] * 1_000
    with pytest.raises(ToolError, match="too repetitive"):
        apply_chunks(text, chunks, path="f", endings=LF)
