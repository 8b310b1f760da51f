"""JSON in a text: read strictly, and mended where the caller asked for it."""

import contextlib
import json
import re
from typing import Any, Final

from permitry.core.json_values import MAX_DEPTH, strict_decoder
from permitry.errors import CallError
from permitry.messages.formats.cursor import BrokenError, Cursor, MoreError
from permitry.messages.formats.literal import PYTHON, read_literal

__all__ = ["depth_end", "end_of_broken", "read_arguments", "read_json", "read_value", "try_json"]


def _integer(text: str) -> int:
    if len(text) > _LONGEST_INTEGER:
        raise CallError("a number has too many digits")
    return int(text)


_LONGEST_INTEGER: Final = 1_200
_STRICT: Final = strict_decoder(_integer)
_LENIENT: Final = json.JSONDecoder(parse_int=str, parse_float=str)
# A string that is not closed goes on to the end, or each quote in it would be tried for an opening one.
_STRING_OR_BRACKET: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_WINDOW: Final = 2_048
# A literal, an escape or a comma may still be cut at the end of what has come.
_MARGIN: Final = 16
_LOOK_BEHIND: Final = 64


def read_arguments(cur: Cursor, *closers: str, within: str | None = None) -> object:
    """Move behind the JSON object that comes next and all `closers` behind it; return the object.

    The first closer, or `within`, is what ends the block around the object. Raises: `BrokenError`.
    """
    if not cur.skip().at("{"):
        raise BrokenError(cur.pos, "the arguments are not a JSON object")
    value = read_value(cur, next(iter(closers), within))
    for closer in closers:
        cur.skip().need(closer)
    return value


def read_value(cur: Cursor, closer: str | None = None) -> object:
    """Move behind the JSON value that comes next, and return it. `closer` ends the block around it.

    Repaired are the quotes and words of Python, a comma too many, comments, and brackets the text ends before; only
    when the caller asked for it.
    """
    begin = cur.pos
    if cur.is_repairing:
        try:
            return try_json(cur)
        except BrokenError:
            with contextlib.suppress(BrokenError):
                value = read_literal(cur, PYTHON)
                cur.is_repaired = True
                return value
        cur.pos = begin
    return read_json(cur, closer)


def read_json(cur: Cursor, closer: str | None = None) -> object:
    """Move behind the JSON object or list that comes next, and return it. What JSON does not define is refused.

    Raises: `BrokenError`, which ends behind `closer` or where the text does when the JSON broke inside a string.
    """
    try:
        return try_json(cur)
    except BrokenError as error:
        if not error.is_in_string:
            raise
        raise BrokenError(end_of_broken(cur, error.end, closer), error.message, is_in_string=True) from None


def try_json(cur: Cursor) -> object:
    """Do what `read_json` does; an error ends where the JSON breaks.

    Raises: `BrokenError`.
    """
    try:
        value, cur.pos = _decode(cur, _STRICT)
    except CallError as error:
        raise BrokenError(_decode(cur, _LENIENT)[1], str(error)) from None
    return value


def end_of_broken(cur: Cursor, start: int, closer: str | None) -> int:
    """Return where a block ends that broke inside a string: after a `closer` that follows a bracket.

    Without one, all that follows may be a part of the string.
    """
    at = cur.find(closer, start) if closer else -1
    while closer and at >= 0 and not cur.text[max(at - _LOOK_BEHIND, start) : at].rstrip().endswith(("}", "]")):
        at = cur.find(closer, at + 1)
    if closer and at >= 0:
        return at + len(closer)
    if cur.is_open:
        raise MoreError(closer)
    return len(cur.text)


def _decode(cur: Cursor, decoder: json.JSONDecoder) -> tuple[Any, int]:
    """Decode a piece of the text, and a larger one where it is cut: the cost is that of what is read."""
    pos, size = cur.pos, _WINDOW
    while True:
        window = cur.text[pos : pos + size]
        is_all = pos + size >= len(cur.text)
        try:
            value, end = decoder.raw_decode(window)
        except json.JSONDecodeError as error:
            is_cut = error.pos >= len(window) - _MARGIN or error.msg.startswith("Unterminated")
            if is_cut and not is_all:
                size *= 8
                continue
            if is_cut and cur.is_open:
                raise MoreError from None
            raise BrokenError(
                pos + max(error.pos, 1), f"not valid JSON: {error.msg}", is_in_string=_is_in_string(window, error)
            ) from None
        except RecursionError:
            raise BrokenError(pos + depth_end(window, len(window)), _TOO_DEEP) from None
        deep = depth_end(window, end)
        if deep >= 0:
            raise BrokenError(pos + deep, _TOO_DEEP)
        return value, pos + end


_TOO_DEEP: Final = f"nested deeper than {MAX_DEPTH} levels"


def _is_in_string(text: str, error: json.JSONDecodeError) -> bool:
    """Return whether JSON broke inside a string, or right after one: a quote in it may have closed it too early."""
    if error.msg.startswith(("Invalid control", "Invalid \\", "Unterminated")):
        return True
    lead = text[max(error.pos - _LOOK_BEHIND, 0) : error.pos].rstrip()
    return error.msg.endswith("delimiter") and lead.endswith('"')


def depth_end(text: str, limit: int, most: int = MAX_DEPTH) -> int:
    """Return the first place before `limit` where JSON text is nested in more than `most` brackets, or -1."""
    if text.count("{", 0, limit) + text.count("[", 0, limit) <= most:
        return -1
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(text, 0, limit):
        if found.group() in ("[", "{"):
            depth += 1
        elif found.group() in ("]", "}"):
            depth -= 1
        if depth > most:
            return found.end()
    return -1
