"""What a schema asks for: the value of an argument written as text, the call of a JSON value."""

import contextlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from permitry.core.json_values import MAX_DEPTH, parse_json
from permitry.errors import CallError
from permitry.messages.formats.cursor import BrokenError, Cursor, items_of
from permitry.messages.formats.values import NUMBER, PYTHON, depth_end, number_of, read_literal

__all__ = ["Named", "NoCallError", "coerce", "name_all", "name_call", "object_of", "trim", "types_of"]

# Of text

_NAMES: Final = MappingProxyType(
    {
        "str": "string", "text": "string", "varchar": "string", "char": "string", "enum": "string",
        "int": "integer", "uint": "integer", "long": "integer", "short": "integer", "unsigned": "integer",
        "float": "number", "double": "number", "num": "number", "bool": "boolean",
        "dict": "object", "map": "object", "list": "array", "tuple": "array", "arr": "array",
    }
)  # fmt: skip
# The width of a number and what is in a list do not matter: `int32`, `list[str]`.
_WORD: Final = re.compile(r"[a-z]+")
_WRITTEN: Final[Mapping[type, str]] = MappingProxyType({dict: "object", list: "array"})
_EDGES: Final = re.compile(r"\A\r?\n|\r?\n\Z")
_DEEPEST_SCHEMA: Final = 8
_DEEPEST_VALUE: Final = MAX_DEPTH - 1
_OPENED: Final = MappingProxyType({"{": "object", "[": "array"})
_BOOLEANS: Final = MappingProxyType({"true": True, "false": False})


def trim(text: str) -> str:
    """Return `text` without one line break at each end; its indentation is the model's."""
    return _EDGES.sub("", text)


def coerce(text: str, schema: object) -> object:
    """Return the value of `text` under `schema`, written as JSON or Python; text that does not fit stays text."""
    types = types_of(schema)
    if not types:
        return text
    return next((value for kind, value in _readings(text.strip(), types) if kind in types), text)


def _readings(text: str, types: Collection[str]) -> Iterator[tuple[str, object]]:
    """Yield what a text can mean, each with its type, in this order.

    Models write Python where they learned it. Where a schema allows text as well, it may be text.
    """
    is_python = "string" not in types
    if text == "null" or (is_python and text == "None"):
        yield "null", None
    if text.lower() in _BOOLEANS:
        yield "boolean", _BOOLEANS[text.lower()]
    if _OPENED.get(text[:1]) in types and depth_end(text, len(text), _DEEPEST_VALUE) < 0:
        with contextlib.suppress(CallError):
            yield _OPENED[text[:1]], parse_json(text)
    if NUMBER.match(text):
        with contextlib.suppress(BrokenError):
            value = number_of(text, 0)
            if value == int(value):
                yield "integer", int(value)
            yield "number", value
    if is_python and text.startswith(("{", "[", "(")):
        yield from _literals(text)


def _literals(text: str) -> Iterator[tuple[str, object]]:
    """Yield the object or list that Python writes as `text`, if it is one."""
    cur = Cursor(text)
    with contextlib.suppress(BrokenError):
        value = read_literal(cur, PYTHON)
        if cur.pos == len(text):
            yield _WRITTEN.get(type(value), ""), value


def types_of(schema: object) -> frozenset[str]:
    """Return the types a schema allows, empty when it names none."""
    return frozenset(_types(schema, _DEEPEST_SCHEMA))


def _types(schema: object, depth: int) -> Iterator[str]:
    if not isinstance(schema, Mapping) or not depth:
        return
    kind = schema.get("type")
    for each in (kind, *items_of(kind)):
        if isinstance(each, str):
            name = "".join(_WORD.findall(each.lower())[:1])
            yield _NAMES.get(name, name)
    if schema.get("nullable") is True:
        yield "null"
    for word in ("anyOf", "oneOf", "allOf"):
        for part in items_of(schema.get(word)):
            yield from _types(part, depth - 1)
    if kind is None:
        yield from _imply(schema)


def _imply(schema: Mapping[str, Any]) -> Iterator[str]:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    for value in items_of(schema.get("enum")):
        yield names.get(type(value), "object")
    if "properties" in schema:
        yield "object"
    if "items" in schema:
        yield "array"


# Of JSON

Named: TypeAlias = tuple[str, dict[str, Any], object]

_NAME_KEYS: Final = ("name", "tool", "function", "tool_name", "action")
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input", "tool_input", "action_input")
_TEXT_KEYS: Final = ("tool_input", "action_input")
_ID_KEYS: Final = ("id", "tool_call_id", "call_id")
_TWO_NAMES: Final = "the object names two tools"
_TWO_SETS: Final = "the call has two sets of arguments"
_MORE: Final = "the object holds more than a call"
_OTHER_KEYS: Final = frozenset({"id", "type", "call_id", "tool_call_id", "index", "thought"})
_ENVELOPES: Final = ("tool_calls", "function_call")
_SCHEMA_WORDS: Final = frozenset({"type", "properties"})


class NoCallError(Exception):
    """A JSON value is not a call, and why."""


def _require(is_good: object, why: str) -> None:
    if not is_good:
        raise NoCallError(why)


def name_all(value: object, *, is_bare: bool = False, needs_arguments: bool = True) -> tuple[list[Named], str | None]:
    """Return name, arguments and id of each call in a JSON value, and why one in it is none.

    `is_bare` is for JSON in text with no mark around it: keys a call does not have, or a schema for arguments, tell
    that it is data.
    """
    inner = value
    if isinstance(value, dict) and len(value) == 1:
        inner = next((value[word] for word in _ENVELOPES if word in value), value)
    items = inner if isinstance(inner, list) else [inner]
    found: list[Named] = []
    why = None if items else "the list is empty"
    for item in items:
        try:
            found.append(name_call(item, is_bare=is_bare, needs_arguments=needs_arguments))
        except NoCallError as error:
            why = why or str(error)
    # What is in an envelope is one call: it is good as a whole, or not at all.
    return ([] if why and inner is not value else found), why


def name_call(item: object, *, is_bare: bool = False, needs_arguments: bool = True) -> Named:
    """Return name, arguments and id of the call a JSON object is.

    Raises: `NoCallError`.
    """
    if not isinstance(item, dict):
        raise NoCallError("not a JSON object")
    call_id = next((item[key] for key in _ID_KEYS if key in item), None)
    item = _inner(item, is_bare=is_bare)
    name_key, key = _only(item, _NAME_KEYS, _TWO_NAMES), _only(item, _ARGUMENT_KEYS, _TWO_SETS)
    name: Any = item.get(name_key)
    _require(isinstance(name, str) and name, "the object names no tool")
    _require(key or not needs_arguments, f"the call of `{name[:60]}` has no arguments")
    given = item.get(key, {})
    arguments: Any = object_of(given, is_text=key in _TEXT_KEYS)
    _require(arguments is not None, f"the arguments of `{name[:60]}` are not a JSON object")
    if is_bare:
        _require(set(item) <= {name_key, key, *_OTHER_KEYS}, _MORE)
        is_schema = key == "parameters" and arguments is given and set(arguments) >= _SCHEMA_WORDS
        _require(not is_schema, "the object declares a tool")
    return name, arguments, call_id


def _inner(item: dict[Any, Any], *, is_bare: bool) -> dict[Any, Any]:
    """Return the object in which the call is."""
    inner = item.get("function")
    if not isinstance(inner, dict):
        return item
    _require(item.get("name", inner.get("name")) == inner.get("name"), _TWO_NAMES)
    _require(not is_bare or set(item) - {"function"} <= _OTHER_KEYS, _MORE)
    return inner


def _only(item: Mapping[Any, Any], keys: Sequence[str], why: str) -> str | None:
    """Return the first of `keys` that is in an object, or None.

    Raises: `NoCallError` for two whose values differ: it is unknown which one is meant.
    """
    present = [key for key in keys if key in item]
    # Python takes 1, 1.0 and true for the same.
    if len(present) > 1 and len({json.dumps(item[key], sort_keys=True) for key in present}) > 1:
        raise NoCallError(why)
    return next(iter(present), None)


def object_of(value: object, *, is_text: bool = False) -> dict[str, Any] | None:
    """Return a JSON object, given as such or as JSON text, or None; other text is `input` where it `is_text`."""
    if isinstance(value, str) and value.lstrip().startswith("{") and depth_end(value, len(value), _DEEPEST_VALUE) < 0:
        try:
            value = parse_json(value)
        except CallError:
            return None
    if is_text and isinstance(value, str):
        return {"input": value}
    return value if isinstance(value, dict) else None
