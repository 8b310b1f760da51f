"""Text of an argument to the value its schema asks for."""

from typing import Any

from tests.tables import for_each

from permitry.messages.formats._coerce import coerce, trimmed, types_of


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
    assert trimmed(text) == kept
