"""No schema, and no argument, makes a check take long."""

import time
from typing import Any

import pytest
from tests.tables import for_each

from permitry.dispatch.argument_schema import ArgumentSchema
from permitry.dispatch.schema_keywords import brief
from permitry.errors import ToolError

LARGE = list(range(100_000))


def _doubling(leaf: dict[str, Any]) -> dict[str, Any]:
    """Return a small schema that is checked two to the thirty times."""
    parts: dict[str, Any] = {f"a{at}": {"allOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(30)}
    return {"$defs": {**parts, "a30": leaf}, "properties": {"a": {"$ref": "#/$defs/a0"}}}


def _deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@for_each(
    ("schema", "arguments"),
    [
        (_doubling({}), {"a": 1}),
        (_doubling({"uniqueItems": True}), {"a": LARGE}),
        (_doubling({"const": LARGE}), {"a": LARGE}),
        (_doubling({"not": {"minItems": 10**9}}), {"a": LARGE}),
        (_doubling({"items": {}}), {"a": LARGE}),
        (_doubling({"pattern": "(a+)+$"}), {"a": "a" * 100_000}),
        (_doubling({"patternProperties": {f"{at}x": {} for at in range(100)}}), {"a": dict.fromkeys(map(str, LARGE))}),
        (
            {"$defs": {"n": {"properties": {"a": {"allOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}}}},
             "$ref": "#/$defs/n"},
            _deep(60),
        ),
    ],
)  # fmt: skip
def test_work_is_counted(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Refused after seconds and not hours; the next call is counted anew."""
    checked = ArgumentSchema(schema)
    before = time.process_time()
    with pytest.raises(ToolError, match="it takes too long to check them; pass less"):
        checked.fit(arguments)
    assert time.process_time() - before < 20
    assert checked.fit({"b": 1}) == {"b": 1}


def test_a_pattern_that_backtracks_elsewhere_takes_linear_time() -> None:
    """It searches, as JSON Schema says, and does not have to match the whole text."""
    schema = ArgumentSchema({"properties": {"a": {"pattern": "(a+)+$"}}})
    assert schema.fit({"a": "xaa"}) == {"a": "xaa"}
    with pytest.raises(ToolError, match="does not fit `pattern`"):
        schema.fit({"a": "a" * 500_000 + "!"})


@for_each(
    ("schema", "fits", "fails"),
    [
        ({"patternProperties": {"^n": {"type": "integer"}}, "additionalProperties": False}, {"n1": 1}, {"x": 1}),
        ({"patternProperties": {"^n": {"type": "integer"}}}, {"x": "a"}, {"n1": "a"}),
        ({"additionalProperties": {"type": "integer"}}, {"a": 1}, {"a": "x"}),
        ({"properties": {"a": {"const": {"b": [1]}}}}, {"a": {"b": [1.0]}}, {"a": {"b": [True]}}),
        ({"properties": {"a": {"enum": [1, "1", None]}}}, {"a": 1.0}, {"a": True}),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": [1, True, "1", [1]]}, {"a": [{"b": 1, "c": 2}] * 2}),
        ({"properties": {"a": {"uniqueItems": False}}}, {"a": [1, 1]}, None),
        ({"properties": {"a": {"pattern": "^b"}}}, {"a": 3}, {"a": "ab"}),
    ],
)
def test_keywords_mean_what_they_mean(
    schema: dict[str, Any], fits: dict[str, Any], fails: dict[str, Any] | None
) -> None:
    """Those that are written here; 1.0 is 1, and true is not."""
    checked = ArgumentSchema(schema)
    assert checked.fit(fits) == fits
    if fails is not None:
        with pytest.raises(ToolError):
            checked.fit(fails)


def test_values_print_briefly() -> None:
    """Messages are made for each failure, of which there may be many; the values stay equal."""
    value = {"a": ["x" * 1_000, 1.0, None]}
    assert brief(value) == value
    assert repr(brief(value)) == "an object"
    assert repr(brief(value)["a"]) == "a list"
    assert repr(brief(value)["a"][0]) == "a text"
