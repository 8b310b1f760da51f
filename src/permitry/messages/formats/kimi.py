"""Kimi's calls: `kimi_k2` names them `functions.NAME:INDEX`, `kimi_k3` nests everything in `<|open|>` and `<|close|>`.

The name is what is between `functions.` and the index, with blanks and line breaks around it. Clients write these ids
otherwise (`functions_exec_2`, `functionsexec5`): then the only declared tool that fits is called, and the call counts
as repaired. K2 may forget to close its thinking before a section of calls. K3's attributes are unescaped, its values
are not.
"""

import html
import re
from typing import Final

from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark, wrapper
from permitry.messages.formats.scan import BrokenError, Scan, unique
from permitry.messages.formats.tools import Tools
from permitry.messages.formats.values import coerce

__all__ = ["MARKS", "SECTIONS", "is_last_section"]

_ID: Final = re.compile(r"[^<>{}|\n]*+")
_NAMED: Final = re.compile(r"\s*(?:functions\.)?(?P<name>[^\s:][^\s]*):\d{1,9}\s*\Z")
_PREFIX: Final = "functions"
_SIGN: Final = re.compile(r"\W")
_INDEX: Final = re.compile(r"_*+\d{0,9}")
_BEGIN: Final = "<|tool_call_begin|>"
_ARGUMENT, _END = "<|tool_call_argument_begin|>", "<|tool_call_end|>"


# Some servers print the singular.
SECTIONS: Final = ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")
_LAST: Final = "<|im_end|>"


def _k2(cur: Cursor) -> Block | None:
    call_id = cur.skip().take(_ID).strip()
    if not cur.skip().has(_ARGUMENT):
        return None
    arguments = cur.read_arguments(_END)
    name, is_guess = _name(cur.scan.tools, call_id)
    if name is None:
        raise BrokenError(cur.pos, f"`{call_id[:60]}` is not `functions.NAME:INDEX`")
    cur.is_repaired = cur.is_repaired or is_guess
    note = f"`{call_id[:60]}` is taken for a call of `{name}`" if is_guess else None
    return cur.block(name, arguments, call_id=call_id, note=note)


def _name(tools: Tools, call_id: str) -> tuple[str | None, bool]:
    """Return the tool that an id names, or None, and whether only the declared tools tell which one it is."""
    found = _NAMED.match(call_id)
    name = found["name"] if found else None
    if tools.knows(name or "") or (name is not None and not name.startswith(_PREFIX)):
        return name, False
    fitting = [tool for tool in tools.names() if _fits(call_id, tool)]
    return (fitting[0], True) if len(fitting) == 1 else (name, False)


def _fits(call_id: str, tool: str) -> bool:
    """Return whether an id may be that of a call of `tool`: other signs around its name, or in it, or none."""
    text = _SIGN.sub("_", call_id).removeprefix(_PREFIX).strip("_")
    name = _SIGN.sub("_", tool).strip("_")
    return bool(name) and text.startswith(name) and _INDEX.fullmatch(text, len(name)) is not None


def is_last_section(scan: Scan, pos: int) -> bool:
    """Return whether the text from `pos` on is nothing but complete sections of good calls."""
    cur = Cursor(scan, pos, pos)
    try:
        while not scan.is_end(cur.pos):
            _pass_section(cur)
            if cur.skip().has(_LAST):
                cur.skip()
    except BrokenError:
        return False
    return True


def _pass_section(cur: Cursor) -> None:
    """Move behind the section that comes next.

    Raises: `BrokenError` when none does, when a call in it is broken, or when it holds none.
    """
    opener = next(filter(cur.at, SECTIONS), SECTIONS[0])
    cur.need(opener)
    cur.skip().need(_BEGIN)
    while _k2(cur) is not None and cur.skip().has(_BEGIN):
        pass
    cur.need(opener.replace("begin", "end"))


_OPEN, _CLOSE, _SEP = "<|open|>", "<|close|>", "<|sep|>"
_HEAD: Final = re.compile(r"[^<>|]*+")
_ATTRIBUTES: Final = re.compile(r'([\w-]+)="([^"]*)"')


def _k3(cur: Cursor) -> Block | None:
    head = _attributes(cur)
    if head is None or "tool" not in head:
        return None
    found: list[tuple[str, object]] = []
    while cur.skip().has(f"{_OPEN}argument "):
        argument = _attributes(cur)
        if argument is None or "key" not in argument:
            raise BrokenError(cur.pos, "an argument has no key")
        text = cur.until(f"{_CLOSE}argument{_SEP}", "an argument is not closed")
        found.append((argument["key"], coerce(text, {"type": argument.get("type", "string")})))
    cur.need(f"{_CLOSE}call{_SEP}", "the call is not closed")
    return cur.block(head["tool"], unique(found, cur.pos))


def _attributes(cur: Cursor) -> dict[str, str] | None:
    """Return the attributes of an opening mark, and move behind it."""
    pairs = _ATTRIBUTES.findall(cur.take(_HEAD))
    return {key: html.unescape(value) for key, value in pairs} if cur.has(_SEP) else None


def _dropped(cur: Cursor) -> Block:
    return Block(cur.pos)


def _k3_thinking(cur: Cursor) -> Block:
    return Block(cur.pos, until=(f"{_CLOSE}think{_SEP}", f"{_CLOSE}thinking{_SEP}"), is_thinking=True)


MARKS: Final = (
    Mark(_BEGIN, _k2, "kimi_k2"),
    *(wrapper(opener, opener.replace("begin", "end"), (_BEGIN,), ("kimi_k2",)) for opener in SECTIONS),
    Mark(f"{_OPEN}call ", _k3, "kimi_k3"),
    wrapper(f"{_OPEN}tools{_SEP}", f"{_CLOSE}tools{_SEP}", (f"{_OPEN}call ",), ("kimi_k3",)),
    *(Mark(f"{_OPEN}{word}{_SEP}", _k3_thinking, "kimi_k3") for word in ("think", "thinking")),
    *(Mark(f"{side}{word}{_SEP}", _dropped, "kimi_k3") for side in (_OPEN, _CLOSE) for word in ("response", "message")),
)
