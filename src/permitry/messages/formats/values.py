"""Values in a text: JSON, and the literals of Python and its kin. They are read without recursion.

JSON is read strictly, and mended where the caller asked for it.
"""

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final

import attrs

from permitry.core.json_values import MAX_DEPTH, strict_decoder
from permitry.errors import CallError
from permitry.messages.formats.cursor import BrokenError, Cursor, MoreError

__all__ = [
    "NUMBER", "PYTHON", "Dialect", "depth_end", "end_of_broken", "number_of", "read_arguments", "read_json",
    "read_lenient", "read_literal", "read_value", "try_json",
]  # fmt: skip

# JSON


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


def read_arguments(cur: Cursor, *closers: str, within: str = "") -> object:
    """Move behind the JSON object that comes next and all `closers` behind it; return the object.

    The first closer, or `within`, is what ends the block around the object.
    """
    cur.require(cur.skip().at("{"), "the arguments are not a JSON object")
    value = read_value(cur, next(iter(closers), within))
    for closer in closers:
        cur.skip().need(closer)
    return value


def read_value(cur: Cursor, closer: str = "") -> object:
    """Move behind the JSON value that comes next, and return it. `closer` ends the block around it.

    Repaired are the quotes and words of Python, a comma too many, comments, and brackets the text ends before; only
    when the caller asked for it.
    """
    begin = cur.pos
    if cur.is_repairing:
        with contextlib.suppress(BrokenError):
            value, is_literal = read_lenient(cur)
            cur.is_repaired |= is_literal
            return value
        cur.pos = begin
    return read_json(cur, closer)


def read_lenient(cur: Cursor) -> tuple[object, bool]:
    """Move behind the next value, of JSON or of Python; return it, and whether it is not JSON."""
    try:
        return try_json(cur), False
    except BrokenError:
        return read_literal(cur, PYTHON), True


def read_json(cur: Cursor, closer: str = "") -> object:
    """Move behind the JSON object or list that comes next, and return it. What JSON does not define is refused.

    Raises: `BrokenError`, which ends behind `closer` or where the text does when the JSON broke inside a string.
    """
    try:
        return try_json(cur)
    except BrokenError as error:
        if error.is_in_string:
            error.end = end_of_broken(cur, error.end, closer)
        raise


def try_json(cur: Cursor) -> object:
    """Do what `read_json` does; an error ends where the JSON breaks."""
    try:
        value, cur.pos = _decode(cur, _STRICT)
    except CallError as error:
        raise BrokenError(_decode(cur, _LENIENT)[1], str(error)) from None
    return value


def end_of_broken(cur: Cursor, start: int, closer: str) -> int:
    """Return where a block ends that broke in a string: after a `closer` that follows a bracket.

    Without one, all that follows may be a part of the string.
    """
    at = cur.find(closer, start) if closer else -1
    while at >= 0 and not cur.text[max(at - _LOOK_BEHIND, start) : at].rstrip().endswith(("}", "]")):
        at = cur.find(closer, at + 1)
    if at >= 0:
        return at + len(closer)
    cur.is_end(len(cur.text))
    return len(cur.text)


def _decode(cur: Cursor, decoder: json.JSONDecoder) -> tuple[Any, int]:
    """Decode a piece of the text, and a larger one where it is cut: the cost is of what is read."""
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
    """Return the first place before `limit` where JSON is in more than `most` brackets, or -1."""
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


# Literals

_WORDS: Final[Mapping[str, object]] = MappingProxyType(
    {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
)
_GAP: Final = re.compile(r"(?:\s++|/\*(?:[^*\n]++|\*(?!/))*\*/)*")
NUMBER: Final = re.compile(r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?\Z")
_OCTAL: Final = re.compile(r"[+-]?0[0-7]{1,400}\Z")
_TOKEN: Final = re.compile(r"[\w.+-]*+")
_LONGEST_NUMBER: Final = 400
_WORD: Final = re.compile(r"[^\W\d][\w.-]*+")
_BARE: Final = re.compile(r"[^,{}\[\]<>\n]*+")
_HEX: Final = r"(?<=x)[0-9a-fA-F]{2}|(?<=u)[0-9a-fA-F]{4}|(?<=U)00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}"
_ESCAPE: Final = re.compile(rf"\\(?:([0-7]{{1,3}})|[xuU]({_HEX})|(\r?\n|.))", re.DOTALL)
_BY_NAME: Final = re.compile(r"(?:[^\\]++|\\(?!N\{).)*\\N\{", re.DOTALL)
_SURROGATES: Final = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")
_PLAIN: Final = MappingProxyType(
    {"\n": "", "\r\n": "", **dict(zip("ntrabfv\\'\"/", "\n\t\r\a\b\f\v\\'\"/", strict=True))}
)
_CLOSERS: Final = MappingProxyType({"[": "]", "{": "}", "(": ")"})


@cache
def _string(quote: str) -> "re.Pattern[str]":
    """Return the pattern of a string between two of `quote`, in which a backslash escapes."""
    first = re.escape(quote[0])
    if len(quote) == 1:
        return re.compile(rf"{first}([^{first}\\]*+(?:\\.[^{first}\\]*+)*){first}", re.DOTALL)
    return re.compile(rf"{quote}((?:[^{first}\\]++|\\.|{first}(?!{quote[1:]}))*){quote}", re.DOTALL)


@attrs.frozen
class Dialect:
    """How strings are quoted: `quotes` with escapes, `raw` marks without; `is_loose` allows bare text for values.

    `colons` are what may separate key and value. With `has_sets`, braces without keys hold a set; where it `is_round`,
    the outermost round brackets hold an object.
    """

    quotes: tuple[str, ...] = ('"""', "'''", '"', "'")
    raw: tuple[str, ...] = ()
    is_loose: bool = False
    has_bare_keys: bool = False
    colons: tuple[str, ...] = (":",)
    has_sets: bool = False
    is_round: bool = False


PYTHON: Final = Dialect(has_sets=True)


@attrs.define
class _Open:
    """A list, set or object that is being read; an object with a `key` waits for its value."""

    value: Any
    closer: str
    key: str | None = None
    is_set: bool = False
    has_comma: bool = False

    def close(self, pos: int, *, is_cut: bool) -> object:
        """Return what was read; round brackets around one value are that value, unless a comma makes a list of it.

        Raises: `BrokenError` for a set that is cut off, or in which a value comes twice: as a list it would differ.
        """
        if self.is_set and (is_cut or len(set(self.value)) < len(self.value)):
            raise BrokenError(pos, "a set is cut off, or a value comes twice in it")
        is_list = self.closer == ")" and isinstance(self.value, list)
        is_value = is_list and len(self.value) == 1 and not self.has_comma
        return self.value[0] if is_value else self.value


def read_literal(cur: Cursor, dialect: Dialect) -> object:
    """Move behind the value that comes next, and return it.

    A set becomes a list. Raises: `BrokenError` for what is not a literal, a repeated key, or more than 64 levels.
    """
    stack: list[_Open] = []
    while True:
        _skip_gap(cur)
        top = stack[-1] if stack else None
        char = cur.text[cur.pos : cur.pos + 1]
        if top is not None and top.key is None and (char == top.closer or _is_cut(cur)):
            value = stack.pop().close(cur.pos, is_cut=not char)
            cur.pos += len(char)
        elif top is not None and _awaits_key(cur, top, dialect):
            top.key = _read_key(cur, top.value, dialect)
            continue
        elif char and char in _CLOSERS:
            is_object = char == "{" or (dialect.is_round and not stack)
            stack.append(_open(stack, cur.pos, char, is_object=is_object))
            cur.pos += 1
            continue
        else:
            value = _read_scalar(cur, dialect)
        if not stack:
            return value
        _put(cur, stack[-1], value)


def _open(stack: Sequence[_Open], pos: int, char: str, *, is_object: bool) -> _Open:
    if len(stack) >= MAX_DEPTH - 1:
        raise BrokenError(pos, f"nested deeper than {MAX_DEPTH} levels")
    if stack and stack[-1].is_set:
        raise BrokenError(pos, "a set holds more than plain values")
    return _Open({} if is_object else [], _CLOSERS[char])


def _awaits_key(cur: Cursor, top: _Open, dialect: Dialect) -> bool:
    """Return whether a key comes next; braces in which none comes first hold a set."""
    if not isinstance(top.value, dict) or top.key is not None:
        return False
    if not dialect.has_sets or top.value:
        return True
    begin = cur.pos
    is_key = _read_quoted(cur, dialect) is not None and any(map(_skip_gap(cur).at, dialect.colons))
    cur.pos = begin
    if not is_key:
        top.value, top.is_set = [], True
    return is_key


def _skip_gap(cur: Cursor) -> Cursor:
    """Move behind blanks and comments; a comment ends in its line."""
    cur.take(_GAP)
    if cur.is_open and cur.text.startswith("/", cur.pos) and cur.text.find("\n", cur.pos) < 0:
        raise MoreError
    return cur


def _put(cur: Cursor, top: _Open, value: object) -> None:
    """Put a value where it belongs; move behind the comma that may follow."""
    if isinstance(top.value, dict):
        top.value[top.key] = value
        top.key = None
    else:
        top.value.append(value)
    if _skip_gap(cur).has(","):
        top.has_comma = True
    else:
        cur.require(cur.at(top.closer) or _is_cut(cur), "a comma or a closing bracket is missing")


def _is_cut(cur: Cursor) -> bool:
    """Return whether the text ends before its brackets are closed, and that may be mended."""
    return cur.is_repairing and cur.is_end(cur.pos)


def _read_key(cur: Cursor, known: Mapping[str, object], dialect: Dialect) -> str:
    key = _read_quoted(cur, dialect)
    if key is None:
        key = cur.take(_WORD) if dialect.has_bare_keys else ""
        cur.require(key, "a key is missing")
    cur.require(key not in known, f"the key `{key[:60]}` occurs twice")
    cur.require(any(map(_skip_gap(cur).has, dialect.colons)), "a colon is missing")
    return key


def _read_scalar(cur: Cursor, dialect: Dialect) -> object:
    text = _read_quoted(cur, dialect)
    if text is not None:
        return text
    token = cur.take(_BARE).strip() if dialect.is_loose else cur.take(_TOKEN)
    if token in _WORDS:
        return _WORDS[token]
    if dialect.is_loose:
        return token if token and NUMBER.match(token) is None else number_of(token, cur.pos)
    is_plain = _OCTAL.match(token) is None or int(token) == int(token, 8)
    cur.require(is_plain, "to some readers, a number with a zero in front counts in eights")
    return number_of(token, cur.pos)


def number_of(text: str, pos: int) -> int | float:
    """Return the number that is written as `text`, in Python's ways: `1_000` and `0x1F` as well.

    Raises: `BrokenError` for what is none, or is too large.
    """
    if NUMBER.match(text) is None:
        with contextlib.suppress(ValueError):
            return int(text if len(text) <= _LONGEST_NUMBER else "", 0)
        raise BrokenError(pos, "a value is missing")
    if text.lstrip("+-").isdigit():
        return int(text)
    value = float(text)
    if abs(value) == float("inf"):
        raise BrokenError(pos, "a number is too large")
    return value


def _read_quoted(cur: Cursor, dialect: Dialect) -> str | None:
    """Move behind the string that comes next, and return it; None where there is none."""
    for mark in dialect.raw:
        if cur.has(mark):
            return cur.until(mark, "a string is not closed")
    quote = next(filter(cur.at, dialect.quotes), None)
    if quote is None:
        return None
    found = _string(quote).match(cur.text, cur.pos)
    if found is None and cur.is_open:
        raise MoreError(quote)
    if found is None:
        raise BrokenError(cur.pos + len(quote), "a string is not closed")
    cur.pos = found.end()
    cur.require(_BY_NAME.match(found.group(1)) is None, "a character is written by its name")
    text = found.group(1)
    if "\\" not in text:
        return text
    return _SURROGATES.sub(
        lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), _ESCAPE.sub(_one, text)
    )


def _one(found: "re.Match[str]") -> str:
    """Return the character an escape means; an unknown escape means itself."""
    octal, code, other = found.groups()
    if other:
        return _PLAIN.get(other, found.group())
    return chr(int(octal, 8)) if octal else chr(int(code, 16))
