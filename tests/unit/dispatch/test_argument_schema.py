"""Arguments are checked against the whole schema of a tool before the tool gets them."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.dispatch.argument_schema import ArgumentSchema
from permitry.errors import RegistryError, ToolError

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"}, "n": {"type": "integer", "maximum": 5}, "on": {"type": "boolean"},
        "maybe": {"type": ["string", "null"]}, "any": {},
        "items": {
            "type": "array",
            "items": {"properties": {"e": {"enum": ["x", "y"]}}, "required": ["e"], "additionalProperties": False},
        },
        "few": {"maxItems": 2, "uniqueItems": True}, "word": {"pattern": "^[a-z]+$"},
        "either": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/small"}]}, "never": False,
    },
    "$defs": {"small": {"type": "integer", "maximum": 3}},
    "required": ["path"],
    "additionalProperties": False,
}  # fmt: skip


@for_each(
    "arguments",
    [
        {"n": 1, "on": True, "maybe": None, "any": None, "items": [{"e": "x"}], "few": [1, 2], "word": "a"},
        {"n": 1.0, "items": (), "either": 3, "few": [1, True]},
    ],
)
def test_what_fits_is_passed_on(arguments: dict[str, Any]) -> None:
    """Unchanged."""
    given = {"path": "a.txt", **arguments}
    assert ArgumentSchema(SCHEMA).fit(given) == given


@for_each(
    ("arguments", "problem"),
    [
        ({"path": None}, "`path` must be string, not null"),
        ({"n": True}, "`n` must be integer, not boolean"),
        ({"n": 9}, "`n` must be at most 5"),
        ({"n": 1.5}, "`n` must be integer, not number"),
        ({"maybe": []}, "`maybe` must be string or null, not array"),
        (
            {"pth": 1},
            "`pth` is not an argument of this tool (known: path, n, on, maybe, any, items, few, word, either,",
        ),
        ({"items": [{"e": "x"}, {}]}, "`items[1].e` is missing"),
        ({"items": [{"e": "z"}]}, '`items[0].e` must be one of "x", "y"'),
        ({"items": [{"e": "x", "f": 1}]}, "`items[0].f` is not an argument of this tool (known: e)"),
        ({"few": [1, 1.0]}, "`few` does not fit `uniqueItems`: true"),
        ({"few": [1, 2, 3]}, "`few` must have at most 2 items"),
        ({"word": "a1"}, '`word` does not fit `pattern`: "^[a-z]+$"'),
        ({"either": 4}, "`either` does not fit `anyOf`"),
        ({"never": 1}, "an argument is given that the schema never takes."),
        ({"n": "1", "on": 1}, "`n` must be integer, not string; `on` must be boolean, not integer."),
    ],
)
def test_what_does_not_fit_is_reported_with_its_path(arguments: dict[str, Any], problem: str) -> None:
    """All of it at once."""
    with pytest.raises(ToolError) as raised:
        ArgumentSchema(SCHEMA).fit({"path": "a", **arguments})
    assert str(raised.value).startswith(f"The arguments do not fit: {problem}")


def test_what_is_missing_is_reported() -> None:
    """By its name."""
    with pytest.raises(ToolError, match="`path` is missing"):
        ArgumentSchema(SCHEMA).fit({})


def test_a_null_that_means_left_out_is_left_out() -> None:
    """As models under a strict schema say it."""
    assert ArgumentSchema(SCHEMA).fit({"path": "a", "n": None}) == {"path": "a"}


@for_each("draft", ["https://json-schema.org/draft/2019-09/schema", "http://json-schema.org/draft-07/schema#"])
def test_older_drafts_are_known(draft: str) -> None:
    """The name of the draft says how the rest is read."""
    schema = ArgumentSchema({"$schema": draft, "$id": "http://a.test/b", "properties": {"n": {"$ref": "#/x"}}, "x": {
        "type": "integer"}})  # fmt: skip
    assert schema.fit({"n": 1}) == {"n": 1}
    with pytest.raises(ToolError, match="`n` must be integer"):
        schema.fit({"n": "1"})


@for_each(
    ("schema", "why"),
    [
        ({"type": "objekt"}, "type: 'objekt' is not valid"),
        ({"required": 3}, "required: 3 is not of type 'array'"),
        ({"properties": {"n": {"type": "integr"}}}, "properties.n.type"),
        ({"$schema": "http://a.test/mine"}, "leave it out, or use draft 2020-12"),
        ({"$schema": 3}, "`\\$schema` is 3"),
        (
            {"properties": {"a": {"$ref": "http://127.0.0.1:9/a"}}},
            r"nothing is fetched; put the definition in `\$defs`",
        ),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "nothing is fetched"),
        ({"default": {"$dynamicRef": "other.json#a"}}, "nothing is fetched"),
        ({"properties": {"a": {"$ref": "#/$defs/a"}}}, r"nothing is at the reference .*define it in `\$defs`"),
        ({"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}}, "at the top only"),
        ({"properties": {"a": {"$id": "http://a.test"}}}, r"`\$id` inside; leave it out"),
        ({"unevaluatedProperties": False}, "use `additionalProperties`"),
        ({"properties": {"a": {"pattern": "(?!x)a"}}}, "RE2 has no look-around"),
        ({"patternProperties": {"(a": {}}}, "RE2 does not take it"),
        ({"pattern": "a" * 1_001}, "more than 1000 characters"),
        ({"properties": {f"p{number}": {} for number in range(2_000)}}, "make it smaller"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: dict[str, Any], why: str) -> None:
    """The error says what to change."""
    with pytest.raises(RegistryError, match=f"the schema of the arguments cannot be used: .*{why}"):
        ArgumentSchema(schema)


def test_a_property_may_have_the_name_of_a_keyword() -> None:
    """It is a name there, and no keyword."""
    schema = {"properties": {name: {"type": "integer"} for name in ("$ref", "$id", "$schema", "pattern")}}
    assert ArgumentSchema(schema).fit({"$ref": 1, "pattern": 2}) == {"$ref": 1, "pattern": 2}


def test_a_schema_that_refers_to_itself_for_ever_refuses_the_call() -> None:
    """It is no error of the process."""
    with pytest.raises(ToolError, match="too long to check"):
        ArgumentSchema({"$ref": "#"}).fit({"a": 1})


@for_each(
    ("value", "name"),
    [(True, "boolean"), (1, "integer"), (1.0, "integer"), (1.5, "number"), ((), "array"), ({}, "object"),
     (None, "null"), (b"", "bytes")],
)  # fmt: skip
def test_types_have_the_names_of_json_schema(value: object, name: str) -> None:
    """The narrowest of them."""
    schema = ArgumentSchema({"properties": {"a": {"type": "string"}}, "required": ["a"]})
    with pytest.raises(ToolError, match=f"`a` must be string, not {name}"):
        schema.fit({"a": value})
