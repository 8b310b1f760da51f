"""Literals of Python and its kin."""

import ast
from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.json_values import MAX_DEPTH
from permitry.messages.formats.cursor import BrokenError, Cursor, MoreError
from permitry.messages.formats.values import PYTHON, depth_end, read_arguments, read_json, read_literal, try_json


def read(text: str, *, is_open: bool = False) -> object:
    """Return the value of a literal that is the whole text."""
    cur = Cursor(text, is_open=is_open)
    value = read_literal(cur, PYTHON)
    assert cur.pos == len(text)
    return value


@for_each(
    "text",
    [
        "'a'", '"a\'b"', r"'\'\n\t\\'", '"""a"b\n"""', "'''x'''", r"'\x41\u00e9\U0001f600'",
        "-1.5", "1e3", ".5", "0", "+7", "00", "007.5", "1_000", "0x1F", "-0b11", "0o17",
        "(1)", "((1))", "('a')", "True", "None", "[1, [2, {}], 'x',]",
        "{'a': {'b': [False]}, \"c\": -1}", "[]", "{}",
    ],
)  # fmt: skip
def test_values_are_those_of_python(text: str) -> None:
    """The same text means the same."""
    assert read(text) == ast.literal_eval(text)


@for_each(
    ("text", "value"),
    [
        (r"'\d+'", r"\d+"),
        (r"'\\N{x}'", r"\N{x}"),
        ("true", True),
        ("'a\\\nb'", "ab"),
        ("null", None),
        (r'"\/"', "/"),
        ("(1,)", [1]),
        ("()", []),
        ("(1, 2)", [1, 2]),
        ("007", 7),
        ("-00", 0),
        ("08", 8),
        ("0199", 199),
        ("[01, 02]", [1, 2]),
        ("{1, 2}", [1, 2]),
        ("{'a'}", ["a"]),
        ("{'a', 'b',}", ["a", "b"]),
        ("[{1}, {'k': {None}}]", [[1], {"k": [None]}]),
        (r'"\ud83d\ude00"', "😀"),
    ],
)
def test_json_and_other_ways_are_read_too(text: str, value: object) -> None:
    """JSON's words and escapes; tuples and sets are lists, and zeros in front count for nothing."""
    assert read(text) == value


@for_each(
    "text",
    [
        "x",
        "f()",
        "'a",
        "[1 2]",
        "[1",
        "{'a' 1}",
        "{1: 2}",
        "{'a': 1, 'a': 2}",
        "1+1",
        "(1)x",
        "[" * 70 + "]" * 70,
        "{,}",
        "010",
        "-0777",
        "0x",
        "0o8",
        "1__0",
        "0" * 5_000,
        "0x" + "f" * 500,
        "1-1",
        "{1, 1}",
        "{1, True}",
        "{1, 'a': 2}",
        "{'a': 1, 'b'}",
        "{'a' 'b'}",
        "{[1]}",
        "{{1}}",
        "{*a}",
        "(,)",
        "",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    """Names, calls, sums, what comes twice, what may count in eights, more than 64 levels."""
    with pytest.raises((BrokenError, AssertionError)):
        read(text)


@for_each(
    "text", ["'a", "tru", "12", "0x1", "1.5e", "{", "{1", "{'a', ", "[1,", "{'a'", "", "[1 /* no", "[1 /", "'''a''"]
)
def test_an_open_text_is_waited_for(text: str) -> None:
    """What more text could change is not decided."""
    with pytest.raises(MoreError):
        read(text, is_open=True)


# JSON that is read where it begins, strictly, and mended only where that is asked for.


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


@for_each(
    ("text", "end"),
    [
        ("[[[]]]", 3),
        ("[[]]", -1),
        ('["[[[", {"a": [1]}]', 15),
        (r'["\"[[[", []]', -1),
        ('["[[[', -1),
        ('["[[[\\', -1),
    ],
)
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
