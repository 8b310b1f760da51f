"""Kimi's calls: `kimi_k2` names them `functions.NAME:INDEX`, `kimi_k3` nests everything in `<|open|>` and `<|close|>`.

The name is what stands between `functions.` and the index. K3's attributes are unescaped, its values are not.
"""

import html
import re
from typing import Final

from permitry.messages.formats._coerce import coerce
from permitry.messages.formats._literal import read_value
from permitry.messages.formats._mark import Block, Mark, wrapper
from permitry.messages.formats._scan import BrokenError, Scan, unique

__all__ = ["MARKS"]

_ID: Final = re.compile(r"[^<>{}|\n]*+")
_NAMED: Final = re.compile(r"\s*(?:functions\.)?(?P<name>[^\s:][^\s]*):\d{1,9}\s*\Z")
_BEGIN, _SECTION = "<|tool_call_begin|>", "<|tool_calls_section_begin|>"
_ARGUMENT, _END = "<|tool_call_argument_begin|>", "<|tool_call_end|>"


def _k2(scan: Scan, start: int, pos: int) -> Block | None:
    end = scan.run(_ID, pos)
    if not scan.at(_ARGUMENT, end):
        return None
    call_id = scan.text[pos:end].strip()
    found = _NAMED.match(call_id)
    pos = scan.skip(end + len(_ARGUMENT))
    if not scan.at("{", pos):
        raise BrokenError(pos, "the arguments are no JSON object")
    value, end, is_repaired = read_value(scan, pos, _END)
    end = scan.need(_END, scan.skip(end), f"`{_END}` is missing")
    if found is None:
        raise BrokenError(end, f"`{call_id[:60]}` is not `functions.NAME:INDEX`")
    return Block(end, (scan.call(found["name"], value, start, end, call_id=call_id, is_repaired=is_repaired),))


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
    wrapper(_SECTION, "<|tool_calls_section_end|>", (_BEGIN,), ("kimi_k2",)),
    Mark(f"{_OPEN}call ", _k3, "kimi_k3"),
    wrapper(f"{_OPEN}tools{_SEP}", f"{_CLOSE}tools{_SEP}", (f"{_OPEN}call ",), ("kimi_k3",)),
    *(Mark(f"{_OPEN}{word}{_SEP}", _k3_thinking, "kimi_k3") for word in ("think", "thinking")),
    *(Mark(f"{side}{word}{_SEP}", _dropped, "kimi_k3") for side in (_OPEN, _CLOSE) for word in ("response", "message")),
)
