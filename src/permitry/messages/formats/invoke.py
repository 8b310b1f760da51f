"""Calls between `<invoke name="NAME">` and `</invoke>`, in the prefixes and wrappers of many models.

Values are text up to the closing tag after which the next parameter or the end of the call follows. DeepSeek says with
`string="true"` what is text; elsewhere the schema does. MiniCPM's values may be in CDATA, and its calls name only
declared arguments. A body of one JSON object counts as the arguments.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from permitry.messages.formats._coerce import coerce, trimmed, types_of
from permitry.messages.formats.mark import Block, Mark, Reader, wrapper
from permitry.messages.formats.scan import BrokenError, Scan, unique

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

    def read(self, scan: Scan, start: int, pos: int) -> Block | None:
        """Return the block of one call."""
        head, pos = self._head(scan, pos)
        name = (head or {}).get("name", "")
        if head is None:
            return None
        if not name:
            raise BrokenError(pos, "a call has no name")
        if "/" in head:
            return Block(pos, (scan.call(self._named(scan, name), {}, start, pos),))
        pos = scan.skip(pos)
        if scan.at("{", pos):
            arguments, pos = scan.read_json(pos, f"</{self.call}>")
            pos = scan.skip(pos)
        else:
            arguments, pos = self._parameters(scan, pos, name)
        end = scan.need(f"</{self.call}>", pos, f"`</{self.call}>` is missing")
        return Block(end, (scan.call(self._named(scan, name), arguments, start, end),))

    def _parameters(self, scan: Scan, pos: int, name: str) -> tuple[dict[str, object], int]:
        found: list[tuple[str, object]] = []
        while scan.at(f"<{self.parameter}", pos):
            begin = pos
            head, pos = self._head(scan, pos + len(self.parameter) + 1)
            if head is None or not head.get("name"):
                raise BrokenError(max(pos, begin + 1), "a parameter has no name")
            end, after = scan.find_before(f"</{self.parameter}>", self.following, pos)
            if end < 0:
                raise BrokenError(pos, f"`</{self.parameter}>` is missing")
            if self.is_declared and scan.tools.lacks(name, head["name"]):
                raise BrokenError(after, f"`{name[:60]}` has no argument `{head['name'][:60]}`")
            found.append((head["name"], self._value(scan, scan.text[pos:end], head, self._named(scan, name))))
            pos = after
        return unique(found, pos), pos

    def _value(self, scan: Scan, text: str, head: Mapping[str, str], name: str) -> Any:  # noqa: ANN401 -- any JSON
        word = head.get("string")
        if self.is_declared and text.strip().startswith(_CDATA[0]) and text.strip().endswith(_CDATA[1]):
            text = text.strip()[len(_CDATA[0]) : -len(_CDATA[1])]
        if word == "true":
            return text if self.is_exact else trimmed(text)
        if word == "false":
            return coerce(text, _ANY)
        schema = scan.tools.property(name, head["name"])
        value = coerce(text, schema)
        if value is text and self.is_typed and not types_of(schema):
            value = coerce(text, _ANY_JSON)
        return value if value is not text or self.is_exact else trimmed(text)

    def _head(self, scan: Scan, pos: int) -> tuple[dict[str, str] | None, int]:
        """Return the attributes of a tag, with `/` when it closes itself, and the place after it."""
        end = scan.run(_HEAD, pos)
        if not scan.at(">", end):
            return None, end
        text = scan.text[pos:end].lstrip(_GAP)
        found = {key: double or single for key, double, single in _ATTRIBUTE.findall(text)}
        if text.rstrip().endswith("/"):
            found["/"] = ""
        return found, end + 1

    def _named(self, scan: Scan, name: str) -> str:
        """Return a name without its namespace where the model only doubles it, or where only so it is declared."""
        space, dot, short = name.rpartition(".")
        if self.is_exact and dot and (space == short or (scan.tools.knows(short) and not scan.tools.knows(name))):
            return short
        return name


_CLAUDE: Final = _Tags("invoke", "parameter")
_STEP: Final = _Tags("steptml:invoke", "steptml:parameter")
_CPM: Final = _Tags("function", "param", is_declared=True)
_MUSE: Final = _Tags("atem:invoke", "atem:parameter", is_exact=True, is_typed=True)


def _dsml(bar: str) -> Reader:
    """Return the reader of a call whose tags have this text before their names."""
    tags = _Tags(f"{bar}invoke", f"{bar}parameter", is_exact=True)

    def read(scan: Scan, start: int, pos: int) -> Block | None:
        if scan.format == _DSML_NAMES[0] and not scan.opened.get(f"</{bar}function_calls>"):
            scan.format = _DSML_NAMES[1]
        return tags.read(scan, start, pos)

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


def _other_bar(scan: Scan, _: int, pos: int) -> Block | None:
    """Refuse tags with a bar that no model has: a server has written another character for it."""
    end = scan.run(_BAR_NAME, pos)
    if scan.text[pos:end].strip() not in ("invoke", *_DSML_WORDS):
        return None
    raise BrokenError(end, "the marks are DeepSeek's, but for their bars")


def _minimax(scan: Scan, start: int, pos: int) -> Block | None:
    """Return the block of an `<invoke>`, named after the wrapper around it."""
    for closer, name in _IN_WRAPPER:
        if scan.opened.get(closer) and scan.format == "invoke_xml":
            scan.format = name
    return _CLAUDE.read(scan, start, pos)


_MUSE_HEAD: Final = re.compile(r"[\w.:/-]*+")


def _addressed(scan: Scan, _: int, pos: int) -> Block | None:
    """Return the block of a header `to=NAME<|message|>`: only what is addressed to a tool can be a call."""
    end = scan.run(_MUSE_HEAD, pos)
    if not scan.at("<|message|>", end):
        return None
    to = scan.text[pos:end]
    end += len("<|message|>")
    if to in ("self", "user", ""):
        return Block(end, until=("<|eom|>", "<|eot|>"))
    return Block(end, closer="<|eom|>")


def _addressed_first(scan: Scan, start: int, pos: int) -> Block | None:
    """Return the block of a header with which a text begins: the prompt has the rest of it."""
    return None if scan.base + start else _addressed(scan, start, pos)


def _muse_bare(scan: Scan, start: int, pos: int) -> Block | None:
    """Return the block of a call that no header addresses, if nothing comes before it."""
    is_addressed = bool(scan.opened.get("<|eom|>") or scan.opened.get("</atem:function_calls>"))
    return _MUSE.read(scan, start, pos) if is_addressed else None


def _muse_wrapper(scan: Scan, _: int, pos: int) -> Block | None:
    if not scan.at("<atem:invoke ", scan.skip(pos)):
        return None
    if not scan.opened.get("<|eom|>") and (scan.has_content or scan.format == "muse_glimmer"):
        return None
    return Block(pos, closer="</atem:function_calls>")


def _dropped(_: Scan, __: int, pos: int) -> Block:
    return Block(pos)


def _collapsed(scan: Scan, start: int, _: int) -> Block | None:
    return _CPM.read(scan, start, start + len("<function"))


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
