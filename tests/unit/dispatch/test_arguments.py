"""What is null because it was left out."""

from typing import Any

import pytest

from permitry.dispatch.arguments import type_of, without_nulls


@pytest.mark.parametrize("schema", [{}, {"required": 3, "properties": []}, {"additionalProperties": {}}])
def test_a_schema_that_says_nothing_leaves_nulls(schema: dict[str, Any]) -> None:
    """They may be meant."""
    assert without_nulls({"a": None, "b": 1}, schema) == {"a": None, "b": 1}


@pytest.mark.parametrize(
    ("value", "name"),
    [("", "string"), (True, "boolean"), (1, "integer"), (1.0, "integer"), (1.5, "number"), ((), "array"),
     ({}, "object"), (None, "null"), (b"", "bytes")],
)  # fmt: skip
def test_types_have_the_names_of_json_schema(value: object, name: str) -> None:
    """The narrowest of them."""
    assert type_of(value) == name
