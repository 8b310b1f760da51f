"""Harmony's calls (gpt-oss): a message to `functions.NAME`, with JSON for its text; and PLaMo 3's, tag by tag.

The recipient comes before the channel or behind it. The prompt may hold the start of the first header.
"""

import re
from typing import Final

from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark, wrapper
from permitry.messages.formats.scan import BrokenError, MoreError

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


def _read(cur: Cursor) -> Block | None:
    """Return the block of a message: a call, reasoning, or text without its header."""
    head = _head(cur)
    return None if head is None else _message(cur, head)


def _first(cur: Cursor) -> Block | None:
    """Return the block of a message with which a text begins: the prompt has the mark that opens its header."""
    if cur.scan.base + cur.start:
        return None
    cur.pos = cur.start
    head = _head(cur)
    return None if head is None or not _FIRST.fullmatch(head) else _message(cur, head)


def _other(cur: Cursor) -> Block | None:
    """Return the block of a message of the user, or of a tool, which the model has made up: nothing in it is a call."""
    head = _head(cur)
    if head is None or head.startswith("assistant"):
        return None
    return Block(cur.pos, until=(*_ENDS, "<|eom|>", "<|eot|>", _START))


def _head(cur: Cursor) -> str | None:
    """Return the header that comes next, and move behind its mark."""
    head = cur.take(_HEAD)
    if cur.scan.is_open and len(cur.scan.text) - cur.pos < len(_MESSAGE):
        raise MoreError
    return head if cur.has(_MESSAGE) else None


def _message(cur: Cursor, head: str) -> Block:
    names, body = set(_TO.findall(head)), cur.pos
    if not names:
        if "analysis" in head:
            return Block(body, until=(*_ENDS, _START), is_thinking=True)
        return Block(body)
    if len(names) > 1:
        return _refused(body, "the message has two recipients")
    if not cur.skip().at("{"):
        return _refused(body, "the arguments are not a JSON object")
    arguments, end = cur.read_object(_ENDS[0]), cur.pos
    if any(map(cur.skip().has, _ENDS)):
        return cur.block(names.pop(), arguments)
    if not cur.scan.is_end(cur.pos) and not cur.at(_START):
        raise BrokenError(end, f"`{_ENDS[0]}` is missing")
    after, cur.pos = cur.pos, end
    return Block(after, (cur.call(names.pop(), arguments),), note=f"`{_ENDS[0]}` is missing")


def _refused(body: int, message: str) -> Block:
    """Return the block of a message to a tool that is not a call, and in which nothing else is one."""
    return Block(body, until=(*_ENDS, _START), note=message, is_broken=True)


def _dropped(cur: Cursor) -> Block:
    return Block(cur.pos)


def _tag(word: str) -> str:
    return f"<|plamo:{word}:plamo|>"


_REQUEST: Final = _tag("begin_tool_request")


def _plamo(cur: Cursor) -> Block | None:
    if not cur.skip().has(_tag("begin_tool_name")):
        return None
    name = cur.until(_tag("end_tool_name"), "the name is not closed").strip()
    cur.skip().need(_tag("begin_tool_arguments"), "the call has no arguments")
    return cur.block(name, cur.read_arguments(_tag("end_tool_arguments"), _tag("end_tool_request")))


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
