"""Text of an argument to the value its schema asks for; JSON that names a tool and its arguments."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.messages.formats.arguments import NoCallError, coerce, name_all, name_call, object_of, trim, types_of

ONE = {"name": "read", "arguments": {"path": "a"}}


@for_each(
    ("text", "kind", "value"),
    [
        ("007", "integer", 7),
        ("100.0", "integer", 100),
        ("4.5", "integer", "4.5"),
        ("1.23e5", "number", 123_000),
        (" 5\n", "number", 5),
        ("1e999", "number", "1e999"),
        ("9" * 5_000, "integer", "9" * 5_000),
        ("TRUE", "boolean", True),
        ("yes", "boolean", "yes"),
        ("null", "string", "null"),
        ("5", "string", "5"),
        ("[1, {}]", "array", [1, {}]),
        ("[1, 2", "array", "[1, 2"),
        ('{"a": 1}', "object", {"a": 1}),
        ('{"a": 1, "a": 2}', "object", '{"a": 1, "a": 2}'),
        ("{'a': True, 'b': None}", "object", {"a": True, "b": None}),
        ("{\n  'a': [1, (2, 3)],\n  'b': \"it's\",\n}", "object", {"a": [1, [2, 3]], "b": "it's"}),
        ('{"a": False}', "object", {"a": False}),
        ("['a', \"b\", 3.5,]", "array", ["a", "b", 3.5]),
        ("('a', 'b')", "array", ["a", "b"]),
        ("{'a', 'b'}", "array", ["a", "b"]),
        (" ['a']\n", "array", ["a"]),
        ("{'a': 1, 'a': 2}", "object", "{'a': 1, 'a': 2}"),
        ("{'a': f()}", "object", "{'a': f()}"),
        ("{'a': 1} # so", "object", "{'a': 1} # so"),
        ("{1: 'a'}", "object", "{1: 'a'}"),
        ("['a'] + ['b']", "array", "['a'] + ['b']"),
        ("['a']", "object", "['a']"),
        ("('a')", "array", "('a')"),
        ("{'a': 1}", "array", "{'a': 1}"),
        ("{'a': " * 500, "object", "{'a': " * 500),
        ("{'a': 1}", "string", "{'a': 1}"),
        ("None", "object", "None"),
        ("[1]", "object", "[1]"),
        ("[" * 500 + "]" * 500, "array", "[" * 500 + "]" * 500),
        ('"[[[["', "array", '"[[[["'),
    ],
)
def test_the_schema_decides(text: str, kind: str, value: object) -> None:
    """What does not fit stays text, as it was."""
    found = coerce(text, {"type": kind})
    assert found == value
    assert type(found) is type(value) or isinstance(found, int | float)


@for_each("schema", [None, {}, {"type": 7}, {"description": "x"}, "text", {"anyOf": 3}])
def test_without_types_text_stays_text(schema: object) -> None:
    """Nothing is guessed from how a text looks."""
    assert coerce("5", schema) == "5"


@for_each(
    ("schema", "types"),
    [
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"anyOf": [{"type": "array"}, {"type": "null"}]}, {"array", "null"}),
        ({"type": "dict", "nullable": True}, {"object", "null"}),
        ({"enum": ["a", 1]}, {"string", "integer"}),
        ({"items": {}}, {"array"}),
        ({"properties": {}}, {"object"}),
    ],
)
def test_types_are_found_in_all_their_places(schema: dict[str, Any], types: set[str]) -> None:
    """Alternatives, other languages' names, enumerations."""
    assert types_of(schema) == types


def test_a_schema_that_holds_itself_ends() -> None:
    """Depth is bounded."""
    schema: dict[str, Any] = {}
    schema["anyOf"] = [schema, {"type": "integer"}]
    assert coerce("5", schema) == 5


@for_each("text", ["{'a': None}", "['a']", "None"])
def test_python_is_not_read_where_text_is_allowed(text: str) -> None:
    """It may be meant as text; JSON is read there all the same."""
    schema = {"type": ["string", "object", "array", "null"]}
    assert coerce(text, schema) == text
    assert coerce('{"a": null}', schema) == {"a": None}


def test_none_is_null_where_null_is_allowed() -> None:
    """In alternatives, too, but for text."""
    assert coerce("None", {"anyOf": [{"type": "object"}, {"type": "null"}]}) is None
    assert coerce("None", {"type": ["string", "null"]}) == "None"


def test_null_needs_to_be_allowed() -> None:
    """`null` is a word elsewhere."""
    assert coerce("null", {"type": ["array", "null"]}) is None
    assert coerce("null", {"type": "array"}) == "null"


@for_each(("text", "kept"), [("\na\n", "a"), ("\r\na\r\n", "a"), ("\n", ""), (" \na\n ", " \na\n "), ("a", "a")])
def test_one_line_break_at_each_end(text: str, kept: str) -> None:
    """Not more, and no blanks."""
    assert trim(text) == kept


@for_each(
    "item",
    [
        ONE,
        {"tool": "read", "args": {"path": "a"}},
        {"function": ONE, "type": "function"},
        {"name": "read", "arguments": '{"path": "a"}'},
        {"name": "read", "tool": "read", "arguments": {"path": "a"}},
    ],
)
def test_a_call_has_a_name_and_arguments(item: object) -> None:
    """In the words of several models, and also as JSON text."""
    assert name_call(item) == ("read", {"path": "a"}, None)


@for_each(
    ("item", "why"),
    [
        (None, "not a JSON object"),
        ({}, "names no tool"),
        ({"name": ""}, "names no tool"),
        ({"name": 5, "arguments": {}}, "names no tool"),
        ({"name": "a", "tool": "b", "arguments": {}}, "two tools"),
        ({"name": "a", "function": {"name": "b", "arguments": {}}}, "two tools"),
        ({"name": "a", "arguments": {}, "args": {"x": 1}}, "two sets"),
        ({"name": "a", "arguments": {"x": 1}, "args": {"x": True}}, "two sets"),
        ({"name": "a", "arguments": {"x": [0]}, "args": {"x": [False]}}, "two sets"),
        ({"name": "a"}, "has no arguments"),
        ({"name": "a", "arguments": []}, "not a JSON object"),
        ({"name": "a", "arguments": "{"}, "not a JSON object"),
        ({"name": "a", "arguments": '{"x": 1, "x": 2}'}, "not a JSON object"),
    ],
)
def test_what_is_no_call_says_why(item: object, why: str) -> None:
    """Nothing is guessed where two readings are possible."""
    with pytest.raises(NoCallError, match=why):
        name_call(item)


@for_each(
    "item",
    [
        {**ONE, "price": 5},
        {"name": "read", "parameters": {"type": "object", "properties": {}}},
        {"function": ONE, "price": 5},
    ],
)
def test_bare_json_with_more_than_a_call_is_data(item: dict[str, Any]) -> None:
    """Or the declaration of a tool; behind the mark of a format it is a call."""
    with pytest.raises(NoCallError):
        name_call(item, is_bare=True)
    assert name_call(item)[0] == "read"


def test_what_is_no_call_in_a_list_is_named() -> None:
    """An envelope around it is good as a whole, or not at all."""
    found = ("read", {"path": "a"}, None)
    assert name_all([ONE, ONE]) == ([found] * 2, None)
    assert name_all({"tool_calls": [ONE]}) == ([found], None)
    assert name_all([ONE, {"x": 1}, 5]) == ([found], "the object names no tool")
    assert name_all({"tool_calls": [ONE, {"x": 1}]}) == ([], "the object names no tool")
    assert name_all([]) == ([], "the list is empty")


def test_arguments_may_be_left_out_where_a_format_allows_it() -> None:
    """Then there are none."""
    assert name_call({"name": "now", "id": "c1"}, needs_arguments=False) == ("now", {}, "c1")


@for_each(
    ("value", "found"),
    [
        ({"a": 1}, {"a": 1}),
        (' {"a": 1}', {"a": 1}),
        ("{" * 10_000, None),
        ("words", None),
        ([1], None),
        (None, None),
    ],
)
def test_an_object_may_be_written_as_text(value: object, found: object) -> None:
    """But no other text is one."""
    assert object_of(value) == found


def test_other_text_is_an_input_where_that_is_meant() -> None:
    """Text that begins like JSON and is none stays refused."""
    assert object_of("words", is_text=True) == {"input": "words"}
    assert object_of("{words", is_text=True) is None
