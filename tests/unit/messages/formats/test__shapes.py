"""JSON that names a tool and its arguments: what is a call, and why anything else is none."""

from typing import Any

from tests.tables import for_each

from permitry.messages.formats._shapes import named, named_all, object_of

ONE = {"name": "read", "arguments": {"path": "a"}}


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
    assert named(item) == ("read", {"path": "a"}, None)


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
        ({"name": "a"}, "has no arguments"),
        ({"name": "a", "arguments": []}, "not a JSON object"),
        ({"name": "a", "arguments": "{"}, "not a JSON object"),
        ({"name": "a", "arguments": '{"x": 1, "x": 2}'}, "not a JSON object"),
    ],
)
def test_what_is_no_call_says_why(item: object, why: str) -> None:
    """Nothing is guessed where two readings are possible."""
    found = named(item)
    assert isinstance(found, str)
    assert why in found


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
    assert isinstance(named(item, is_bare=True), str)
    assert isinstance(named(item), tuple)


def test_a_list_must_be_of_calls_throughout() -> None:
    """Half of a list that is not understood is not run."""
    assert named_all([ONE, ONE]) == [("read", {"path": "a"}, None)] * 2
    assert named_all({"tool_calls": [ONE]}) == [("read", {"path": "a"}, None)]
    assert named_all([ONE, {"x": 1}]) == "the object names no tool"
    assert named_all([]) == "the list is empty"


def test_arguments_may_be_left_out_where_a_format_allows_it() -> None:
    """Then there are none."""
    assert named({"name": "now", "id": "c1"}, needs_arguments=False) == ("now", {}, "c1")


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
