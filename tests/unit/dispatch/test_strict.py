"""JSON Schema in strict form: nothing but the named properties, all required, and no guess at what has no such form."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.dispatch.strict import strict_schema
from permitry.errors import RegistryError


def _object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _of(schema: object) -> Any:  # noqa: ANN401 -- a part of a schema
    return strict_schema(_object(a=schema))["properties"]["a"]


def test_an_object_is_closed_and_needs_all_its_properties() -> None:
    """One that could be left out may be null instead."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "default": "x"}}}
    assert strict_schema(schema) == {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}},
        "required": ["a"],
        "additionalProperties": False,
    }


@for_each(
    ("schema", "nullable"),
    [
        ({"type": "null"}, {"type": "null"}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer", "null"]}),
        ({"type": "string", "enum": ["x"]}, {"type": ["string", "null"], "enum": ["x", None]}),
        ({"anyOf": [{"type": "string"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"const": 1, "title": "t"}, {"anyOf": [{"const": 1}, {"type": "null"}], "title": "t"}),
    ],
)
def test_an_optional_property_may_be_null(schema: object, nullable: object) -> None:
    """In each way a schema can say what it takes."""
    assert strict_schema({"type": "object", "properties": {"a": schema}})["properties"]["a"] == nullable


def test_what_strict_mode_refuses_is_said_otherwise() -> None:
    """Choices by `anyOf`, one part of `allOf` as it is, and a reference without other keys."""
    assert _of({"oneOf": [{"type": "string"}]}) == {"anyOf": [{"type": "string"}]}
    assert _of({"allOf": [{"type": "string"}], "title": "t"}) == {"type": "string", "title": "t"}
    schema = {**_object(a={"$ref": "#/$defs/n", "title": "t"}), "$defs": {"n": {"type": "integer"}}}
    assert strict_schema(schema)["properties"]["a"] == {"type": "integer", "title": "t"}


def test_a_reference_alone_stays_one() -> None:
    """Its target is made strict where it is."""
    schema = {**_object(a={"$ref": "#/$defs/n"}), "$defs": {"n": _object()}}
    strict = strict_schema(schema)
    assert strict["properties"]["a"] == {"$ref": "#/$defs/n"}
    assert strict["$defs"]["n"]["additionalProperties"] is False


@for_each("schema")
def test_what_has_no_strict_form_is_refused(schema: object) -> None:
    """A value of any type, any properties, or a reference that leads nowhere or in a circle."""
    with pytest.raises(RegistryError):
        strict_schema(_object(a=schema))
