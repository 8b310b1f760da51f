"""From functions to declarations, from declarations to the shapes of providers, and the strict form."""

import datetime as dt
import enum
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from tests.tables import for_each

from permitry.core.call import PayloadKind
from permitry.core.names import wire_name
from permitry.core.result import ToolResult
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.dispatch.arguments import without_nulls
from permitry.dispatch.schema import (
    SCHEMA_SHAPES,
    exported,
    handler_of,
    is_exportable,
    spec_of,
)
from permitry.dispatch.strict import strict_schema
from permitry.errors import RegistryError, ToolError


class Color(enum.Enum):
    """A choice."""

    RED = "red"


class Point(BaseModel):
    """A nested object."""

    x: int
    y: int = 0


def _search(query: str, limit: int = 5, *, kind: Literal["a", "b"] | None = None) -> str:
    """Search the documents
    for words.

    More text.

    Args:
        query: What to look for,
            in words.

        limit (int): How many.
    Returns:
        kind: this is no argument.
    """  # noqa: D205 -- a first paragraph of two lines is what is read
    return f"{query} {limit} {kind}"


def _rest(path: str, mode: str) -> str:
    """Read a file.
    :param path: Where it is.
    :param str mode: How.
    """  # noqa: D205 -- as people write it
    return path + mode


def test_a_function_says_what_it_is() -> None:
    """Name, first paragraph, and the arguments with what the docstring says of them."""
    spec = spec_of(_search)
    properties: Any = spec.parameters["properties"]
    assert (spec.name, spec.description) == ("_search", "Search the documents for words.")
    assert [properties[name].get("description") for name in ("query", "limit", "kind")] == [
        "What to look for, in words.", "How many.", None,
    ]  # fmt: skip
    assert (spec.parameters["required"], spec.parameters["additionalProperties"]) == (("query",), False)


@for_each(
    ("key", "hint"),
    [("pth", "did you mean `path`?"), ("x[].y?|z", "its parameters: path, count"), ("", "its parameters: path, count")],
)
def test_a_role_of_no_parameter_is_refused(key: str, hint: str) -> None:
    """The argument would have no role, and what it touches would not be known."""

    def look(path: str, count: int = 1) -> str:
        return path * count

    with pytest.raises(RegistryError, match=re.escape(f"`{key}`, which is not a parameter of `look`; {hint}")):
        spec_of(look, roles={key: ArgumentRole.READ_PATH})
    assert spec_of(look, roles={"path|file": ArgumentRole.READ_PATH, "count?": ArgumentRole.TEXT}).roles is not None


def test_a_docstring_may_use_param() -> None:
    """With or without a type; the head ends before."""
    spec = spec_of(_rest, name="read", description=None, traits=ToolTraits(read_only=True))
    properties: Any = spec.parameters["properties"]
    assert (spec.name, spec.description) == ("read", "Read a file.")
    assert [properties[name]["description"] for name in ("path", "mode")] == ["Where it is.", "How."]


def _numpy(path: str) -> str:
    """Read a file.

    Parameters
    ----------
    path : str
        Where it is.
    """
    return path


def _malformed(path: str) -> str:
    """Read
    a file.

    : :param path:raises
        *args
    """  # noqa: D205 -- the text is the test
    return path


@for_each(("function", "told"), [(_numpy, "Where it is."), (_malformed, None)])
def test_a_docstring_may_be_of_any_style_or_none(function: Callable[..., object], told: str | None) -> None:
    """What cannot be read says nothing of the arguments."""
    spec = spec_of(function)
    properties: Any = spec.parameters["properties"]
    assert (spec.description, properties["path"].get("description")) == ("Read a file.", told)


def test_an_annotation_says_more_than_a_docstring_that_is_silent() -> None:
    """What `Annotated` says stays."""

    def tool(a: Annotated[int, Field(description="A number.", ge=1)]) -> str:
        return str(a)

    properties: Any = spec_of(tool).parameters["properties"]
    assert (properties["a"]["description"], properties["a"]["minimum"]) == ("A number.", 1)
    with pytest.raises(ToolError, match="`a` must be greater than or equal to 1"):
        handler_of(tool)({"a": 0})


def test_arguments_are_json_and_become_what_the_function_takes() -> None:
    """Enums, dates, paths, tuples and models; names that models have themselves."""

    def tool(color: Color, day: dt.date, where: Path, *, pair: tuple[int, int], point: Point, schema: str = "s") -> str:
        return f"{color.name} {day.year} {where.name} {pair} {point.x} {schema}"

    given = {"color": "red", "day": "2026-11-22", "where": "/a/b", "pair": [1, 2], "point": {"x": 3}, "schema": "t"}
    assert handler_of(tool)(given) == "RED 2026 b (1, 2) 3 t"
    properties: Any = spec_of(tool).parameters["properties"]
    assert list(properties) == list(given)


@for_each(
    ("arguments", "told"),
    [
        ({}, "`query` is missing"),
        ({"query": 1}, "`query` must be a text"),
        ({"query": "x", "limit": "5"}, "`limit` must be a whole number"),
        ({"query": "x", "more": 1}, "`more` is not an argument of this tool"),
        ({"query": None}, "`query` must be a text"),
    ],
)
def test_wrong_arguments_are_told_to_the_model(arguments: dict[str, Any], told: str) -> None:
    """Each by its name; nothing is turned into what it is not."""
    with pytest.raises(ToolError, match=f"^The arguments do not fit: {told}"):
        handler_of(_search)(arguments)


def test_null_is_how_a_strict_schema_leaves_out() -> None:
    """The default counts then; an argument that may be null gets it."""
    assert handler_of(_search)({"query": "x", "limit": None, "kind": None}) == "x 5 None"
    schema = {"properties": {
        "any": {}, "either": {"anyOf": [{"type": "null"}, {"type": "string"}]}, "list": {"type": ["string", "null"]},
        "enum": {"enum": ["a", None]}, "one": {"enum": ["a"]}, "ref": {"$ref": "#/$defs/X"}, "odd": True,
    }}  # fmt: skip
    kept = without_nulls(dict.fromkeys([*schema["properties"], "unknown"]), schema)
    assert sorted(kept) == ["any", "either", "enum", "list", "odd", "unknown"]


@for_each(
    ("outcome", "shown"),
    [
        (None, "Done."), (3, "3"), (True, "True"), ("text", "text"), ((False, "no"), (False, "no")),
        (["a", 1, {"b": [1]}], 'a\n1\n{"b": [1]}'),
        ({"n": 1}, ToolResult(True, '{"n": 1}', structured={"n": 1})),
        (Point(x=1), ToolResult(True, '{"x": 1, "y": 0}', structured={"x": 1, "y": 0})),
    ],
)  # fmt: skip
def test_a_function_may_return_anything_plain(outcome: object, shown: object) -> None:
    """It is shown as text, or as a JSON object."""
    assert handler_of(lambda: outcome)({}) == shown


def test_what_no_model_could_call_is_refused() -> None:
    """With the name of the function, and of the argument."""

    def stars(*args: int) -> None: ...
    def bare(a) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001 -- the missing annotation is the point
    def odd(a: object()) -> None: ...  # type: ignore[valid-type]  # no type at all
    def later(a: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821 -- no such name
    def field(a: int = Field(1)) -> None: ...

    told = {
        stars: "`stars`: `\\*args: int` is nothing", bare: "`bare`: `a` has no annotation", odd: "`odd` has no",
        later: "`later` has no usable signature", field: "write `a: Annotated",
    }  # fmt: skip
    for function, message in told.items():
        with pytest.raises(RegistryError, match=message):
            spec_of(function)  # type: ignore[arg-type]  # what they have in common is not much
    with pytest.raises(RegistryError, match="has no name of its own"):
        spec_of(lambda: None)


# To providers -----------------------------------------------------------------------------------------------------

SPEC = ToolSpec("mcp:docs/search", "Search.", parameters={"type": "object", "properties": {"q": {"type": "string"}}})


@for_each("shape", SCHEMA_SHAPES)
def test_every_shape_has_name_description_and_schema(shape: str) -> None:
    """Under a name providers take."""
    outer = exported(SPEC, shape)
    inner = outer.get("function", outer)
    assert (inner["name"], inner["description"]) == ("mcp__docs__search", "Search.")
    (key,) = {"parameters", "input_schema", "inputSchema", "parametersJsonSchema"} & set(inner)
    assert inner[key]["properties"] == {"q": {"type": "string"}}


def test_strict_is_said_where_it_holds() -> None:
    """A schema without a strict form is exported as it is."""
    assert exported(SPEC, "openai-chat", strict=True)["function"]["strict"] is True
    assert exported(SPEC, "openai-responses", strict=True)["strict"] is True
    free = ToolSpec("free", parameters={"type": "object", "properties": {"any": {}}})
    assert exported(free, "openai-responses", strict=True)["strict"] is False
    assert "strict" not in exported(free, "openai-chat", strict=True)["function"]


def test_mcp_gets_the_known_traits_as_hints() -> None:
    """What is unknown is not said."""
    traits = ToolTraits(read_only=True, open_world=False)
    assert exported(ToolSpec("t", traits=traits), "mcp")["annotations"] == {
        "readOnlyHint": True, "openWorldHint": False,
    }  # fmt: skip


@for_each(
    ("kind", "shape", "form"),
    [
        (PayloadKind.CUSTOM, "openai-responses", {"type": "custom", "name": "t", "description": ""}),
        (PayloadKind.CUSTOM, "openai-chat", {"type": "custom"}),
        (PayloadKind.LOCAL_SHELL, "openai-responses", {"type": "local_shell"}),
    ],
)
def test_other_kinds_have_forms_of_their_own(kind: PayloadKind, shape: str, form: dict[str, str]) -> None:
    """And only where the provider has them."""
    spec = ToolSpec("t", kinds={kind})
    assert form.items() <= exported(spec, shape).items()
    assert not is_exportable(spec, "anthropic")
    with pytest.raises(RegistryError, match="takes no calls of a kind that anthropic has"):
        exported(spec, "anthropic")
    with pytest.raises(RegistryError, match="unknown shape `x`; known: anthropic, gemini"):
        exported(spec, "x")


def test_long_names_stay_different() -> None:
    """Sixty-four characters are all that providers take."""
    names = {wire_name(f"mcp:server/{'x' * 80}{number}") for number in range(9)}
    assert (len(names), {len(name) for name in names}) == (9, {64})


# Strict -----------------------------------------------------------------------------------------------------------


def test_all_is_required_and_nothing_else_is_there() -> None:
    """At every depth; what could be left out may be null."""
    inner = {"type": "object", "properties": {"b": {"type": "integer", "default": 1}}}
    strict = strict_schema(
        {"type": "object", "properties": {"z": inner, "a": {"type": "array", "items": inner}}, "required": ["a"]}
    )
    closed = {
        "type": "object", "properties": {"b": {"type": ["integer", "null"]}}, "required": ["b"],
        "additionalProperties": False,
    }  # fmt: skip
    assert strict == {
        "type": "object",
        "properties": {"z": {"anyOf": [closed, {"type": "null"}]}, "a": {"type": "array", "items": closed}},
        "required": ["z", "a"],
        "additionalProperties": False,
    }


@for_each(
    ("optional", "strict"),
    [
        ({"type": "null"}, {"type": "null"}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer", "null"]}),
        ({"type": "string", "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"const": "a"}, {"anyOf": [{"const": "a"}, {"type": "null"}]}),
        ({"const": {"default": 1}, "title": "T"}, {"anyOf": [{"const": {"default": 1}}, {"type": "null"}], "title": "T"}),  # noqa: E501 -- one row
        ({"anyOf": [{"type": "string"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"allOf": [{"type": "string"}], "default": "x"}, {"type": ["string", "null"]}),
        ({"$ref": "#/$defs/D"}, {"anyOf": [{"$ref": "#/$defs/D"}, {"type": "null"}]}),
        ({"$ref": "#/$defs/D", "description": "d"}, {"type": ["string", "null"], "description": "d"}),
    ],
)  # fmt: skip
def test_what_may_be_left_out_may_be_null(optional: dict[str, Any], strict: dict[str, Any]) -> None:
    """Whatever form it has."""
    made = strict_schema({"type": "object", "properties": {"p": optional}, "$defs": {"D": {"type": "string"}}})
    assert made["properties"]["p"] == strict


def test_one_of_becomes_any_of_and_properties_may_have_any_name() -> None:
    """Also that of a keyword; values are left as they are."""
    either = {"oneOf": [{"type": "string"}, {"type": "integer"}], "discriminator": {"propertyName": "x"}}
    names = {"default": either, "properties": {"type": "string", "enum": ["a"]}}
    made = strict_schema({"type": "object", "properties": names, "required": ["default", "properties"]})
    assert made["properties"] == {
        "default": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "properties": {"type": "string", "enum": ["a"]},
    }


@for_each("part")
def test_what_has_no_strict_form_is_refused(part: object) -> None:
    """Rather than sent and refused there."""
    loop = {"$ref": "#/$defs/Loop", "title": "y"}
    with pytest.raises(RegistryError, match="schema"):
        strict_schema({"type": "object", "properties": {"p": part}, "required": ["p"], "$defs": {"Loop": loop}})
