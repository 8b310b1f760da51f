"""Reading patches; what two other tools read is compared in `tests/peers/test_apply_patch.py`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.actions.patches import paths_of
from permitry.core.action import Access
from permitry.errors import ToolError
from permitry_tools.patch.parse import AddFile, Chunk, DeleteFile, Hunk, UpdateFile, parse_patch


def begun(*lines: str) -> str:
    """Return a patch with these lines between its markers."""
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


def test_every_operation_is_read() -> None:
    """An update holds its chunks, each with its context, its lines, and whether the file ends there."""
    patch = parse_patch(
        begun(
            *("*** Add File: a b", "+1", "+", "*** Delete File: c", "*** Update File: d", "*** Move to: e"),
            *("@@ def f():", " x", "-y", "+z", "", "@@", "+end", "*** End of File"),
        )
    )
    first = Chunk("def f():", ((" ", "x"), ("-", "y"), ("+", "z"), (" ", "")))
    second = Chunk(None, (("+", "end"),), is_end_of_file=True)
    assert patch.hunks == (AddFile("a b", "1\n\n"), DeleteFile("c"), UpdateFile("d", "e", (first, second)))
    assert (first.old_lines, first.new_lines) == (["x", "y", ""], ["x", "z", ""])


def test_a_file_may_be_added_empty() -> None:
    """No line of it is needed."""
    assert parse_patch(begun("*** Add File: a", "*** Add File: b")).hunks == (AddFile("a", ""), AddFile("b", ""))


def test_empty_lines_before_a_chunk_are_no_context() -> None:
    """Between the header and the first chunk, and behind the end of the file, they say nothing."""
    patch = parse_patch(begun("*** Update File: a", "", "@@", "+x", "*** End of File", "", "@@", "-y"))
    chunks = (Chunk(None, (("+", "x"),), is_end_of_file=True), Chunk(None, (("-", "y"),)))
    assert patch.hunks == (UpdateFile("a", None, chunks),)


def test_one_carriage_return_of_a_line_goes() -> None:
    """A patch that was written with CRLF is the same patch."""
    text = begun("*** Update File: a", "@@ ctx", "-x", "+y", "")
    assert parse_patch(text.replace("\n", "\r\n")) == parse_patch(text)
    assert parse_patch(begun("*** Add File: a", "+x\r\r")).hunks == (AddFile("a", "x\r\n"),)


@for_each(("lines", "expected"))
def test_what_is_wrong_is_reported_with_its_line(lines: list[str], expected: str) -> None:
    """Lines count from the first marker, which is 1."""
    with pytest.raises(ToolError) as caught:
        parse_patch(begun(*lines))
    assert str(caught.value).startswith(f"Invalid patch hunk on {expected}")


def test_a_patch_too_long_to_be_judged_is_refused() -> None:
    """The policy reads up to a MiB; nothing may be done that it has not read."""
    patch = begun("*** Add File: a", "+" + "x" * 1_048_576)
    assert paths_of(patch).touched == ()
    with pytest.raises(ToolError, match="longer than 1048576 characters"):
        parse_patch(patch)


def test_what_is_no_text_is_no_patch() -> None:
    """It could not be written to a file."""
    with pytest.raises(ToolError, match="half of a surrogate pair"):
        parse_patch(begun("*** Add File: a", "+\udfff"))


# What the policy is shown ------------------------------------------------------------------------------------------

_BLANKS = st.sampled_from(
    [*[""] * 90, " ", "\t", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u200b", "\xa0", "+", "*"]
)
_NAMES = st.one_of(
    st.sampled_from(["a", "b", "a/b", "./a", "../a", "/b", "a:b", "a b", "*** Add File: c"]),
    st.text(st.sampled_from("ab/.: *\r\x0b\x1c\x85\u2028\u200b"), min_size=1, max_size=6),
)


def _headers(kind: str) -> st.SearchStrategy[str]:
    return st.builds(lambda *parts: "".join(parts), _BLANKS, st.just(f"*** {kind}: "), _BLANKS, _NAMES, _BLANKS)


_CONTENT = st.sampled_from(
    ["@@", "@@ a", "+x", "-x", " x", "", "*** End of File", "*** End Patch", "*** Begin Patch", "--- a/b", "+++ b/c"]
)
_ADDS = st.tuples(_headers("Add File"), st.sampled_from(["+x", "+*** Delete File: d", "+--- a/d\r+++ b/d"]))
_DELETES = st.tuples(_headers("Delete File"))
_MOVES = st.tuples(_headers("Update File"), _headers("Move to"), st.just("+x"))
_UPDATES = st.tuples(
    _headers("Update File"), st.just("@@"), st.sampled_from(["-x", " *** Add File: d", " *** Move to: d"])
)
_NOISE = st.tuples(st.one_of(_CONTENT, *map(_headers, ("add file", "Move File", "Environment ID", "Move to"))))
_GROUPS = st.one_of(_ADDS, _DELETES, _MOVES, _UPDATES, _ADDS, _DELETES, _MOVES, _UPDATES, _NOISE)
_BODIES = st.lists(_GROUPS, min_size=1, max_size=4).map(lambda groups: [line for group in groups for line in group])
_PATCHES = st.builds(
    lambda body, around, newline, wrapper: newline.join(
        [*wrapper, f"{around}*** Begin Patch", *body, f"*** End Patch{around}", *(["EOF"] if wrapper else [])]
    ),
    _BODIES, _BLANKS, st.sampled_from(["\n", "\n", "\r\n"]), st.sampled_from([[], [], [], ["<<EOF"], ["<<'EOF'"]]),
)  # fmt: skip


def touched(hunk: Hunk) -> set[tuple[Access, str]]:
    """Return what doing a hunk touches."""
    match hunk:
        case AddFile():
            return {(Access.WRITE, hunk.path)}
        case DeleteFile():
            return {(Access.DELETE, hunk.path)}
        case UpdateFile(move_to=None):
            return {(Access.WRITE, hunk.path)}
        case UpdateFile():
            return {(Access.DELETE, hunk.path), (Access.WRITE, hunk.move_to or "")}


@given(_PATCHES)
@settings(max_examples=1_000, deadline=None, database=None, derandomize=True)
def test_nothing_is_touched_that_the_policy_is_not_told(text: str) -> None:
    """Every path of every operation is among those the patch is judged by; where no doubt is left, its access too."""
    try:
        patch = parse_patch(text)
    except ToolError:
        return
    reading = paths_of(text)
    done = {touch for hunk in patch.hunks for touch in touched(hunk)}
    assert {path for _, path in done} <= {path for _, path in reading.touched}
    assert reading.doubt is not None or done <= set(reading.touched)


def test_the_property_above_meets_patches() -> None:
    """What it draws is not all rubbish."""
    met: list[int] = []

    @given(_PATCHES)
    @settings(max_examples=300, deadline=None, database=None, derandomize=True)
    def drawn(text: str) -> None:
        try:
            met.append(len(parse_patch(text).hunks))
        except ToolError:
            return

    drawn()
    assert sum(met) > 100
