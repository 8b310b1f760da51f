"""MiniMax M3's calls: tags with a token before each, nested for objects, `<item>` for the items of lists."""

import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from permitry.core.json_values import MAX_DEPTH
from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark, wrapper
from permitry.messages.formats.scan import BrokenError, Scan, unique
from permitry.messages.formats.tools import items_of
from permitry.messages.formats.values import coerce, types_of

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


def _read(cur: Cursor) -> Block | None:
    name = cur.take(_QUOTED)
    if not cur.has('">'):
        return None
    root = _Element("", {**cur.scan.tools.schema(name), "type": "object"}, cur.pos)
    _read_elements(cur, root)
    cur.need(_CLOSE, "the call is not closed")
    return cur.block(name, unique(root.children, cur.pos))


def _read_elements(cur: Cursor, root: _Element) -> None:
    """Read all elements into `root`, and move to its closing tag."""
    stack = [root]
    while True:
        cur.until(_TOKEN)
        if cur.at("</"):
            cur.pos -= len(_TOKEN)
            if len(stack) == 1:
                return
            _close(cur, stack)
        else:
            cur.need("<", "a tag is missing")
            key = cur.take(_NAME)
            cur.need(">", "a tag is broken")
            if not key or len(stack) >= MAX_DEPTH:
                raise BrokenError(cur.pos, f"a tag has no name, or more than {MAX_DEPTH} are nested")
            stack.append(_Element(key, _inner(stack[-1].schema, key), cur.pos))


def _close(cur: Cursor, stack: list[_Element]) -> None:
    element, end = stack.pop(), cur.pos
    cur.need(f"{_TOKEN}</{element.name}>", f"`</{element.name}>` is missing")
    stack[-1].children.append((element.name, _value(cur.scan, element, end)))


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
        for part in items_of(schema.get(word)):
            if isinstance(part, Mapping) and (name in part.get("properties", ()) or "items" in part):
                return _inner({key: part[key] for key in ("properties", "items") if key in part}, name)
    return schema.get("additionalProperties")


MARKS: Final = (
    Mark(_OPEN, _read, "minimax_m3"),
    wrapper(f"{_TOKEN}<tool_call>", f"{_TOKEN}</tool_call>", (_OPEN,), ("minimax_m3",)),
)
