"""From pydantic's errors to problems a human can act on."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from permitry.config.diagnostics import SourceText, nearest
from permitry.config.locate import KeyPath
from permitry.config.schema import ExampleTable, Header, RuleFile, WhenTable
from permitry.errors import Problem

__all__ = ["problems_of", "type_problem"]

_WANTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
_HAVE = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a table"}
_MISSING = {
    "schema": "begin the file with `schema = 1`",
    "id": 'give the rule a stable name, such as `id = "no-secrets"`',
    "effect": "choose `allow`, `confirm` or `block`",
    "tool": "an example is a tool name, or a table with `tool` and conditions",
}
_NOT_YET = frozenset(
    {"args", "budget", "command", "digest", "host", "label", "path", "repeat", "server", "taint", "tool", "unless"}
)
_NESTED: Mapping[str, type[BaseModel]] = {"when": WhenTable, "match": ExampleTable, "no_match": ExampleTable}


def problems_of(source: SourceText, path: KeyPath, error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Return one problem per mistake in the table at `path`, which was checked against `model`."""
    return [_problem(source, path, details, model) for details in error.errors(include_url=False)]


def type_problem(source: SourceText, path: KeyPath, wanted: str, value: object, hint: str = "") -> Problem:
    """Return the problem of a value that is not what it must be."""
    name = next(part for part in reversed(path) if isinstance(part, str))
    return source.problem(path, f"`{name}` must be {wanted}, not {_have(value)}", hint)


def _problem(source: SourceText, path: KeyPath, details: ErrorDetails, model: type[BaseModel]) -> Problem:
    where: KeyPath = (*path, *details["loc"])
    kind, value, context = details["type"], details["input"], details.get("ctx", {})
    if kind == "permitry":
        return source.problem(where, context["message"], context["hint"])
    if kind == "missing":
        name = str(where[-1])
        return source.problem(where[:-1], f"missing key `{name}`", _MISSING.get(name, ""), key=True)
    if kind == "extra_forbidden":
        return _unknown_key(source, where, details["loc"], model)
    if kind in _WANTED:
        return type_problem(source, where, _WANTED[kind], value, _type_hint(str(where[-1]), kind, value))
    return _out_of_range(source, where, value, context)


def _unknown_key(source: SourceText, where: KeyPath, loc: tuple[int | str, ...], model: type[BaseModel]) -> Problem:
    table = next((_NESTED[part] for part in reversed(loc[:-1]) if part in _NESTED), model)  # type: ignore[index]  # a str by then
    known = [field.alias or name for name, field in (RuleFile if table is Header else table).model_fields.items()]
    name = str(where[-1])
    if name in _NOT_YET and f"{name}s" not in known:
        hint = f"this version judges by tool name; {', '.join(sorted(_known_conditions()))} are the conditions it knows"
    else:
        hint = nearest(name, known)
    return source.problem(where, f"unknown key `{name}`", hint, key=True)


def _known_conditions() -> list[str]:
    return [f"`when.{name}`" for name in WhenTable.model_fields]


def _out_of_range(source: SourceText, where: KeyPath, value: object, context: Mapping[str, Any]) -> Problem:
    name = str(where[-1])
    if name == "schema":
        return source.problem(where, f"`schema` is {value!r}; this version reads 1", "write `schema = 1`")
    if {"ge", "le"} & set(context):
        return source.problem(
            where, f"`{name}` is {value}, outside 0 to 399", "leave it out to get the effect's default"
        )
    return source.problem(where, f"`{name}` cannot be {value!r}")


def _type_hint(name: str, kind: str, value: object) -> str:
    if kind == "list_type" and isinstance(value, str):
        return f'write `{name} = ["{value}"]`'
    if kind == "int_type" and isinstance(value, str):
        return "write the number without quotes"
    return ""


def _have(value: object) -> str:
    return _HAVE.get(type(value), "a date or time")
