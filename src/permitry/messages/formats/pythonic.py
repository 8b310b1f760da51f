"""Calls written as Python: `[f(a="x", n=1)]`, bare or between marks.

Arguments are literals with names; nothing is evaluated. Without marks around it, the list must be the whole content,
or call declared tools only.
"""

import re
from typing import Any, Final

from permitry.messages.formats._coerce import types_of
from permitry.messages.formats._literal import PYTHON, read_literal
from permitry.messages.formats.call import TextCall
from permitry.messages.formats.mark import Block, Mark, Reader
from permitry.messages.formats.scan import BrokenError, Scan, unique

__all__ = ["MARKS"]

_NAME: Final = re.compile(r"[^\W\d][\w.-]*+")
_TOKEN: Final = re.compile(r"[\w.+-]*+")
_PADDED: Final = re.compile(r"0\d+\Z")
_BETWEEN: Final = re.compile(r"[\s,;]*+")
_END_TOKENS: Final = ("<|eom_id|>", "<|eot_id|>", "<|im_end|>", "</s>")


def _marked(*closers: str) -> Reader:
    """Return a reader of calls, in a list or one after another, up to one of `closers`."""

    def read(scan: Scan, start: int, pos: int) -> Block | None:
        pos = scan.skip(pos)
        is_list = scan.at("[", pos)
        begin = scan.skip(pos + 1) if is_list else pos
        if is_list and scan.at("]", begin):
            return _empty(scan, begin + 1, closers)
        if not is_list and any(scan.at(closer, begin) for closer in closers):
            return _empty(scan, begin, closers)
        if not _is_name(scan, begin):
            return None
        calls, end = _calls(scan, start, begin, is_list=is_list)
        after = scan.skip(end)
        for closer in closers:
            if scan.at(closer, after):
                return Block(after + len(closer), calls)
        if not scan.is_end(after):
            raise BrokenError(end, f"`{closers[0]}` is missing")
        return Block(after, calls, note=f"`{closers[0]}` is missing at the end of the text")

    return read


def _empty(scan: Scan, pos: int, closers: tuple[str, ...]) -> Block | None:
    pos = scan.skip(pos)
    return next((Block(pos + len(closer)) for closer in closers if scan.at(closer, pos)), None)


def _bare(scan: Scan, start: int, pos: int) -> Block | None:
    if scan.code is not None or scan.is_doubtful or not _is_name(scan, pos):
        return None
    try:
        calls, end = _calls(scan, start, scan.skip(pos), is_list=True)
    except BrokenError as error:
        raise BrokenError(error.end) from None
    if all(call.is_known for call in calls):
        return Block(end, calls)
    after = scan.skip(end)
    for token in _END_TOKENS:
        if scan.at(token, after):
            after = scan.skip(after + len(token))
    if scan.has_content or scan.tools.is_given or not scan.is_end(after):
        raise BrokenError(end)
    return Block(end, calls)


def _is_name(scan: Scan, pos: int) -> bool:
    begin = scan.skip(pos)
    end = scan.run(_NAME, begin)
    return end > begin and scan.at("(", end)


def _calls(scan: Scan, start: int, pos: int, *, is_list: bool) -> tuple[tuple[TextCall, ...], int]:
    """Return the calls from `pos` on, and the end of the list or of the last call."""
    calls: list[TextCall] = []
    while True:
        call, end = _call(scan, start, pos)
        calls.append(call)
        if is_list:
            pos = scan.skip(end)
            if scan.at("]", pos):
                return tuple(calls), pos + 1
            pos = start = scan.skip(scan.need(",", pos, "a comma is missing between two calls"))
            if scan.at("]", pos):
                return tuple(calls), pos + 1
        else:
            pos = start = scan.run(_BETWEEN, end)
            if not _is_name(scan, pos):
                return tuple(calls), end


def _call(scan: Scan, start: int, pos: int) -> tuple[TextCall, int]:
    end = scan.run(_NAME, pos)
    name = scan.text[pos:end]
    pos = scan.skip(scan.need("(", end, "a call has no brackets"))
    found: list[tuple[str, object]] = []
    while not scan.at(")", pos):
        end = scan.run(_NAME, pos)
        key = scan.text[pos:end]
        pos = scan.need("=", scan.skip(end), "an argument has no name")
        value, pos = _value(scan, scan.skip(pos), scan.tools.property(name, key))
        found.append((key, value))
        pos = scan.skip(pos)
        if scan.at(",", pos):
            pos = scan.skip(pos + 1)
        elif not scan.at(")", pos):
            raise BrokenError(pos, "a comma or a closing bracket is missing")
    return scan.call(name, unique(found, pos), start, pos + 1), pos + 1


def _value(scan: Scan, pos: int, schema: object) -> tuple[Any, int]:
    """Return the literal at `pos`, and its end; digits with zeros in front are text where only text is asked for."""
    end = scan.run(_TOKEN, pos)
    if _PADDED.match(scan.text, pos, end) and types_of(schema) == {"string"}:
        return scan.text[pos:end], end
    return read_literal(scan, pos, PYTHON)


_BARE_NAMES: Final = ("pythonic", ("llama4_pythonic", "olmo3_pythonic"))

MARKS: Final = (
    Mark("<|python_start|>", _marked("<|python_end|>"), "llama4_pythonic", ("pythonic",)),
    Mark("<function_calls>", _marked("</function_calls>"), "olmo3_pythonic"),
    Mark("<|tool_call_start|>", _marked("<|tool_call_end|>"), "lfm2"),
    Mark("<|python_tag|>", _marked("<|eom_id|>", "<|eot_id|>"), "pythonic"),
    Mark("[", _bare, *_BARE_NAMES, pattern=r"\[(?=\s*(?:[^\W\d]|\Z))", is_plain=True),
)
