"""Calls that are nothing but JSON in the text: a list, an object, or either of them in a code fence.

Nothing marks them, so they must be beyond doubt: a string for the name, an object for the arguments, no key a call
does not have, every value of a run of values a call, and, when tools are given, a declared name. In a fence of another
language than JSON they are code.
"""

import re
from types import MappingProxyType
from typing import Any, Final

import attrs

from permitry.messages.formats._shapes import Named, named_all
from permitry.messages.formats.call import TextCall
from permitry.messages.formats.mark import Block, Mark
from permitry.messages.formats.scan import BrokenError, Scan

__all__ = ["DATA_FENCES", "MARKS"]

_LANGUAGE: Final = re.compile(r"[\w+-]*+")
_BETWEEN: Final = re.compile(r"[\s;,]*+")
DATA_FENCES: Final = frozenset({"", "json", "json5", "jsonc", "tool", "tool_call", "tool_calls", "text", "xml"})
_CALL_LIKE: Final = re.compile(r'[\[\s]*\{\s*"(?:name|tool|function|tool_name|action)"')
# Before a value of these it is part of a larger one that was broken, and nothing of that is a call.
_INSIDE: Final = ('":', "':", "},", "],")
_FINAL: Final = ["final", "answer"]


def _read(scan: Scan, start: int, pos: int) -> Block | None:  # noqa: ARG001 -- the signature of a reader
    if scan.code is not None and scan.code not in DATA_FENCES:
        return None
    if scan.is_doubtful or scan.before(start).rstrip().endswith(_INSIDE):
        raise BrokenError(start + 1)
    return _run(scan, start)


def _run(scan: Scan, start: int) -> Block:
    """Return the block of the JSON values from `start` on: calls if all of them are, else text."""
    calls: list[TextCall] = []
    why: str | None = None
    end = pos = start
    while True:
        try:
            value, end = scan.try_json(pos)
        except BrokenError as error:
            raise _broken(scan, pos, error) from None
        found = named_all(value, is_bare=True)
        if isinstance(found, str):
            why = why or (found if _CALL_LIKE.match(scan.text, pos) else "")
        else:
            why = why or _unknown(scan, found)
            calls += _calls(scan, value, found, pos, end)
        pos = scan.run(_BETWEEN, end)
        if not scan.at("{", pos):
            break
    if why is None:
        return Block(end, tuple(calls))
    raise BrokenError(end, why, is_meant=False)


def _broken(scan: Scan, pos: int, error: BrokenError) -> BrokenError:
    """Return the refusal of JSON that is none; if it began like a call and broke in a string, the rest is lost too."""
    if not _CALL_LIKE.match(scan.text, pos):
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


def _calls(scan: Scan, value: Any, found: list[Named], start: int, end: int) -> list[TextCall]:  # noqa: ANN401 -- any JSON
    return [
        scan.call(name, arguments, start, end, call_id=call_id, format_name=_shape(scan, value))
        for name, arguments, call_id in found
    ]


def _shape(scan: Scan, value: Any) -> str:  # noqa: ANN401 -- any JSON
    if scan.format not in ("", _AUTO):
        return scan.format
    if isinstance(value, list):
        return "json_array"
    if isinstance(value.get("function"), dict) or "tool_calls" in value:
        return "json_object_openai"
    return "json_action_fence" if "action" in value else "json_object"


def _fence(scan: Scan, start: int, pos: int) -> Block | None:  # noqa: ARG001 -- the signature of a reader
    """Return the block of a fence that holds calls and nothing else; the fence is part of the call."""
    if scan.code is not None or scan.is_doubtful or scan.at("`", pos):
        return None
    end = scan.run(_LANGUAGE, pos)
    begin = scan.skip(end)
    if scan.text[pos:end].lower() not in DATA_FENCES or not _is_json(scan, begin):
        return None
    try:
        inner = _run(scan, begin)
    except BrokenError:
        return None
    after = scan.skip(inner.end)
    if not scan.at("```", after):
        return None
    calls = tuple(attrs.evolve(call, format=_FENCED.get(call.format, call.format)) for call in inner.calls)
    return Block(after + len("```"), calls)


def _is_json(scan: Scan, pos: int) -> bool:
    if scan.at("[", pos):
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
