"""Arguments are looked at before a plugin gets them."""

from typing import Any

import pytest

from permitry.dispatch.arguments import fitting_arguments
from permitry.errors import ToolError

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"}, "n": {"type": "integer"}, "x": {"type": "number"}, "on": {"type": "boolean"},
        "items": {"type": "array"}, "more": {"type": "object"}, "maybe": {"type": ["string", "null"]},
        "odd": {"type": "colour"}, "any": {},
    },
    "required": ["path"],
    "additionalProperties": False,
}  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        {"n": 1, "x": 1.5, "on": True, "items": [], "more": {}, "maybe": None, "odd": 3, "any": None},
        {"n": 1.0, "x": 1, "items": (1,)},
    ],
)
def test_what_fits_is_passed_on(arguments: dict[str, Any]) -> None:
    """As it came."""
    given = {"path": "a.txt", **arguments}
    assert fitting_arguments(given, SCHEMA) == given


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "`path` is missing"), ({"path": None}, "`path` must be string, not null"),
        ({"path": 1}, "`path` must be string, not integer"),
        ({"path": "a", "n": True}, "`n` must be integer, not boolean"),
        ({"path": "a", "n": 1.5}, "`n` must be integer, not number"), ({"path": "a", "on": 1}, "`on` must be boolean"),
        ({"path": "a", "maybe": []}, "`maybe` must be string or null, not array"),
        ({"path": "a", "items": {}}, "`items` must be array, not object"),
        ({"path": "a", "pth": 1}, r"`pth` is not an argument of this tool \(known: path, n"),
        ({"n": "1"}, "`path` is missing; `n` must be integer, not string"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_by_its_name(arguments: dict[str, Any], told: str) -> None:
    """All of it at once."""
    with pytest.raises(ToolError, match=f"^The arguments do not fit: .*{told}"):
        fitting_arguments(arguments, SCHEMA)


def test_a_null_that_means_left_out_is_left_out() -> None:
    """As models under a strict schema say it."""
    assert fitting_arguments({"path": "a", "n": None}, SCHEMA) == {"path": "a"}


@pytest.mark.parametrize("schema", [{}, {"required": 3, "properties": []}, {"additionalProperties": {}}])
def test_a_schema_that_says_nothing_refuses_nothing(schema: dict[str, Any]) -> None:
    """Nor does one that is none."""
    assert fitting_arguments({"a": None, "b": 1}, schema) == {"a": None, "b": 1}
