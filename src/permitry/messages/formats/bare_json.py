"""Calls that are nothing but JSON in the text: a list, an object, or either of them in a code fence.

Nothing marks them, so they must be beyond doubt: a string for the name, an object for the arguments, no key a call
does not have, every value of a run of values a call, and, when tools are given, a declared name. In a fence of another
language than JSON they are code.
"""

import re
from types import MappingProxyType
from typing import Any, Final

import attrs

from permitry.messages.formats.call import Block, TextCall
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark
from permitry.messages.formats.scan import BrokenError, Scan
from permitry.messages.formats.values import Named, NoCallError, name_all

__all__ = ["DATA_FENCES", "MARKS"]

_LANGUAGE: Final = re.compile(r"[\w+-]*+")
_BETWEEN: Final = re.compile(r"[\s;,]*+")
DATA_FENCES: Final = frozenset({"", "json", "json5", "jsonc", "tool", "tool_call", "tool_calls", "text", "xml"})
_CALL_LIKE: Final = re.compile(r'[\[\s]*\{\s*"(?:name|tool|function|tool_name|action)"')
# Before a value of these it is part of a larger one that was broken, and nothing of that is a call.
_INSIDE: Final = ('":', "':", "},", "],")
_FINAL: Final = ["final", "answer"]


def _read(cur: Cursor) -> Block | None:
    scan, start = cur.scan, cur.start
    if scan.code is not None and scan.code not in DATA_FENCES:
        return None
    if scan.is_doubtful or scan.before(start).rstrip().endswith(_INSIDE):
        raise BrokenError(start + 1)
    cur.pos = start
    return _run(cur)


def _run(cur: Cursor) -> Block:
    """Return the block of the JSON values that come next: calls if all of them are, else text."""
    calls: list[TextCall] = []
    why: str | None = None
    scan = cur.scan
    while True:
        cur.start = cur.pos
        try:
            value, cur.pos = scan.try_json(cur.pos)
        except BrokenError as error:
            raise _broken(cur, error) from None
        try:
            found = name_all(value, is_bare=True)
        except NoCallError as error:
            why = why or (str(error) if _CALL_LIKE.match(scan.text, cur.start) else "")
        else:
            why = why or _unknown(scan, found)
            calls += _calls(cur, value, found)
        end = cur.pos
        cur.take(_BETWEEN)
        if not cur.at("{"):
            break
    if why is None:
        return Block(end, tuple(calls))
    raise BrokenError(end, why, is_meant=False)


def _broken(cur: Cursor, error: BrokenError) -> BrokenError:
    """Return the refusal of JSON that is none; if it began like a call and broke in a string, the rest is lost too."""
    scan = cur.scan
    if not _CALL_LIKE.match(scan.text, cur.pos):
        return BrokenError(error.end, is_in_string=error.is_in_string)
    end = scan.end_of_broken(error.end, None if scan.code is None else "```") if error.is_in_string else error.end
    return BrokenError(end, error.message, is_in_string=error.is_in_string)


def _unknown(scan: Scan, found: list[Named]) -> str | None:
    for name, _, _ in found:
        if scan.tools.knows(name) is False:
            return f"no tool `{name[:60]}` is declared, so the JSON is taken for data"
        if name.lower().split() == _FINAL:
            return ""
    return None


def _calls(cur: Cursor, value: Any, found: list[Named]) -> list[TextCall]:  # noqa: ANN401 -- any JSON
    shape = _shape(cur.scan, value)
    return [cur.call(name, arguments, call_id=call_id, format_name=shape) for name, arguments, call_id in found]


def _shape(scan: Scan, value: Any) -> str:  # noqa: ANN401 -- any JSON
    if scan.format not in ("", _AUTO):
        return scan.format
    if isinstance(value, list):
        return "json_array"
    if isinstance(value.get("function"), dict) or "tool_calls" in value:
        return "json_object_openai"
    return "json_action_fence" if "action" in value else "json_object"


def _fence(cur: Cursor) -> Block | None:
    """Return the block of a fence that holds calls and nothing else; the fence is part of the call."""
    if cur.scan.code is not None or cur.scan.is_doubtful or cur.at("`"):
        return None
    language = cur.take(_LANGUAGE).lower()
    cur.skip()
    if language not in DATA_FENCES or not _is_json(cur):
        return None
    try:
        inner = _run(cur)
    except BrokenError:
        return None
    cur.pos = inner.end
    if not cur.skip().has("```"):
        return None
    calls = tuple(attrs.evolve(call, format=_FENCED.get(call.format, call.format)) for call in inner.calls)
    return Block(cur.pos, calls)


def _is_json(cur: Cursor) -> bool:
    scan, pos = cur.scan, cur.pos
    if cur.at("["):
        pos = scan.skip(pos + 1)
    return scan.at("{", pos) and scan.at('"', scan.skip(pos + 1))


_AUTO: Final = "bare_json"
_FENCED: Final = MappingProxyType({"json_object": "json_fence"})
_NAMES: Final = (
    "json_array", "json_object", "json_fence", "json_object_openai", "json_action_fence", "xlam", "llama3_json",
    "react_json",
)  # fmt: skip

MARKS: Final = (
    Mark("```", _fence, _AUTO, _NAMES, is_plain=True),
    Mark("{", _read, _AUTO, _NAMES, pattern=r'\{(?=\s*(?:"|\Z))', is_plain=True),
    Mark("[", _read, _AUTO, _NAMES, pattern=r'\[(?=\s*(?:\{\s*(?:"|\Z)|\Z))', is_plain=True),
)
