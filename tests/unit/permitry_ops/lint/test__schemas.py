"""Whether a JSON Schema has an argument."""

from typing import Any

from tests.tables import for_each

from permitry_ops.lint._schemas import has_argument, says_arguments, top_names

ONE = {"properties": {"a": {"type": "string"}}}
TWO = {"properties": {"b": {"type": ["object", "null"], "properties": {"c": {}}}}}


@for_each(
    ("schema", "path", "has"),
    [
        (ONE, "a", True), (ONE, "b", False), (ONE, "a.b", False), (TWO, "b.c", True), (TWO, "b.d", False),
        (TWO, "b.c.d.e", True), ({"anyOf": [ONE, TWO]}, "b.c", True), ({"anyOf": [ONE, TWO]}, "c", False),
        ({"allOf": [ONE], **TWO}, "a", True), ({"oneOf": [ONE, True]}, "b", True), ({**ONE, "not": {}}, "b", True),
        ({**ONE, "patternProperties": {}}, "b", True), ({**ONE, "additionalProperties": {}}, "b", True),
        ({**ONE, "additionalProperties": False}, "b", False), ({"$ref": "#/$defs/x", "$defs": {"x": ONE}}, "a", True),
        ({"$ref": "#/$defs/x", "$defs": {"x": ONE}}, "b", False), ({"$ref": "#/$defs/y"}, "b", True),
        ({"$ref": "https://example.com/x"}, "b", True), ({"$ref": "#"}, "b", True),
        ({"properties": {"n": {"$ref": "#"}}}, "n.n.n", True), ({"properties": {"n": {"$ref": "#"}}}, "n.n.m", False),
        ({"properties": {"n": True}}, "n.m", True), ({"properties": {"n": {"type": "array"}}}, "n.m", False),
        ({"properties": {"n": {"anyOf": [{"type": "null"}, ONE]}}}, "n.a", True),
        ({"properties": {"n": {"anyOf": [{"type": "null"}, ONE]}}}, "n.b", False),
        ({"properties": 5}, "a", True), ({"anyOf": [5]}, "a", True),
    ],
)  # fmt: skip
def test_a_schema_has_an_argument(schema: dict[str, Any], path: str, *, has: bool) -> None:
    """What it leaves open, or cannot be followed, may be there."""
    assert has_argument(schema, path.split(".")) is has


def test_a_schema_that_says_nothing() -> None:
    """Then nothing is known of the arguments."""
    assert not says_arguments({})
    assert not says_arguments({"type": "object"})
    assert says_arguments({"properties": {}})
    assert says_arguments({"$ref": "#"})


def test_the_names_at_the_top() -> None:
    """Those of all that the schema is made of."""
    assert top_names({"$ref": "#/$defs/x", "$defs": {"x": {"allOf": [ONE, TWO]}}}) == {"a", "b"}
