"""Calls between `<invoke name="NAME">` and `</invoke>`, in the prefixes and wrappers of many models.

Values are text up to the closing tag after which the next parameter or the end of the call follows. DeepSeek says with
`string="true"` what is text; elsewhere the schema does. MiniCPM's values may be in CDATA, and its calls name only
declared arguments. A body of one JSON object counts as the arguments.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark, Reader, wrapper
from permitry.messages.formats.scan import BrokenError, Scan, unique
from permitry.messages.formats.values import coerce, trim, types_of

__all__ = ["MARKS"]

_HEAD: Final = re.compile(r"[^<>]*+")
_ATTRIBUTE: Final = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_GAP: Final = "\u0120"  # What some tokenizers print for a blank.
_CDATA: Final = ("<![CDATA[", "]]>")
_ANY: Final = {"type": ["null", "boolean", "object", "array", "integer", "number"]}
_ANY_JSON: Final = {"type": [*_ANY["type"], "string"]}


@attrs.frozen
class _Tags:
    """The tags of one family: `<{call} name="…">`, `<{parameter} name="…">`, with what follows the values."""

    call: str
    parameter: str
    is_exact: bool = False
    is_typed: bool = False
    is_declared: bool = False
    following: tuple[str, ...] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "following", (f"<{self.parameter}", f"</{self.call}>"))

    def read(self, cur: Cursor) -> Block | None:
        """Return the block of one call."""
        head = _attributes(cur)
        if head is None:
            return None
        name, closer = head.get("name", ""), f"</{self.call}>"
        if not name:
            raise BrokenError(cur.pos, "a call has no name")
        if "/" in head:
            return cur.block(self._short(cur.scan, name), {})
        arguments: object
        if cur.skip().at("{"):
            arguments, cur.pos = cur.scan.read_json(cur.pos, closer)
            cur.skip()
        else:
            found: list[tuple[str, object]] = []
            while cur.has(f"<{self.parameter}"):
                found.append(self._argument(cur, name))
            arguments = unique(found, cur.pos)
        cur.need(closer)
        return cur.block(self._short(cur.scan, name), arguments)

    def _argument(self, cur: Cursor, name: str) -> tuple[str, object]:
        head = _attributes(cur)
        if head is None or not head.get("name"):
            raise BrokenError(cur.pos, "a parameter has no name")
        text = cur.until_before(f"</{self.parameter}>", self.following)
        if self.is_declared and cur.scan.tools.lacks(name, head["name"]):
            raise BrokenError(cur.pos, f"`{name[:60]}` has no argument `{head['name'][:60]}`")
        return head["name"], self._value(cur.scan, text, head, self._short(cur.scan, name))

    def _value(self, scan: Scan, text: str, head: Mapping[str, str], name: str) -> Any:  # noqa: ANN401 -- any JSON
        word = head.get("string")
        if self.is_declared and text.strip().startswith(_CDATA[0]) and text.strip().endswith(_CDATA[1]):
            text = text.strip()[len(_CDATA[0]) : -len(_CDATA[1])]
        if word == "true":
            return text if self.is_exact else trim(text)
        if word == "false":
            return coerce(text, _ANY)
        schema = scan.tools.property(name, head["name"])
        value = coerce(text, schema)
        if value is text and self.is_typed and not types_of(schema):
            value = coerce(text, _ANY_JSON)
        return value if value is not text or self.is_exact else trim(text)

    def _short(self, scan: Scan, name: str) -> str:
        """Return a name without its namespace where the model only doubles it, or where only so it is declared."""
        space, dot, short = name.rpartition(".")
        if self.is_exact and dot and (space == short or (scan.tools.knows(short) and not scan.tools.knows(name))):
            return short
        return name


def _attributes(cur: Cursor) -> dict[str, str] | None:
    """Return the attributes of a tag, with `/` when it closes itself, and move behind it."""
    text = cur.take(_HEAD).lstrip(_GAP)
    if not cur.has(">"):
        return None
    found = {key: double or single for key, double, single in _ATTRIBUTE.findall(text)}
    return {**found, "/": ""} if text.rstrip().endswith("/") else found


_CLAUDE: Final = _Tags("invoke", "parameter")
_STEP: Final = _Tags("steptml:invoke", "steptml:parameter")
_CPM: Final = _Tags("function", "param", is_declared=True)
_MUSE: Final = _Tags("atem:invoke", "atem:parameter", is_exact=True, is_typed=True)


def _dsml(bar: str) -> Reader:
    """Return the reader of a call whose tags have this text before their names."""
    tags = _Tags(f"{bar}invoke", f"{bar}parameter", is_exact=True)

    def read(cur: Cursor) -> Block | None:
        scan = cur.scan
        if scan.format == _DSML_NAMES[0] and not scan.opened.get(f"</{bar}function_calls>"):
            scan.format = _DSML_NAMES[1]
        return tags.read(cur)

    return read


def _dsml_marks(bar: str) -> tuple[Mark, ...]:
    """Return the marks of all versions; the last one has a blank before the names."""
    openers = (f"<{bar}invoke ", f"<{bar} invoke ")
    words = [f"{bar}{gap}{word}" for gap in ("", " ") for word in _DSML_WORDS]
    return (
        Mark(openers[0], _dsml(bar), _DSML_NAMES[0], _DSML_NAMES[1:]),
        Mark(openers[1], _dsml(f"{bar} "), _DSML_NAMES[2], _DSML_NAMES[:2]),
        *(wrapper(f"<{word}>", f"</{word}>", openers, _DSML_NAMES) for word in words),
    )


def _other_bar(cur: Cursor) -> Block | None:
    """Refuse tags with a bar that no model has: a server has written another character for it."""
    if cur.take(_BAR_NAME).strip() not in ("invoke", *_DSML_WORDS):
        return None
    raise BrokenError(cur.pos, "the marks are DeepSeek's, but for their bars")


def _minimax(cur: Cursor) -> Block | None:
    """Return the block of an `<invoke>`, named after the wrapper around it."""
    for closer, name in _IN_WRAPPER:
        if cur.scan.opened.get(closer) and cur.scan.format == "invoke_xml":
            cur.scan.format = name
    return _CLAUDE.read(cur)


_MUSE_HEAD: Final = re.compile(r"[\w.:/-]*+")


def _addressed(cur: Cursor) -> Block | None:
    """Return the block of a header `to=NAME<|message|>`: only what is addressed to a tool can be a call."""
    to = cur.take(_MUSE_HEAD)
    if not cur.has("<|message|>"):
        return None
    if to in ("self", "user", ""):
        return Block(cur.pos, until=("<|eom|>", "<|eot|>"))
    return Block(cur.pos, closer="<|eom|>")


def _addressed_first(cur: Cursor) -> Block | None:
    """Return the block of a header with which a text begins: the prompt has the rest of it."""
    return None if cur.scan.base + cur.start else _addressed(cur)


def _muse_bare(cur: Cursor) -> Block | None:
    """Return the block of a call that no header addresses, if nothing comes before it."""
    opened = cur.scan.opened
    is_addressed = bool(opened.get("<|eom|>") or opened.get("</atem:function_calls>"))
    return _MUSE.read(cur) if is_addressed else None


def _muse_wrapper(cur: Cursor) -> Block | None:
    scan, end = cur.scan, cur.pos
    if not cur.skip().at("<atem:invoke "):
        return None
    if not scan.opened.get("<|eom|>") and (scan.has_content or scan.format == "muse_glimmer"):
        return None
    return Block(end, closer="</atem:function_calls>")


def _dropped(cur: Cursor) -> Block:
    return Block(cur.pos)


def _collapsed(cur: Cursor) -> Block | None:
    cur.pos = cur.start + len("<function")
    return _CPM.read(cur)


# The bars are wide ones; some servers print plain ones, or double ones.
_BARS: Final = tuple(f"{bar}DSML{bar}" for bar in ("\uff5c", "\uff5c\uff5c", "|", "||"))
_OTHER_BARS: Final = tuple(
    f"{bar}DSML{bar}" for each in "\u2016\u2502\u00a6\u2758\u2223\u01c0\uffe8\u2551" for bar in (each, each * 2)
)
_BAR_NAME: Final = re.compile(r"[ \w]*+")
_DSML_WORDS: Final = ("function_calls", "tool_calls", "calls")
_IN_WRAPPER: Final = (("</minimax:tool_call>", "minimax_m2_invoke"), ("</dots_function_call>", "dots"))
_DSML_NAMES: Final = ("deepseek_v32_dsml", "deepseek_v4_dsml", "deepseek_v41_dsml")
_STEP_INNER: Final = ("<｜tool_call_begin｜>", "<steptml:invoke ")  # noqa: RUF001 -- StepFun's own characters

MARKS: Final = (
    Mark("<invoke ", _minimax, "invoke_xml", ("minimax_m2_invoke", "dots")),
    wrapper("<minimax:tool_call>", "</minimax:tool_call>", ("<invoke ",), ("minimax_m2_invoke",)),
    wrapper("<dots_function_call>", "</dots_function_call>", ("<invoke ",), ("dots",)),
    wrapper("<function_calls>", "</function_calls>", ("<invoke ",), ("invoke_xml",)),
    wrapper("<tool_calls>", "</tool_calls>", ("<invoke ",), ("invoke_xml",)),
    wrapper("<tool_call>", "</tool_call>", ("<invoke ",), ("invoke_xml",)),
    Mark("<function ", _CPM.read, "minicpm5_xml"),
    Mark(f"<function{_GAP}", _CPM.read, "minicpm5_xml"),
    Mark("<functionname=", _collapsed, "minicpm5_xml"),
    wrapper("<tool_call>", "</tool_call>", ("<function ",), ("minicpm5_xml",)),
    Mark("<steptml:invoke ", _STEP.read, "step3"),
    wrapper("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>", _STEP_INNER, ("step3",)),  # noqa: RUF001 -- as above
    wrapper("<｜tool_call_begin｜>function<｜tool_sep｜>", "<｜tool_call_end｜>", _STEP_INNER, ("step3",)),  # noqa: RUF001 -- as above
    *(mark for bar in _BARS for mark in _dsml_marks(bar)),
    *(Mark(f"<{bar}", _other_bar, _DSML_NAMES[0], _DSML_NAMES[1:]) for bar in _OTHER_BARS),
    Mark("<|start|>assistant to=", _addressed, "muse_glimmer", ("muse",)),
    Mark(" to=", _addressed, "muse_glimmer", ("muse",)),
    Mark("to=", _addressed_first, "muse_glimmer", ("muse",), pattern=r"to=(?<=\Ato=)"),
    Mark("<atem:invoke ", _muse_bare, "muse_glimmer", ("muse",)),
    Mark("<atem:function_calls>", _muse_wrapper, "muse_glimmer", closer="</atem:function_calls>"),
    Mark("<atem:function_calls>", _muse_wrapper, "muse", closer="</atem:function_calls>"),
    *(Mark(token, _dropped, "muse_glimmer", ("muse",)) for token in ("<|eom|>", "<|eot|>")),
)
