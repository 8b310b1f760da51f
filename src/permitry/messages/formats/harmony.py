"""Harmony's calls (gpt-oss): a message to `functions.NAME`, with JSON for its text; and PLaMo 3's, tag by tag.

The recipient comes before the channel or behind it. The prompt may hold the start of the first header.
"""

import re
from typing import Final

from permitry.messages.formats._literal import read_value
from permitry.messages.formats.mark import Block, Mark, wrapper
from permitry.messages.formats.scan import BrokenError, MoreError, Scan

__all__ = ["MARKS"]

# A header is short; the bound keeps a text of nothing but openings from being read over and over.
_HEAD: Final = re.compile(r"(?:[^<]|<(?!\|(?:message|end|call|return|start)\|>)){0,200}")
_TO: Final = re.compile(r"to=(?:functions\.)?([^\s<>]+)")
_FIRST: Final = re.compile(
    r"(?:assistant)?(?:\s?to=[^\s<>]+)?\s?(?:<\|channel\|>)?\s?(?:analysis|commentary|final)(?![\w-])[^<]*"
    r"(?:<\|constrain\|>[^<]*)?"
)
_MESSAGE: Final = "<|message|>"
_START: Final = "<|start|>"
_ENDS: Final = ("<|call|>", "<|end|>", "<|return|>")


def _read(scan: Scan, start: int, pos: int) -> Block | None:
    """Return the block of a message: a call, reasoning, or text without its header."""
    end = _end_of_head(scan, pos)
    return None if end is None else _message(scan, start, scan.text[pos:end], end + len(_MESSAGE))


def _first(scan: Scan, start: int, _: int) -> Block | None:
    """Return the block of a message with which a text begins: the prompt has the mark that opens its header."""
    end = None if scan.base + start else _end_of_head(scan, start)
    if end is None or not _FIRST.fullmatch(scan.text, start, end):
        return None
    return _message(scan, start, scan.text[start:end], end + len(_MESSAGE))


def _other(scan: Scan, _: int, pos: int) -> Block | None:
    """Return the block of a message of the user, or of a tool, which the model has made up: nothing in it is a call."""
    end = _end_of_head(scan, pos)
    if end is None or scan.at("assistant", pos):
        return None
    return Block(end + len(_MESSAGE), until=(*_ENDS, "<|eom|>", "<|eot|>", _START))


def _end_of_head(scan: Scan, pos: int) -> int | None:
    end = scan.run(_HEAD, pos)
    if scan.is_open and len(scan.text) - end < len(_MESSAGE):
        raise MoreError
    return end if scan.at(_MESSAGE, end) else None


def _message(scan: Scan, start: int, head: str, body: int) -> Block:
    names = set(_TO.findall(head))
    if not names:
        if "analysis" in head:
            return Block(body, until=(*_ENDS, _START), is_thinking=True)
        return Block(body)
    if len(names) > 1:
        return _refused(body, "the message has two recipients")
    begin = scan.skip(body)
    if not scan.at("{", begin):
        return _refused(body, "the arguments are not a JSON object")
    value, end, is_repaired = read_value(scan, begin, _ENDS[0])
    name, after = names.pop(), scan.skip(end)
    for mark in _ENDS:
        if scan.at(mark, after):
            end = after + len(mark)
            return Block(end, (scan.call(name, value, start, end, is_repaired=is_repaired),))
    if not scan.is_end(after) and not scan.at(_START, after):
        raise BrokenError(end, f"`{_ENDS[0]}` is missing")
    return Block(after, (scan.call(name, value, start, end, is_repaired=is_repaired),), note=f"`{_ENDS[0]}` is missing")


def _refused(body: int, message: str) -> Block:
    """Return the block of a message to a tool that is not a call, and in which nothing else is one."""
    return Block(body, until=(*_ENDS, _START), note=message, is_broken=True)


def _dropped(_: Scan, __: int, pos: int) -> Block:
    return Block(pos)


def _tag(word: str) -> str:
    return f"<|plamo:{word}:plamo|>"


_REQUEST: Final = _tag("begin_tool_request")


def _plamo(scan: Scan, start: int, pos: int) -> Block | None:
    pos = scan.skip(pos)
    if not scan.at(_tag("begin_tool_name"), pos):
        return None
    pos += len(_tag("begin_tool_name"))
    end = scan.find(_tag("end_tool_name"), pos)
    if end < 0:
        raise BrokenError(pos, "the name is not closed")
    name = scan.text[pos:end].strip()
    pos = scan.skip(end + len(_tag("end_tool_name")))
    pos = scan.skip(scan.need(_tag("begin_tool_arguments"), pos, "the call has no arguments"))
    if not scan.at("{", pos):
        raise BrokenError(pos, "the arguments are not a JSON object")
    value, end, is_repaired = read_value(scan, pos, _tag("end_tool_arguments"))
    for word in ("end_tool_arguments", "end_tool_request"):
        end = scan.need(_tag(word), scan.skip(end), f"`{_tag(word)}` is missing")
    return Block(end, (scan.call(name, value, start, end, is_repaired=is_repaired),))


_NAMES: Final = ("harmony", ("beam_harmony",))

MARKS: Final = (
    Mark("<|channel|>", _read, *_NAMES),
    Mark(f"{_START}assistant", _read, *_NAMES),
    Mark(_START, _other, *_NAMES),
    *(
        Mark(word, _first, *_NAMES, pattern=rf"{re.escape(word)}(?<=\A{re.escape(word)})")
        for word in ("to=", " to=", "assistant", "analysis", "commentary", "final")
    ),
    *(Mark(token, _dropped, *_NAMES) for token in _ENDS),
    Mark(_REQUEST, _plamo, "plamo3"),
    wrapper(_tag("begin_tool_requests"), _tag("end_tool_requests"), (_REQUEST,), ("plamo3",)),
)
