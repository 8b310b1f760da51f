"""JSON with comments and lines."""

import json

import pytest
from tests.tables import for_each

from permitry.errors import ConfigError
from permitry_hosts.importers.json_text import read_json


def test_every_value_has_its_line() -> None:
    """That of a key for the value behind it."""
    found = read_json('{ // a comment\n "a": [1,\n  "x\\u00e9"],\n /* and\n one */ "b": {"c": true,}\n}', "f")
    assert found.value == {"a": [1, "xé"], "b": {"c": True}}
    assert found.lines["a",] == 2
    assert found.lines["a", 1] == 3
    assert found.lines["b", "c"] == 5


@for_each("text", ["{}", "[]", "null", '"// no comment"', "-1.5e3", '{"a": {}, "b": []}'])
def test_what_is_json_is_read_as_json(text: str) -> None:
    """With empty parts, and text that looks like a comment."""
    assert read_json(text, "f").value == json.loads(text)


@for_each(
    ("text", "line", "message"),
    [
        ("{\n'a': 1}", 2, "`'` is not JSON"),
        ("{} x", 1, "there is more after the value"),
        ('{"a" 1}', 1, "a colon is missing here"),
        ("{1: 2}", 1, "the name of a key is missing here"),
        ("[1 2]", 1, "a comma or `]` is missing here"),
        ("[tru]", 1, "a value is missing here"),
        ("", 1, "a value is missing here"),
        ('{"a": 1,\n"a": 2}', 2, "the key `a` is there twice, and it is not certain which one counts"),
        ("[" * 80, 1, "it is nested more than 64 deep"),
    ],
)
def test_a_mistake_has_its_place(text: str, line: int, message: str) -> None:
    """As in rule files."""
    with pytest.raises(ConfigError) as caught:
        read_json(text, "f.json")
    (problem,) = caught.value.problems
    assert (problem.path, problem.line, problem.message) == ("f.json", line, message)
