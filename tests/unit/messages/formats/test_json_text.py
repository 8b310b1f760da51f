"""JSON that is read where it begins, strictly, and mended only where that is asked for."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.json_values import MAX_DEPTH
from permitry.messages.formats.cursor import BrokenError, Cursor
from permitry.messages.formats.json_text import depth_end, read_arguments, read_json, try_json


def _read(text: str) -> tuple[Any, int]:
    cur = Cursor(text)
    return try_json(cur), cur.pos


def test_json_is_read_where_it_begins() -> None:
    """To its end, also when it is longer than one window."""
    long = '{"a": "' + "x" * 5_000 + '"}'
    assert _read(f"{long} more") == ({"a": "x" * 5_000}, len(long))


@for_each(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 1_201 + "}",
        "{",
        "{'a': 1}",
        '{"a" 1}',
    ],
)
def test_json_that_could_be_read_in_two_ways_is_refused(text: str) -> None:
    """Or that is cut, or is not JSON."""
    with pytest.raises(BrokenError):
        _read(text)


def test_json_is_read_to_a_depth() -> None:
    """Deeper is refused at the bracket that goes too far, without recursion."""
    deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert _read(deep)[1] == len(deep)
    for more in (1, 100_000):
        with pytest.raises(BrokenError, match="deeper") as raised:
            _read("[" * (MAX_DEPTH + more) + "]" * (MAX_DEPTH + more))
        assert raised.value.end == MAX_DEPTH + 1


def test_json_that_breaks_inside_a_string_ends_behind_its_closer() -> None:
    """What follows may be a part of the string; without a closer all of it may."""
    text = '{"a": "b"c</end>"}</end> rest'
    with pytest.raises(BrokenError) as closed:
        read_json(Cursor(text), "</end>")
    with pytest.raises(BrokenError) as unclosed:
        read_json(Cursor(text))
    assert closed.value.is_in_string
    assert (closed.value.end, unclosed.value.end) == (text.index(" rest"), len(text))


@for_each(("text", "end"))
def test_depth_is_counted_outside_of_strings(text: str, end: int) -> None:
    """One that is not closed goes on to the end."""
    assert depth_end(text, len(text), most=2) == end


def test_arguments_are_an_object_and_what_closes_it() -> None:
    """Blanks may be between them; what is missing is named."""
    cur = Cursor(' {"a": 1} - .')
    assert (read_arguments(cur, "-", "."), cur.pos) == ({"a": 1}, 13)
    for text, message in (("[]", "the arguments are not a JSON object"), ("{}", "`-` is missing")):
        with pytest.raises(BrokenError, match=message):
            read_arguments(Cursor(text), "-")


def test_a_repaired_object_makes_a_repaired_call() -> None:
    """However much that needs none is read after it."""
    cur = Cursor("{'a': 1,} {}")
    cur.is_repairing = True
    assert (read_arguments(cur), read_arguments(cur)) == ({"a": 1}, {})
    assert cur.call("f", {}).repaired
