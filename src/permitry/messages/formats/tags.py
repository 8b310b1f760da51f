"""Calls in tags: a tag for the call, one for each argument, and text between them that its schema makes a value of.

A value ends at the first closing tag after which the next argument or the end of the call follows, so that it may hold
its own closing tag. A body of one JSON object counts as the arguments.
"""

import html
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from permitry.core.json_values import MAX_DEPTH
from permitry.messages.formats.arguments import coerce, trim, types_of
from permitry.messages.formats.cursor import Block, BrokenError, Cursor, Reader, unique
from permitry.messages.formats.tools import items_of
from permitry.messages.formats.values import read_arguments, read_json

__all__ = [
    "GAP",
    "MINIMAX",
    "SEED",
    "Pairs",
    "Tags",
    "dsml_block",
    "read_function",
    "read_invoke",
    "read_k3",
    "read_minicpm",
    "read_minimax",
]


def _read_each(cur: Cursor, opener: str, read: Callable[[], tuple[str, object]]) -> list[tuple[str, object]]:
    """Move behind all arguments that come next, each behind an `opener`; return them."""
    found: list[tuple[str, object]] = []
    while cur.skip().has(opener):
        found.append(read())
    return found


# `<function=NAME>` and `<parameter=KEY>`

SEED: Final = "</seed:tool_call>"
_FUNCTION: Final = re.compile(r"[^\s<>{}\"'=]*+")
_KEY: Final = re.compile(r"[^<>\n]*+")
_INSIDE: Final = re.compile(r"\n[ \t]*+(<parameter=([^<>\n]++)>)")
_CLOSE: Final = "</function>"
_PARAMETER, _END = "<parameter=", "</parameter>"
_FOLLOWING: Final = (_PARAMETER, _CLOSE, "</tool_call>", SEED)
_JSON_NAMES: Final = ("function_tag_json", "functionary_v31")


def read_function(cur: Cursor) -> Block | None:
    """Return the block of a call of Qwen3-Coder, or of Llama 3.1 where its body is JSON."""
    name = cur.take(_FUNCTION).strip("\"'")
    if not name or not cur.has(">"):
        return None
    if cur.opened.get(SEED):
        cur.rename("function_xml", "seed_oss")
    if cur.skip().at("{"):
        format_name = cur.format if cur.format in _JSON_NAMES else _JSON_NAMES[0]
        return cur.block(name, read_arguments(cur, _CLOSE), format_name=format_name)
    found = _read_each(cur, _PARAMETER, lambda: _function_argument(cur, name))
    if cur.is_repairing and cur.at("</tool_call>"):
        cur.is_repaired = True
    else:
        cur.need(_CLOSE)
    return cur.block(name, unique(found, cur.pos))


def _function_argument(cur: Cursor, name: str) -> tuple[str, object]:
    key = cur.take(_KEY).strip()
    cur.require(key and cur.has(">"), "a parameter has no name")
    begin = cur.pos
    text = cur.until_before(_END, _FOLLOWING)
    swallowed = _find_swallowed(cur, name, begin, begin + len(text))
    if swallowed is not None:
        if not cur.is_repairing:
            raise BrokenError(cur.pos, f"`{_END}` is missing before the next argument")
        text, cur.pos, cur.is_repaired = cur.text[begin:swallowed], swallowed, True
    return key, coerce(trim(text), cur.tools.property(name, key))


def _find_swallowed(cur: Cursor, name: str, start: int, end: int) -> int | None:
    """Return where in a value another declared argument of the tool begins on a line of its own, or None."""
    found = _INSIDE.finditer(cur.text, start, end)
    return next((each.start(1) for each in found if cur.tools.property(name, each.group(2).strip()) is not None), None)


# `<invoke name="NAME">` and `<parameter name="KEY">`

GAP: Final = "\u0120"  # What some tokenizers print for a blank.
_HEAD: Final = re.compile(r"[^<>]*+")
_ATTRIBUTE: Final = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_CDATA: Final = re.compile(r"\A\s*<!\[CDATA\[(.*)\]\]>\s*\Z", re.DOTALL)
_ANY: Final = {"type": ["null", "boolean", "object", "array", "integer", "number"]}
_ANY_JSON: Final = {"type": [*_ANY["type"], "string"]}
# By the attribute `string`.
_TYPED: Final[Mapping[str, object]] = MappingProxyType({"true": None, "false": _ANY})


@attrs.frozen
class Tags:
    """The tags of one family: `<{call} name="…">`, `<{parameter} name="…">`, with what follows the values."""

    call: str
    parameter: str
    is_exact: bool = False
    is_typed: bool = False
    is_declared: bool = False

    def read(self, cur: Cursor) -> Block | None:
        """Return the block of one call."""
        head = _attributes(cur)
        if head is None:
            return None
        name, closer = head.get("name", ""), f"</{self.call}>"
        cur.require(name, "a call has no name")
        if "/" in head:
            return cur.block(self._short(cur, name), {})
        if cur.skip().at("{"):
            arguments = read_json(cur, closer)
        else:
            found = _read_each(cur, f"<{self.parameter}", lambda: self._argument(cur, name))
            arguments = unique(found, cur.pos)
        cur.skip().need(closer)
        return cur.block(self._short(cur, name), arguments)

    def _argument(self, cur: Cursor, name: str) -> tuple[str, object]:
        head = _attributes(cur) or {}
        cur.require(head.get("name"), "a parameter has no name")
        text = cur.until_before(f"</{self.parameter}>", (f"<{self.parameter}", f"</{self.call}>"))
        is_offered = not self.is_declared or not cur.tools.lacks(name, head["name"])
        cur.require(is_offered, f"`{name[:60]}` has no argument `{head['name'][:60]}`")
        return head["name"], self._value(cur, text, head, self._short(cur, name))

    def _value(self, cur: Cursor, text: str, head: Mapping[str, str], name: str) -> object:
        word = head.get("string", "")
        schema = _TYPED[word] if word in _TYPED else cur.tools.property(name, head["name"])
        if self.is_declared:
            text = _CDATA.sub(r"\1", text)
        if self.is_typed and word not in _TYPED and not types_of(schema):
            schema = _ANY_JSON
        value = coerce(text, schema)
        return value if value is not text or self.is_exact or word == "false" else trim(text)

    def _short(self, cur: Cursor, name: str) -> str:
        """Return a name without its namespace where the model only doubles it, or where only so it is declared."""
        space, dot, short = name.rpartition(".")
        if self.is_exact and dot and (space == short or (cur.tools.knows(short) and not cur.tools.knows(name))):
            return short
        return name


def _attributes(cur: Cursor) -> dict[str, str] | None:
    """Return the attributes of a tag, with `/` when it closes itself, and move behind it."""
    text = cur.take(_HEAD).lstrip(GAP)
    if not cur.has(">"):
        return None
    found = {key: double or single for key, double, single in _ATTRIBUTE.findall(text)}
    return {**found, "/": ""} if text.rstrip().endswith("/") else found


_INVOKE: Final = Tags("invoke", "parameter")
_CPM: Final = Tags("function", "param", is_declared=True)


def read_invoke(cur: Cursor) -> Block | None:
    """Return the block of an `<invoke>`, named after the wrapper around it."""
    for closer, name in (("</minimax:tool_call>", "minimax_m2_invoke"), ("</dots_function_call>", "dots")):
        if cur.opened.get(closer):
            cur.rename("invoke_xml", name)
    return _INVOKE.read(cur)


def dsml_block(bar: str) -> Reader:
    """Return the reader of a call whose tags have this text before their names."""
    tags = Tags(f"{bar}invoke", f"{bar}parameter", is_exact=True)

    def read(cur: Cursor) -> Block | None:
        if not cur.opened.get(f"</{bar}function_calls>"):
            cur.rename("deepseek_v32_dsml", "deepseek_v4_dsml")
        return tags.read(cur)

    return read


def read_minicpm(cur: Cursor) -> Block | None:
    """Return the block of `<function name="NAME">`; the blank behind the first word may be lost."""
    cur.pos = cur.start + len("<function")
    return _CPM.read(cur)


# `<arg_key>KEY</arg_key>` and `<arg_value>`

_PLAIN: Final = re.compile(r"[^\s<>{}\[\]()\"'`=,;]*+")


@attrs.frozen
class Pairs:
    """The tags of one family: `prefix` is part of those of arguments, `closer` ends a call.

    A key without a value is not an argument; a type may come between both.
    """

    prefix: str
    closer: str

    def read(self, cur: Cursor) -> Block | None:
        """Return the block of one call."""
        opener = f"<{self.prefix}arg_key>"
        name = cur.skip().take(_PLAIN)
        if cur.skip().has("<tool_sep>"):
            cur.skip()
            cur.rename("glm45_47", "hunyuan_v3")
        if not name or not (cur.at(opener) or cur.at(self.closer)):
            return None
        found: list[tuple[str, object]] = []
        while cur.at(opener):
            key, kind = self._take(cur, "arg_key"), self._take(cur, "arg_type")
            if cur.has(f"<{self.prefix}arg_value>"):
                text = cur.until_before(f"</{self.prefix}arg_value>", (opener, self.closer))
                schema = {"type": kind} if kind else cur.tools.property(name, key)
                found.append((key, coerce(trim(text), schema)))
        cur.need(self.closer)
        return cur.block(name, unique(found, cur.pos))

    def _take(self, cur: Cursor, word: str) -> str:
        """Move behind the tags of this name; return what is between them, nothing where they are not."""
        if not cur.has(f"<{self.prefix}{word}>"):
            return ""
        text = cur.until(f"</{self.prefix}{word}>").strip()
        cur.skip()
        return text


# `<|open|>argument key="KEY" type="TYPE"<|sep|>`

_OPEN, _SHUT, _SEP = "<|open|>", "<|close|>", "<|sep|>"
_K3_HEAD: Final = re.compile(r"[^<>|]*+")
_K3_ATTRIBUTE: Final = re.compile(r'([\w-]+)="([^"]*)"')


def read_k3(cur: Cursor) -> Block | None:
    """Return the block of a call of Kimi K3; attributes are unescaped, values are not."""
    head = _k3_attributes(cur)
    if head is None or "tool" not in head:
        return None
    found = _read_each(cur, f"{_OPEN}argument ", lambda: _k3_argument(cur))
    cur.need(f"{_SHUT}call{_SEP}", "the call is not closed")
    return cur.block(head["tool"], unique(found, cur.pos))


def _k3_argument(cur: Cursor) -> tuple[str, object]:
    head = _k3_attributes(cur) or {}
    cur.require("key" in head, "an argument has no key")
    text = cur.until(f"{_SHUT}argument{_SEP}", "an argument is not closed")
    return head["key"], coerce(text, {"type": head.get("type", "string")})


def _k3_attributes(cur: Cursor) -> dict[str, str] | None:
    """Return the attributes of an opening mark, and move behind it."""
    pairs = _K3_ATTRIBUTE.findall(cur.take(_K3_HEAD))
    return {key: html.unescape(value) for key, value in pairs} if cur.has(_SEP) else None


# Elements that nest, `<item>` for those of lists

MINIMAX: Final = "]<]minimax[>["
_TAG: Final = re.compile(r"[^<>\s]*+")
_QUOTED: Final = re.compile(r'[^"<>]*+')
_END_OF_CALL: Final = f"{MINIMAX}</invoke>"


@attrs.define
class _Element:
    """A tag that is being read: its schema, the text in it, or the elements in it."""

    name: str
    schema: object
    begin: int
    children: list[tuple[str, object]] = attrs.field(factory=list)


def read_minimax(cur: Cursor) -> Block | None:
    """Return the block of a call of MiniMax M3, whose tags have a token before each."""
    name = cur.take(_QUOTED)
    if not cur.has('">'):
        return None
    root = _Element("", {**cur.tools.schema(name), "type": "object"}, cur.pos)
    _read_elements(cur, root)
    cur.need(_END_OF_CALL, "the call is not closed")
    return cur.block(name, unique(root.children, cur.pos))


def _read_elements(cur: Cursor, root: _Element) -> None:
    """Read all elements into `root`, and move to its closing tag."""
    stack = [root]
    while True:
        cur.until(MINIMAX)
        if cur.at("</"):
            cur.pos -= len(MINIMAX)
            if len(stack) == 1:
                return
            _close(cur, stack)
        else:
            cur.need("<", "a tag is missing")
            key = cur.take(_TAG)
            cur.need(">", "a tag is broken")
            is_good = key and len(stack) < MAX_DEPTH
            cur.require(is_good, f"a tag has no name, or more than {MAX_DEPTH} are nested")
            stack.append(_Element(key, _inner(stack[-1].schema, key), cur.pos))


def _close(cur: Cursor, stack: list[_Element]) -> None:
    element, end = stack.pop(), cur.pos
    cur.need(f"{MINIMAX}</{element.name}>", f"`</{element.name}>` is missing")
    stack[-1].children.append((element.name, _value(cur, element, end)))


def _value(cur: Cursor, element: _Element, at: int) -> object:
    names = [name for name, _ in element.children]
    if names and set(names) == {"item"} and ("array" in types_of(element.schema) or not types_of(element.schema)):
        return [value for _, value in element.children]
    if names:
        return _object(element.children)
    return coerce(cur.text[element.begin : at], element.schema)


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
