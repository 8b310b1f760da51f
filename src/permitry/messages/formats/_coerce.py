"""Text of an argument to the value its schema asks for; without a schema it stays text."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from permitry.core.json_values import MAX_DEPTH, parse_json
from permitry.errors import CallError
from permitry.messages.formats._literal import PYTHON, read_literal
from permitry.messages.formats.scan import BrokenError, Scan
from permitry.messages.formats.tools import Tools

__all__ = ["coerce", "trimmed", "types_of"]

_INTEGER: Final = re.compile(r"[+-]?\d{1,400}\Z")
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?\Z")
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
_DEEPEST_SCHEMA: Final = 8
_MISSING: Final = object()


def trimmed(text: str) -> str:
    """Return `text` without one line break at each end; its indentation is the model's."""
    text = text.removeprefix("\r\n") if text.startswith("\r") else text.removeprefix("\n")
    return text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")


def coerce(text: str, schema: object) -> Any:  # noqa: ANN401 -- what the schema asks for
    """Return the value of `text` under `schema`, written as JSON or Python; text that does not fit stays text."""
    types = types_of(schema)
    if not types:
        return text
    bare = text.strip()
    for kind in _ORDER:
        if kind in types:
            value = _READERS[kind](bare)
            if value is not _MISSING:
                return value
    value = _MISSING if "string" in types else _literal(bare, types)
    return text if value is _MISSING else value


def types_of(schema: object) -> frozenset[str]:
    """Return the types a schema allows, empty when it names none."""
    return frozenset(_types(schema, _DEEPEST_SCHEMA))


def _types(schema: object, depth: int) -> Iterator[str]:
    if not isinstance(schema, Mapping) or not depth:
        return
    kind = schema.get("type")
    for each in kind if isinstance(kind, list | tuple) else (kind,):
        if isinstance(each, str):
            name = "".join(_WORD.findall(each.lower())[:1])
            yield _NAMES.get(name, name)
    if schema.get("nullable") is True:
        yield "null"
    for word in ("anyOf", "oneOf", "allOf"):
        parts = schema.get(word)
        for part in parts if isinstance(parts, list | tuple) else ():
            yield from _types(part, depth - 1)
    if kind is None:
        yield from _implied(schema)


def _implied(schema: Mapping[str, Any]) -> Iterator[str]:
    values = schema.get("enum")
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    for value in values if isinstance(values, list | tuple) else ():
        yield names.get(type(value), "object")
    if "properties" in schema:
        yield "object"
    if "items" in schema:
        yield "array"


def _null(text: str) -> object:
    return None if text == "null" else _MISSING


def _boolean(text: str) -> object:
    return {"true": True, "false": False}.get(text.lower(), _MISSING)


def _integer(text: str) -> object:
    if _INTEGER.match(text):
        return int(text)
    value = _number(text)
    return int(value) if isinstance(value, float) and value.is_integer() else _MISSING


def _number(text: str) -> object:
    if _INTEGER.match(text):
        return int(text)
    if not _NUMBER.match(text):
        return _MISSING
    value = float(text)
    return value if abs(value) != float("inf") else _MISSING


def _json(kind: type) -> Callable[[str], object]:
    opener = "{" if kind is dict else "["

    def read(text: str) -> object:
        if not text.startswith(opener) or is_too_deep(text):
            return _MISSING
        try:
            value = parse_json(text)
        except CallError:
            return _MISSING
        return value if isinstance(value, kind) else _MISSING

    return read


def _literal(text: str, types: Collection[str]) -> object:
    """Return the object, list or None that Python writes as `text`, if it is of one of `types`.

    Models write Python where they learned it. Where a schema allows text as well, it may be text.
    """
    if text == "None":
        return None if "null" in types else _MISSING
    if not text.startswith(("{", "[", "(")):
        return _MISSING
    try:
        value, end = read_literal(Scan(text, Tools(None)), 0, PYTHON)
    except BrokenError:
        return _MISSING
    kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else ""
    return value if kind in types and end == len(text) else _MISSING


def is_too_deep(text: str) -> bool:
    """Return whether JSON text may be nested deeper than a call's arguments can be."""
    if text.count("{") + text.count("[") < MAX_DEPTH:
        return False
    depth = deepest = 0
    for char in re.findall(r"[\[\]{}]", re.sub(r'"[^"\\]*+(?:\\.[^"\\]*+)*"', "", text, flags=re.DOTALL)):
        depth += 1 if char in "[{" else -1
        deepest = max(deepest, depth)
    return deepest >= MAX_DEPTH


_ORDER: Final = ("null", "boolean", "object", "array", "integer", "number")
_READERS: Final[Mapping[str, Callable[[str], object]]] = MappingProxyType(
    {
        "null": _null,
        "boolean": _boolean,
        "object": _json(dict),
        "array": _json(list),
        "integer": _integer,
        "number": _number,
    }
)
