"""MiniMax M3's calls: tags with a token before each, nested for objects, `<item>` for the items of lists."""

import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from permitry.core.json_values import MAX_DEPTH
from permitry.messages.formats._coerce import coerce, types_of
from permitry.messages.formats.mark import Block, Mark, wrapper
from permitry.messages.formats.scan import BrokenError, Scan, unique

__all__ = ["MARKS"]

_TOKEN: Final = "]<]minimax[>["  # noqa: S105 -- a token of a model's text, no secret
_NAME: Final = re.compile(r"[^<>\s]*+")
_QUOTED: Final = re.compile(r'[^"<>]*+')
_OPEN: Final = f'{_TOKEN}<invoke name="'
_CLOSE: Final = f"{_TOKEN}</invoke>"


@attrs.define
class _Element:
    """A tag that is being read: its schema, the text in it, or the elements in it."""

    name: str
    schema: object
    begin: int
    children: list[tuple[str, object]] = attrs.field(factory=list)


def _read(scan: Scan, start: int, pos: int) -> Block | None:
    end = scan.run(_QUOTED, pos)
    name = scan.text[pos:end]
    if not scan.at('">', end):
        return None
    root = _Element("", {**scan.tools.schema(name), "type": "object"}, end + 2)
    pos = _elements(scan, root)
    end = scan.need(_CLOSE, pos, "the call is not closed")
    return Block(end, (scan.call(name, unique(root.children, end), start, end),))


def _elements(scan: Scan, root: _Element) -> int:
    """Read all elements into `root`; return where its closing tag is."""
    stack, pos = [root], root.begin
    while True:
        at = scan.find(_TOKEN, pos)
        if at < 0:
            raise BrokenError(pos, f"`{_TOKEN}` is missing")
        after = at + len(_TOKEN)
        if scan.at("</", after):
            if len(stack) == 1:
                return at
            pos = _close(scan, stack, at)
        else:
            end = scan.run(_NAME, scan.need("<", after, "a tag is missing"))
            key = scan.text[after + 1 : end]
            pos = scan.need(">", end, "a tag is broken")
            if not key or len(stack) >= MAX_DEPTH:
                raise BrokenError(pos, f"a tag has no name, or more than {MAX_DEPTH} are nested")
            stack.append(_Element(key, _inner(stack[-1].schema, key), pos))


def _close(scan: Scan, stack: list[_Element], at: int) -> int:
    element = stack.pop()
    pos = scan.need(f"{_TOKEN}</{element.name}>", at, f"`</{element.name}>` is missing")
    stack[-1].children.append((element.name, _value(scan, element, at)))
    return pos


def _value(scan: Scan, element: _Element, at: int) -> Any:  # noqa: ANN401 -- any JSON
    names = [name for name, _ in element.children]
    if names and set(names) == {"item"} and ("array" in types_of(element.schema) or not types_of(element.schema)):
        return [value for _, value in element.children]
    if names:
        return _object(element.children)
    return coerce(scan.text[element.begin : at], element.schema)


def _object(children: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object of `children`; what repeats is a list."""
    found: dict[str, list[object]] = {}
    for name, value in children:
        found.setdefault(name, []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def _inner(schema: object, name: str) -> object:
    """Return the schema of what is in a tag; one of several alternatives that knows the name."""
    if not isinstance(schema, Mapping):
        return None
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and name in properties:
        return properties[name]
    if name == "item" and "items" in schema:
        return schema["items"]
    for word in ("anyOf", "oneOf"):
        parts = schema.get(word)
        for part in parts if isinstance(parts, list | tuple) else ():
            if isinstance(part, Mapping) and (name in part.get("properties", ()) or "items" in part):
                return _inner({key: part[key] for key in ("properties", "items") if key in part}, name)
    return schema.get("additionalProperties")


MARKS: Final = (
    Mark(_OPEN, _read, "minimax_m3"),
    wrapper(f"{_TOKEN}<tool_call>", f"{_TOKEN}</tool_call>", (_OPEN,), ("minimax_m3",)),
)
