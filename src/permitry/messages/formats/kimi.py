"""Kimi's calls: `kimi_k2` names them `functions.NAME:INDEX`, `kimi_k3` nests everything in `<|open|>` and `<|close|>`.

The name is what is between `functions.` and the index, with blanks and line breaks around it. Clients write these ids
otherwise (`functions_exec_2`, `functionsexec5`): then the only declared tool that fits is called, and the call counts
as repaired. K2 may forget to close its thinking before a section of calls. K3's attributes are unescaped, its values
are not.
"""

import html
import re
from typing import Final

from permitry.messages.formats._coerce import coerce
from permitry.messages.formats._literal import read_value
from permitry.messages.formats.mark import Block, Mark, wrapper
from permitry.messages.formats.scan import BrokenError, Scan, unique
from permitry.messages.formats.tools import Tools

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


def _k2(scan: Scan, start: int, pos: int) -> Block | None:
    begin = scan.skip(pos)
    end = scan.run(_ID, begin)
    pos = scan.skip(end)
    if not scan.at(_ARGUMENT, pos):
        return None
    call_id = scan.text[begin:end].strip()
    name, is_guess = _name(scan.tools, call_id)
    pos = scan.skip(pos + len(_ARGUMENT))
    if not scan.at("{", pos):
        raise BrokenError(pos, "the arguments are not a JSON object")
    value, end, is_repaired = read_value(scan, pos, _END)
    end = scan.need(_END, scan.skip(end), f"`{_END}` is missing")
    if name is None:
        raise BrokenError(end, f"`{call_id[:60]}` is not `functions.NAME:INDEX`")
    is_repaired = is_repaired or is_guess
    call = scan.call(name, value, start, end, call_id=call_id, is_repaired=is_repaired)
    return Block(end, (call,), note=f"`{call_id[:60]}` is taken for a call of `{name}`" if is_guess else None)


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
    try:
        while not scan.is_end(pos):
            pos = scan.skip(_end_of_section(scan, pos))
            pos = scan.skip(pos + len(_LAST)) if scan.at(_LAST, pos) else pos
    except BrokenError:
        return False
    return True


def _end_of_section(scan: Scan, pos: int) -> int:
    """Return the end of the section that begins at `pos`.

    Raises: `BrokenError` when none does, when a call in it is broken, or when it holds none.
    """
    opener = next((each for each in SECTIONS if scan.at(each, pos)), SECTIONS[0])
    pos = scan.skip(scan.need(opener, pos, "a section is missing"))
    while True:
        block = _k2(scan, pos, scan.need(_BEGIN, pos, "a call is missing"))
        pos = pos if block is None else scan.skip(block.end)
        if block is None or not scan.at(_BEGIN, pos):
            return scan.need(opener.replace("begin", "end"), pos, "the section is not closed")


_OPEN, _CLOSE, _SEP = "<|open|>", "<|close|>", "<|sep|>"
_HEAD: Final = re.compile(r"[^<>|]*+")
_ATTRIBUTES: Final = re.compile(r'([\w-]+)="([^"]*)"')


def _k3(scan: Scan, start: int, pos: int) -> Block | None:
    head, pos = _opened(scan, pos)
    if head is None or "tool" not in head:
        return None
    found: list[tuple[str, object]] = []
    pos = scan.skip(pos)
    while scan.at(f"{_OPEN}argument ", pos):
        argument, pos = _opened(scan, pos + len(f"{_OPEN}argument"))
        if argument is None or "key" not in argument:
            raise BrokenError(pos, "an argument has no key")
        end = scan.find(f"{_CLOSE}argument{_SEP}", pos)
        if end < 0:
            raise BrokenError(pos, "an argument is not closed")
        kind = argument.get("type", "string")
        found.append((argument["key"], coerce(scan.text[pos:end], {"type": kind})))
        pos = scan.skip(end + len(f"{_CLOSE}argument{_SEP}"))
    end = scan.need(f"{_CLOSE}call{_SEP}", pos, "the call is not closed")
    return Block(end, (scan.call(head["tool"], unique(found, end), start, end),))


def _opened(scan: Scan, pos: int) -> tuple[dict[str, str] | None, int]:
    """Return the attributes of an opening mark, and the place after it."""
    end = scan.run(_HEAD, pos)
    if not scan.at(_SEP, end):
        return None, end
    pairs = _ATTRIBUTES.findall(scan.text[pos:end])
    return {key: html.unescape(value) for key, value in pairs}, end + len(_SEP)


def _dropped(_: Scan, __: int, pos: int) -> Block:
    return Block(pos)


def _k3_thinking(_: Scan, __: int, pos: int) -> Block:
    return Block(pos, until=(f"{_CLOSE}think{_SEP}", f"{_CLOSE}thinking{_SEP}"), is_thinking=True)


MARKS: Final = (
    Mark(_BEGIN, _k2, "kimi_k2"),
    *(wrapper(opener, opener.replace("begin", "end"), (_BEGIN,), ("kimi_k2",)) for opener in SECTIONS),
    Mark(f"{_OPEN}call ", _k3, "kimi_k3"),
    wrapper(f"{_OPEN}tools{_SEP}", f"{_CLOSE}tools{_SEP}", (f"{_OPEN}call ",), ("kimi_k3",)),
    *(Mark(f"{_OPEN}{word}{_SEP}", _k3_thinking, "kimi_k3") for word in ("think", "thinking")),
    *(Mark(f"{side}{word}{_SEP}", _dropped, "kimi_k3") for side in (_OPEN, _CLOSE) for word in ("response", "message")),
)
