"""Calls in JSON that names its tool, between marks or without any.

A block between marks holds one object, several after one another, or a list. Its closing mark may be missing only where
the text ends: the JSON is complete then. What is in a JSON string is text, whatever mark it looks like.

JSON that nothing marks must be a call beyond doubt: a string for the name, an object for the arguments, no key a call
does not have, every value of a run of values a call, and, when tools are given, a declared name. In a fence of another
language than JSON it is code.
"""

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Final

import attrs

from permitry.messages.formats.call import Block, TextCall
from permitry.messages.formats.cursor import BrokenError, Cursor, Reader
from permitry.messages.formats.json_text import end_of_broken, read_value, try_json
from permitry.messages.formats.values import Named, name_all

__all__ = ["DATA_FENCES", "json_block", "read_bare_json", "read_fence"]

_BETWEEN: Final = re.compile(r"[\s;,]*+")

# Between marks


def json_block(
    *closers: str, is_closer_needed: bool = True, needs_arguments: bool = True, is_keyed: bool = False
) -> Reader:
    """Return a reader of JSON calls up to one of the `closers`; `is_keyed` is for `{"NAME": {ARGUMENTS}}`."""

    def read(cur: Cursor) -> Block | None:
        if _object_at(cur.skip()) < 0:
            return None
        start, pos = cur.start, cur.pos
        if is_closer_needed and len(closers) == 1:
            # An open text is waited for, up to the mark.
            cur.find(closers[0], pos)
        try:
            calls, why = _read_calls(cur, closers, needs_arguments=needs_arguments, is_keyed=is_keyed)
        except BrokenError as error:
            if error.is_in_string:
                raise
            raise BrokenError(_broken_end(cur, start, pos, error.end, closers), error.message) from None
        found = cur.close(calls, closers, is_needed=is_closer_needed and bool(closers))
        return attrs.evolve(found, note=why, is_broken=True) if why else found

    return read


def _object_at(cur: Cursor) -> int:
    """Return where an object comes next, or the first one of a list, or -1."""
    pos = cur.blank_end(cur.pos + 1) if cur.at("[") else cur.pos
    return pos if cur.at("{", pos) else -1


def _broken_end(cur: Cursor, start: int, pos: int, end: int, closers: Sequence[str]) -> int:
    """Return the end of a broken block: its closing mark, if that comes before the next opening one."""
    if len(closers) != 1:
        return end
    at = cur.find(closers[0], end)
    other = cur.text.find(cur.text[start:pos].strip(), end, max(at, end))
    return at + len(closers[0]) if at >= 0 and other < 0 else end


def _read_calls(
    cur: Cursor, closers: Sequence[str], *, needs_arguments: bool, is_keyed: bool
) -> tuple[tuple[TextCall, ...], str | None]:
    """Move behind the JSON values that come next; return their calls, and why one of the values is not a call.

    Raises: `BrokenError` for broken JSON, or when none of the values is a call.
    """
    calls: list[TextCall] = []
    refused: str | None = None
    while True:
        cur.is_repaired = False
        value = read_value(cur, next(iter(closers), None))
        found, why = _keyed(value) if is_keyed else name_all(value, needs_arguments=needs_arguments)
        refused = refused or why
        calls += [cur.call(name, arguments, call_id=call_id) for name, arguments, call_id in found]
        end = cur.pos
        cur.take(_BETWEEN)
        if not cur.at("{"):
            cur.pos = end
            break
        cur.start = cur.pos
    if not calls:
        raise BrokenError(end, refused or "")
    return tuple(calls), refused


def _keyed(value: object) -> tuple[list[Named], str | None]:
    pairs: list[tuple[str, object]] = []
    for item in value if isinstance(value, list) else [value]:
        pairs += item.items() if isinstance(item, dict) else [("", None)]
    good = [(name, arguments, None) for name, arguments in pairs if name and isinstance(arguments, dict)]
    return list(good), None if good and len(good) == len(pairs) else "not a list of `{NAME: ARGUMENTS}`"


# Without marks

_LANGUAGE: Final = re.compile(r"[\w+-]*+")
DATA_FENCES: Final = frozenset({"", "json", "json5", "jsonc", "tool", "tool_call", "tool_calls", "text", "xml"})
_CALL_LIKE: Final = re.compile(r'[\[\s]*\{\s*"(?:name|tool|function|tool_name|action)"')
# Before a value of these it is part of a larger one that was broken, and nothing of that is a call.
_INSIDE: Final = ('":', "':", "},", "],")
_FINAL: Final = ["final", "answer"]
_AUTO: Final = "bare_json"
_FENCED: Final = MappingProxyType({"json_object": "json_fence"})


def read_bare_json(cur: Cursor) -> Block | None:
    """Return the block of the JSON values that begin with the mark."""
    start = cur.start
    if cur.code is not None and cur.code not in DATA_FENCES:
        return None
    if cur.is_doubtful or cur.before(start).rstrip().endswith(_INSIDE):
        raise BrokenError(start + 1)
    cur.pos = start
    return _read_run(cur)


def _read_run(cur: Cursor) -> Block:
    """Return the block of the JSON values that come next: calls if all of them are, else text."""
    calls: list[TextCall] = []
    why: str | None = None
    while True:
        cur.start = cur.pos
        try:
            value = try_json(cur)
        except BrokenError as error:
            raise _broken(cur, error) from None
        found, refused = name_all(value, is_bare=True)
        if refused is None:
            why = why or _unknown(cur, found)
            shape = _shape(cur, value)
            calls += [cur.call(name, given, call_id=call_id, format_name=shape) for name, given, call_id in found]
        else:
            why = why or (refused if _CALL_LIKE.match(cur.text, cur.start) else "")
        end = cur.pos
        cur.take(_BETWEEN)
        if not cur.at("{"):
            break
    if why is None:
        return Block(end, tuple(calls))
    raise BrokenError(end, why, is_meant=False)


def _broken(cur: Cursor, error: BrokenError) -> BrokenError:
    """Return the refusal of JSON that is none; if it began like a call and broke in a string, the rest is lost too."""
    if not _CALL_LIKE.match(cur.text, cur.pos):
        return BrokenError(error.end, is_in_string=error.is_in_string)
    end = end_of_broken(cur, error.end, None if cur.code is None else "```") if error.is_in_string else error.end
    return BrokenError(end, error.message, is_in_string=error.is_in_string)


def _unknown(cur: Cursor, found: list[Named]) -> str | None:
    for name, _, _ in found:
        if cur.tools.knows(name) is False:
            return f"no tool `{name[:60]}` is declared, so the JSON is taken for data"
        if name.lower().split() == _FINAL:
            return ""
    return None


def _shape(cur: Cursor, value: Any) -> str:  # noqa: ANN401 -- any JSON
    if cur.format not in ("", _AUTO):
        return cur.format
    if isinstance(value, list):
        return "json_array"
    if isinstance(value.get("function"), dict) or "tool_calls" in value:
        return "json_object_openai"
    return "json_action_fence" if "action" in value else "json_object"


def read_fence(cur: Cursor) -> Block | None:
    """Return the block of a fence that holds calls and nothing else; the fence is part of the call."""
    if cur.code is not None or cur.is_doubtful or cur.at("`"):
        return None
    language = cur.take(_LANGUAGE).lower()
    cur.skip()
    begin = _object_at(cur) if language in DATA_FENCES else -1
    if begin < 0 or not cur.at('"', cur.blank_end(begin + 1)):
        return None
    try:
        inner = _read_run(cur)
    except BrokenError:
        return None
    cur.pos = inner.end
    if not cur.skip().has("```"):
        return None
    calls = tuple(attrs.evolve(call, format=_FENCED.get(call.format, call.format)) for call in inner.calls)
    return Block(cur.pos, calls)
