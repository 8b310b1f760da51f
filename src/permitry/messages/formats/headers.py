"""Calls in messages with a header that says whom they are addressed to: Harmony's (gpt-oss) and Muse's.

Harmony's recipient comes before the channel or behind it. The prompt may hold the start of the first header.
"""

import re
from typing import Final

from permitry.messages.formats.cursor import Block, BrokenError, Cursor, MoreError
from permitry.messages.formats.tags import Tags
from permitry.messages.formats.values import read_arguments

__all__ = [
    "ENDS",
    "START",
    "read_addressed",
    "read_first_message",
    "read_message",
    "read_muse",
    "read_muse_wrapper",
    "read_other_message",
]

# A header is short; the bound keeps a text of nothing but openings from being read over and over.
_HEAD: Final = re.compile(r"(?:[^<]|<(?!\|(?:message|end|call|return|start)\|>)){0,200}")
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
    head = _head(cur)
    return None if head is None else _message(cur, head)


def read_first_message(cur: Cursor) -> Block | None:
    """Return the block of a message whose header is opened by the prompt."""
    cur.pos = cur.start
    head = _head(cur)
    return None if head is None or not _FIRST.fullmatch(head) else _message(cur, head)


def read_other_message(cur: Cursor) -> Block | None:
    """Return the block of a message of others that the model made up: nothing in it is a call."""
    head = _head(cur)
    if head is None or head.startswith("assistant"):
        return None
    return Block(cur.pos, until=(*ENDS, "<|eom|>", "<|eot|>", START))


def _head(cur: Cursor) -> str | None:
    """Return the header that comes next, and move behind its mark."""
    head = cur.take(_HEAD)
    if cur.is_open and len(cur.text) - cur.pos < len(_MESSAGE):
        raise MoreError
    return head if cur.has(_MESSAGE) else None


def _message(cur: Cursor, head: str) -> Block:
    names, body = set(_TO.findall(head)), cur.pos
    if not names:
        if "analysis" in head:
            return Block(body, until=(*ENDS, START), is_thinking=True)
        return Block(body)
    if len(names) > 1:
        return _refuse(body, "the message has two recipients")
    if not cur.skip().at("{"):
        return _refuse(body, "the arguments are not a JSON object")
    arguments, end = read_arguments(cur, within=ENDS[0]), cur.pos
    if any(map(cur.skip().has, ENDS)):
        return cur.block(names.pop(), arguments)
    if not cur.is_end(cur.pos) and not cur.at(START):
        raise BrokenError(end, f"`{ENDS[0]}` is missing")
    after, cur.pos = cur.pos, end
    return Block(after, (cur.call(names.pop(), arguments),), note=f"`{ENDS[0]}` is missing")


def _refuse(body: int, message: str) -> Block:
    """Return the block of a message to a tool that holds no call."""
    return Block(body, until=(*ENDS, START), note=message, is_broken=True)


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
    if not cur.opened.get("<|eom|>") and (cur.has_content or cur.format == "muse_glimmer"):
        return None
    return Block(end, closer="</atem:function_calls>")
