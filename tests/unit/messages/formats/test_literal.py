"""Literals of Python and its kin."""

import ast

import pytest
from tests.tables import for_each

from permitry.messages.formats.cursor import BrokenError, Cursor, MoreError
from permitry.messages.formats.literal import PYTHON, read_literal


def read(text: str, *, is_open: bool = False) -> object:
    """Return the value of a literal that is the whole text."""
    cur = Cursor(text, is_open=is_open)
    value = read_literal(cur, PYTHON)
    assert cur.pos == len(text)
    return value


@for_each("text")
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
