"""Harmony's calls (gpt-oss): a message to `functions.NAME`, with JSON for its text; and PLaMo 3's, tag by tag."""

import re
from typing import Final

from permitry.messages.formats._literal import read_value
from permitry.messages.formats._mark import Block, Mark, wrapper
from permitry.messages.formats._scan import BrokenError, MoreError, Scan

__all__ = ["MARKS"]

# A header is short; the bound keeps a text of nothing but openings from being read over and over.
_HEAD: Final = re.compile(r"(?:[^<\n]|<(?!\|(?:message|end|call|return|start)\|>)){0,200}+")
_TO: Final = re.compile(r"to=(?:functions\.)?([^\s<>]+)")
_MESSAGE: Final = "<|message|>"
_ENDS: Final = ("<|call|>", "<|end|>", "<|return|>")


def _read(scan: Scan, start: int, pos: int) -> Block | None:
    """Return the block of a message: a call, reasoning, or text without its header."""
    end = scan.run(_HEAD, pos)
    if scan.is_open and len(scan.text) - end < len(_MESSAGE):
        raise MoreError
    if not scan.at(_MESSAGE, end):
        return None
    head = scan.text[pos:end]
    body = end + len(_MESSAGE)
    to = _TO.search(head)
    if to is None:
        if "analysis" in head:
            return Block(body, until=(*_ENDS, "<|start|>"), is_thinking=True)
        return Block(body)
    body = scan.skip(body)
    if not scan.at("{", body):
        raise BrokenError(body, "the arguments are no JSON object")
    value, end, is_repaired = read_value(scan, body, _ENDS[0])
    name = to.group(1)
    after = scan.skip(end)
    for mark in _ENDS:
        if scan.at(mark, after):
            return Block(
                after + len(mark), (scan.call(name, value, start, after + len(mark), is_repaired=is_repaired),)
            )
    if not scan.is_end(after) and not scan.at("<|start|>", after):
        raise BrokenError(end, f"`{_ENDS[0]}` is missing")
    return Block(after, (scan.call(name, value, start, end, is_repaired=is_repaired),), note=f"`{_ENDS[0]}` is missing")


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
        raise BrokenError(pos, "the arguments are no JSON object")
    value, end, is_repaired = read_value(scan, pos, _tag("end_tool_arguments"))
    for word in ("end_tool_arguments", "end_tool_request"):
        end = scan.need(_tag(word), scan.skip(end), f"`{_tag(word)}` is missing")
    return Block(end, (scan.call(name, value, start, end, is_repaired=is_repaired),))


_NAMES: Final = ("harmony", ("beam_harmony",))

MARKS: Final = (
    Mark("<|channel|>", _read, *_NAMES),
    Mark("<|start|>assistant", _read, *_NAMES),
    *(Mark(token, _dropped, *_NAMES) for token in _ENDS),
    Mark(_REQUEST, _plamo, "plamo3"),
    wrapper(_tag("begin_tool_requests"), _tag("end_tool_requests"), (_REQUEST,), ("plamo3",)),
)
