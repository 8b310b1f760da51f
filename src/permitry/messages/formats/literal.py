"""Values: JSON, and literals of Python and its kin, read without recursion."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import attrs

from permitry.core.json_values import MAX_DEPTH
from permitry.messages.formats.cursor import BrokenError, Cursor, MoreError

__all__ = ["NUMBER", "PYTHON", "Dialect", "number_of", "read_literal"]

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
_ESCAPE: Final = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|([0-7]{1,3})|(\r?\n)|(.))",
    re.DOTALL,
)
_BY_NAME: Final = re.compile(r"(?:[^\\]++|\\(?!N\{).)*\\N\{", re.DOTALL)
_SURROGATES: Final = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")
_PLAIN: Final = MappingProxyType(dict(zip("ntrabfv\\'\"/", "\n\t\r\a\b\f\v\\'\"/", strict=True)))
_CLOSERS: Final = MappingProxyType({"[": "]", "{": "}", "(": ")"})


def _string(quote: str) -> "re.Pattern[str]":
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
    strings: Mapping[str, "re.Pattern[str]"] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "strings", {quote: _string(quote) for quote in self.quotes})


PYTHON: Final = Dialect(has_sets=True)


@attrs.define
class _Open:
    """A list, set or object that is being read; an object waits for a value while `key` is not None."""

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
    """Return whether a key comes next; braces in which none comes first are taken for a set from now on."""
    if not isinstance(top.value, dict) or top.key is not None:
        return False
    if not dialect.has_sets or top.value or _is_key(cur, dialect):
        return True
    top.value, top.is_set = [], True
    return False


def _is_key(cur: Cursor, dialect: Dialect) -> bool:
    begin = cur.pos
    is_key = _read_quoted(cur, dialect) is not None and any(map(_skip_gap(cur).at, dialect.colons))
    cur.pos = begin
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
    elif not cur.at(top.closer) and not _is_cut(cur):
        raise BrokenError(cur.pos, "a comma or a closing bracket is missing")


def _is_cut(cur: Cursor) -> bool:
    """Return whether the text ends before its brackets are closed, and they may be closed for it."""
    return cur.is_repairing and cur.is_end(cur.pos)


def _read_key(cur: Cursor, known: Mapping[str, object], dialect: Dialect) -> str:
    key = _read_quoted(cur, dialect)
    if key is None:
        key = cur.take(_WORD) if dialect.has_bare_keys else ""
        if not key:
            raise BrokenError(cur.pos, "a key is missing")
    if key in known:
        raise BrokenError(cur.pos, f"the key `{key[:60]}` occurs twice")
    if not any(map(_skip_gap(cur).has, dialect.colons)):
        raise BrokenError(cur.pos, "a colon is missing")
    return key


def _read_scalar(cur: Cursor, dialect: Dialect) -> object:
    text = _read_quoted(cur, dialect)
    if text is not None:
        return text
    if dialect.is_loose:
        return _read_loose(cur)
    token = cur.take(_TOKEN)
    if token in _WORDS:
        return _WORDS[token]
    if _OCTAL.match(token) and int(token) != int(token, 8):
        raise BrokenError(cur.pos, "to some readers, a number with a zero in front counts in eights")
    return number_of(token, cur.pos)


def _read_loose(cur: Cursor) -> object:
    text = cur.take(_BARE).strip()
    if not text:
        raise BrokenError(cur.pos, "a value is missing")
    if text in _WORDS:
        return _WORDS[text]
    return number_of(text, cur.pos) if NUMBER.match(text) else text


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
    quote = next(filter(cur.at, dialect.strings), None)
    if quote is None:
        return None
    found = dialect.strings[quote].match(cur.text, cur.pos)
    if found is None and cur.is_open:
        raise MoreError(quote)
    if found is None:
        raise BrokenError(cur.pos + len(quote), "a string is not closed")
    cur.pos = found.end()
    if _BY_NAME.match(found.group(1)):
        raise BrokenError(cur.pos, "a character is written by its name")
    return _unescape(found.group(1))


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _SURROGATES.sub(_pair, _ESCAPE.sub(_one, text))


def _one(found: "re.Match[str]") -> str:
    """Return the character an escape means; an unknown escape means itself."""
    code = found.group(1) or found.group(2) or found.group(3)
    if code:
        return chr(int(code, 16))
    if found.group(4):
        return chr(int(found.group(4), 8))
    if found.group(5):
        return ""
    return _PLAIN.get(found.group(6), found.group())


def _pair(found: "re.Match[str]") -> str:
    return found.group().encode("utf-16", "surrogatepass").decode("utf-16")
