"""Calls whose arguments are literals: Python's `[f(a="x", n=1)]`, bare or between marks, and Gemma's `call:f{a:1}`.

Nothing is evaluated. Without marks around it, a list must be the whole content, or call declared tools only. Gemma's
strings are between two marks of its own, and its brackets may be round, as in Python; then every value is a literal.
"""

import re
from typing import Final

from permitry.messages.formats.arguments import types_of
from permitry.messages.formats.cursor import Block, BrokenError, Cursor, Reader, TextCall, unique
from permitry.messages.formats.values import PYTHON, Dialect, read_literal

__all__ = ["gemma_block", "python_block", "read_bare_python"]

_NAME: Final = re.compile(r"[^\W\d][\w.-]*+")
_TOKEN: Final = re.compile(r"[\w.+-]*+")
_PADDED: Final = re.compile(r"0\d+\Z")
_BETWEEN: Final = re.compile(r"[\s,;]*+")
_END_TOKENS: Final = ("<|eom_id|>", "<|eot_id|>", "<|im_end|>", "</s>")


def python_block(*closers: str) -> Reader:
    """Return a reader of calls, in a list or one after another, up to one of `closers`."""

    def read(cur: Cursor) -> Block | None:
        is_list = cur.skip().has("[")
        if is_list and cur.skip().has("]"):
            return Block(cur.pos) if any(map(cur.skip().has, closers)) else None
        if not is_list and any(map(cur.has, closers)):
            return Block(cur.pos)
        if not _is_name(cur):
            return None
        return cur.close(_calls(cur, is_list=is_list), closers)

    return read


def read_bare_python(cur: Cursor) -> Block | None:
    """Return the block of a list of calls that nothing marks."""
    if cur.code is not None or cur.is_doubtful or not _is_name(cur.skip()):
        return None
    try:
        calls, end = _calls(cur, is_list=True), cur.pos
    except BrokenError as error:
        raise BrokenError(error.end) from None
    if all(call.is_known for call in calls):
        return Block(end, calls)
    cur.skip()
    for token in _END_TOKENS:
        if cur.has(token):
            cur.skip()
    if cur.has_content or cur.tools.is_given or not cur.is_end(cur.pos):
        raise BrokenError(end)
    return Block(end, calls)


def _is_name(cur: Cursor) -> bool:
    """Return whether a name and an opening bracket come next."""
    end = cur.run(_NAME, cur.pos)
    return end > cur.pos and cur.at("(", end)


def _calls(cur: Cursor, *, is_list: bool) -> tuple[TextCall, ...]:
    """Move behind the calls that come next, and behind the end of the list; return the calls."""
    calls: list[TextCall] = []
    while True:
        calls.append(_call(cur))
        if is_list:
            if cur.skip().has("]"):
                return tuple(calls)
            cur.need(",", "a comma is missing between two calls")
            if cur.skip().has("]"):
                return tuple(calls)
        else:
            end = cur.pos
            cur.take(_BETWEEN)
            if not _is_name(cur):
                cur.pos = end
                return tuple(calls)
        cur.start = cur.pos


def _call(cur: Cursor) -> TextCall:
    name = cur.take(_NAME)
    cur.need("(", "a call has no brackets")
    found: list[tuple[str, object]] = []
    while not cur.skip().has(")"):
        key = cur.take(_NAME)
        cur.skip().need("=", "an argument has no name")
        found.append((key, _value(cur.skip(), cur.tools.property(name, key))))
        cur.require(cur.skip().has(",") or cur.at(")"), "a comma or a closing bracket is missing")
    return cur.call(name, unique(found, cur.pos - 1))


def _value(cur: Cursor, schema: object) -> object:
    """Move behind the literal that comes next, and return it.

    Digits with zeros in front are text where only text is asked for.
    """
    begin = cur.pos
    token = cur.take(_TOKEN)
    if _PADDED.match(token) and types_of(schema) == {"string"}:
        return token
    cur.pos = begin
    return read_literal(cur, PYTHON)


_GEMMA_NAME: Final = re.compile(r"[^\s<>{}()]*+")


def gemma_block(quote: str, closer: str) -> Reader:
    """Return a reader of `call:NAME{key:value}`, whose strings are between two of `quote`."""
    curly = Dialect(quotes=('"',), raw=(quote,), is_loose=True, has_bare_keys=True)
    round_ = Dialect(raw=(quote,), has_bare_keys=True, colons=(":", "="), is_round=True)

    def read(cur: Cursor) -> Block | None:
        if not cur.skip().has("call:"):
            return None
        name = cur.take(_GEMMA_NAME)
        is_round = cur.at("(")
        cur.require(is_round or cur.at("{"), "the call has no arguments")
        arguments = read_literal(cur, round_ if is_round else curly)
        cur.skip().need(closer)
        return cur.block(name, arguments)

    return read
