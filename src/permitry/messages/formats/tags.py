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
from permitry.messages.formats.cursor import Block, BrokenError, Cursor, MoreError, items_of, reader, unique
from permitry.messages.formats.values import read_arguments, read_json

__all__ = [
    "ENDS", "GAP", "MINIMAX", "SEED", "START", "Tags", "dsml_block", "pairs_block", "read_addressed", "read_function",
    "read_invoke", "read_k3", "read_message", "read_minicpm", "read_minimax", "read_muse", "read_muse_wrapper",
    "read_other_message",
]  # fmt: skip


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
    # Another declared argument of the tool may begin in it, on a line of its own.
    others = _INSIDE.finditer(cur.text, begin, begin + len(text))
    other = next((each for each in others if cur.tools.property(name, each[2].strip()) is not None), None)
    if other is not None:
        cur.require(cur.is_repairing, f"`{_END}` is missing before the next argument")
        text, cur.pos, cur.is_repaired = cur.text[begin : other.start(1)], other.start(1), True
    return key, coerce(trim(text), cur.tools.property(name, key))


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
    """The tags of one family: `<{call} name="…">` and `<{parameter} name="…">`."""

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
        name, closer = self._short(cur, head.get("name", "")), f"</{self.call}>"
        cur.require(name, "a call has no name")
        if "/" in head:
            return cur.block(name, {})
        if cur.skip().at("{"):
            arguments = read_json(cur, closer)
        else:
            found = _read_each(cur, f"<{self.parameter}", lambda: self._argument(cur, name))
            arguments = unique(found, cur.pos)
        cur.skip().need(closer)
        return cur.block(name, arguments)

    def _short(self, cur: Cursor, name: str) -> str:
        """Return a name without its namespace where the model only doubles it, or where only so it is declared."""
        space, dot, short = name.rpartition(".")
        is_short = space == short or (cur.tools.knows(short) and not cur.tools.knows(name))
        return short if self.is_exact and dot and is_short else name

    def _argument(self, cur: Cursor, name: str) -> tuple[str, object]:
        head = _attributes(cur) or {}
        key, word = head.get("name", ""), head.get("string", "")
        cur.require(key, "a parameter has no name")
        text = cur.until_before(f"</{self.parameter}>", (f"<{self.parameter}", f"</{self.call}>"))
        schema = _TYPED[word] if word in _TYPED else cur.tools.property(name, key)
        if self.is_declared:
            cur.require(not cur.tools.lacks(name, key), f"`{name[:60]}` has no argument `{key[:60]}`")
            text = _CDATA.sub(r"\1", text)
        if self.is_typed and word not in _TYPED and not types_of(schema):
            schema = _ANY_JSON
        value = coerce(text, schema)
        return key, value if value is not text or self.is_exact or word == "false" else trim(text)


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


@reader
def dsml_block(cur: Cursor, bar: str) -> Block | None:
    """Return the reader of a call whose tags have this text before their names."""
    if not cur.opened.get(f"</{bar}function_calls>"):
        cur.rename("deepseek_v32_dsml", "deepseek_v4_dsml")
    return Tags(f"{bar}invoke", f"{bar}parameter", is_exact=True).read(cur)


def read_minicpm(cur: Cursor) -> Block | None:
    """Return the block of `<function name="NAME">`; the blank behind the first word may be lost."""
    cur.pos = cur.start + len("<function")
    return _CPM.read(cur)


# `<arg_key>KEY</arg_key>` and `<arg_value>`

_PLAIN: Final = re.compile(r"[^\s<>{}\[\]()\"'`=,;]*+")


@reader
def pairs_block(cur: Cursor, prefix: str, closer: str) -> Block | None:
    """Return a reader of a name and tags, `prefix` in those of arguments, up to `closer`.

    A key without a value is not an argument; a type may come between both.
    """
    opener = f"<{prefix}arg_key>"
    name = cur.skip().take(_PLAIN)
    if cur.skip().has("<tool_sep>"):
        cur.skip()
        cur.rename("glm45_47", "hunyuan_v3")
    if not name or not (cur.at(opener) or cur.at(closer)):
        return None
    found: list[tuple[str, object]] = []
    while cur.at(opener):
        key, kind = _take_element(cur, f"{prefix}arg_key"), _take_element(cur, f"{prefix}arg_type")
        if cur.has(f"<{prefix}arg_value>"):
            text = cur.until_before(f"</{prefix}arg_value>", (opener, closer))
            schema = {"type": kind} if kind else cur.tools.property(name, key)
            found.append((key, coerce(trim(text), schema)))
    cur.need(closer)
    return cur.block(name, unique(found, cur.pos))


def _take_element(cur: Cursor, name: str) -> str:
    """Move behind the tags of this name; return what is between them, if they are there."""
    if not cur.has(f"<{name}>"):
        return ""
    text = cur.until(f"</{name}>").strip()
    cur.skip()
    return text


# `<|open|>argument key="KEY" type="TYPE"<|sep|>`

_OPEN, _SHUT, _SEP = "<|open|>", "<|close|>", "<|sep|>"
_K3_HEAD: Final = re.compile(r"[^<>|]*+")
_K3_ATTRIBUTE: Final = re.compile(r'([\w-]+)="([^"]*)"')


def read_k3(cur: Cursor) -> Block | None:
    """Return the block of a call of Kimi K3; attributes are unescaped, values are not."""
    head = _k3_attributes(cur)
    if "tool" not in head:
        return None
    found = _read_each(cur, f"{_OPEN}argument ", lambda: _k3_argument(cur))
    cur.need(f"{_SHUT}call{_SEP}", "the call is not closed")
    return cur.block(head["tool"], unique(found, cur.pos))


def _k3_argument(cur: Cursor) -> tuple[str, object]:
    head = _k3_attributes(cur)
    cur.require("key" in head, "an argument has no key")
    text = cur.until(f"{_SHUT}argument{_SEP}", "an argument is not closed")
    return head["key"], coerce(text, {"type": head.get("type", "string")})


def _k3_attributes(cur: Cursor) -> dict[str, str]:
    """Return the attributes of an opening mark, and move behind it; nothing where it is none."""
    pairs = _K3_ATTRIBUTE.findall(cur.take(_K3_HEAD))
    return {key: html.unescape(value) for key, value in pairs} if cur.has(_SEP) else {}


# Elements that nest, `<item>` for those of lists

MINIMAX: Final = "]<]minimax[>["
_TAG: Final = re.compile(r"[^<>\s]*+")
_QUOTED: Final = re.compile(r'[^"<>]*+')


@attrs.define
class _Element:
    """A tag that is being read: its schema, where the text in it begins, and the elements in it."""

    name: str
    schema: object
    begin: int
    children: list[tuple[str, object]] = attrs.field(factory=list)

    def value(self, text: str) -> object:
        """Return what it means; what repeats in it is a list."""
        if not self.children:
            return coerce(text, self.schema)
        found: dict[str, list[object]] = {}
        for name, value in self.children:
            found.setdefault(name, []).append(value)
        types = types_of(self.schema)
        if found.keys() == {"item"} and ("array" in types or not types):
            return found["item"]
        return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def read_minimax(cur: Cursor) -> Block | None:
    """Return the block of a call of MiniMax M3, whose tags have a token before each."""
    name = cur.take(_QUOTED)
    if not cur.has('">'):
        return None
    stack = [_Element("", {**cur.tools.schemas.get(name, {}), "type": "object"}, cur.pos)]
    while True:
        cur.until(MINIMAX)
        if not cur.at("</"):
            cur.need("<", "a tag is missing")
            key = cur.take(_TAG)
            cur.need(">", "a tag is broken")
            cur.require(key and len(stack) < MAX_DEPTH, f"a tag has no name, or more than {MAX_DEPTH} are nested")
            stack.append(_Element(key, _inner(stack[-1].schema, key), cur.pos))
            continue
        end = cur.pos = cur.pos - len(MINIMAX)
        if len(stack) == 1:
            cur.need(f"{MINIMAX}</invoke>", "the call is not closed")
            return cur.block(name, unique(stack[0].children, cur.pos))
        inner = stack.pop()
        cur.need(f"{MINIMAX}</{inner.name}>", f"`</{inner.name}>` is missing")
        stack[-1].children.append((inner.name, inner.value(cur.text[inner.begin : end])))


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


# Messages with a header that says whom they are addressed to: Harmony's (gpt-oss), in JSON, and Muse's, in tags.
# Harmony's recipient comes before the channel or behind it. The prompt may hold the start of the first header.

# A header is short; the bound keeps a text of nothing but openings from being read over and over.
_HEADER: Final = re.compile(r"(?:[^<]|<(?!\|(?:message|end|call|return|start)\|>)){0,200}")
_TO: Final = re.compile(r"to=(?:functions\.)?([^\s<>]+)")
_FIRST: Final = re.compile(
    r"(?:assistant)?(?:\s?to=[^\s<>]+)?\s?(?:<\|channel\|>)?\s?(?:analysis|commentary|final)(?![\w-])[^<]*"
    r"(?:<\|constrain\|>[^<]*)?"
)
_MESSAGE: Final = "<|message|>"
START: Final = "<|start|>"
ENDS: Final = ("<|call|>", "<|end|>", "<|return|>")


def read_message(cur: Cursor) -> Block | None:
    """Return the block of a message: a call, reasoning, or text without its header."""
    is_opened = cur.at("<", cur.start)
    cur.pos = cur.pos if is_opened else cur.start
    head = _header(cur)
    if head is None or not (is_opened or _FIRST.fullmatch(head)):
        return None
    names, body = set(_TO.findall(head)), cur.pos
    if names:
        return _read_body(cur, names, body)
    return Block(body, until=(*ENDS, START), is_thinking=True) if "analysis" in head else Block(body)


def read_other_message(cur: Cursor) -> Block | None:
    """Return the block of a message of others that the model made up: nothing in it is a call."""
    head = _header(cur)
    if head is None or head.startswith("assistant"):
        return None
    return Block(cur.pos, until=(*ENDS, "<|eom|>", "<|eot|>", START))


def _header(cur: Cursor) -> str | None:
    """Return the header that comes next, and move behind its mark."""
    head = cur.take(_HEADER)
    if cur.is_open and len(cur.text) - cur.pos < len(_MESSAGE):
        raise MoreError
    return head if cur.has(_MESSAGE) else None


def _read_body(cur: Cursor, names: set[str], body: int) -> Block:
    """Return the block of a message to a tool, or to none if it holds no call."""
    if len(names) > 1 or not cur.skip().at("{"):
        note = "the message has two recipients" if len(names) > 1 else "the arguments are not a JSON object"
        return Block(body, until=(*ENDS, START), note=note, is_broken=True)
    arguments, end = read_arguments(cur, within=ENDS[0]), cur.pos
    if any(map(cur.skip().has, ENDS)):
        return cur.block(names.pop(), arguments)
    note = f"`{ENDS[0]}` is missing"
    if not cur.is_end(cur.pos) and not cur.at(START):
        raise BrokenError(end, note)
    after, cur.pos = cur.pos, end
    return Block(after, (cur.call(names.pop(), arguments),), note=note)


_MUSE: Final = Tags("atem:invoke", "atem:parameter", is_exact=True, is_typed=True)
_MUSE_HEAD: Final = re.compile(r"[\w.:/-]*+")


def read_addressed(cur: Cursor) -> Block | None:
    """Return the block of a header `to=NAME<|message|>`; only a tool can be called there."""
    to = cur.take(_MUSE_HEAD)
    if not cur.has(_MESSAGE):
        return None
    if to in ("self", "user", ""):
        return Block(cur.pos, until=("<|eom|>", "<|eot|>"))
    return Block(cur.pos, closer="<|eom|>")


def read_muse(cur: Cursor) -> Block | None:
    """Return the block of a call that no header addresses, if nothing comes before it."""
    opened = cur.opened
    is_addressed = bool(opened.get("<|eom|>") or opened.get("</atem:function_calls>"))
    return _MUSE.read(cur) if is_addressed else None


def read_muse_wrapper(cur: Cursor) -> Block | None:
    """Return the block of the mark around calls, of which the first follows."""
    end = cur.pos
    if not cur.skip().at("<atem:invoke "):
        return None
    if not cur.opened.get("<|eom|>") and (cur.first or cur.format == "muse_glimmer"):
        return None
    return Block(end, closer="</atem:function_calls>")
