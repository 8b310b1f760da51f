"""Literals of Python and its kin, read without recursion: strings, numbers, words, lists, sets and objects."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import attrs

from permitry.core.json_values import MAX_DEPTH
from permitry.messages.formats.scan import BrokenError, MoreError, Scan

__all__ = ["PYTHON", "Dialect", "quoted_mark", "read_literal", "read_value", "round_mark"]

_WORDS: Final[Mapping[str, object]] = MappingProxyType(
    {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
)
_GAP: Final = re.compile(r"(?:\s++|/\*(?:[^*\n]++|\*(?!/))*\*/)*")
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?\Z")
_OCTAL: Final = re.compile(r"[+-]?0[0-7]{1,400}\Z")
_TOKEN: Final = re.compile(r"[\w.+-]*+")
_LONGEST_NUMBER: Final = 400
_WORD: Final = re.compile(r"[^\W\d][\w.-]*+")
_ESCAPE: Final = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|([0-7]{1,3})|(\r?\n)|(.))",
    re.DOTALL,
)
_BY_NAME: Final = re.compile(r"(?:[^\\]++|\\(?!N\{).)*\\N\{", re.DOTALL)
_SURROGATES: Final = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")
_PLAIN: Final = MappingProxyType(
    {
        "n": "\n",
        "t": "\t",
        "r": "\r",
        "a": "\a",
        "b": "\b",
        "f": "\f",
        "v": "\v",
        "\\": "\\",
        "'": "'",
        '"': '"',
        "/": "/",
    }
)
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


def quoted_mark(mark: str) -> Dialect:
    """Return the dialect whose strings are between two of `mark`, as they are, and whose keys are bare."""
    return Dialect(quotes=('"',), raw=(mark,), is_loose=True, has_bare_keys=True)


def round_mark(mark: str) -> Dialect:
    """Return the dialect of arguments in round brackets, whose strings may be between two of `mark` as well."""
    return Dialect(raw=(mark,), has_bare_keys=True, colons=(":", "="), is_round=True)


@attrs.define
class _Open:
    """A list, set or object that is being read; an object waits for a value while `key` is not None."""

    value: Any
    closer: str
    key: str | None = None
    is_set: bool = False
    has_comma: bool = False

    def close(self, pos: int, *, is_cut: bool) -> Any:  # noqa: ANN401 -- any literal
        """Return what was read; round brackets around one value are that value, unless a comma makes a list of it.

        Raises: `BrokenError` for a set that is cut off, or in which a value comes twice: as a list it would differ.
        """
        if self.is_set and (is_cut or len(set(self.value)) < len(self.value)):
            raise BrokenError(pos, "a set is cut off, or a value comes twice in it")
        is_list = self.closer == ")" and isinstance(self.value, list)
        is_value = is_list and len(self.value) == 1 and not self.has_comma
        return self.value[0] if is_value else self.value


def read_literal(scan: Scan, pos: int, dialect: Dialect) -> tuple[Any, int]:
    """Return the value at `pos`, and its end.

    A set becomes a list. Raises: `BrokenError` for what is not a literal, a repeated key, or more than 64 levels.
    """
    stack: list[_Open] = []
    while True:
        pos = _gap(scan, pos)
        top = stack[-1] if stack else None
        char = scan.text[pos : pos + 1]
        if top is not None and top.key is None and (char == top.closer or _is_cut(scan, pos)):
            stack.pop()
            value, pos = top.close(pos, is_cut=not char), pos + len(char)
        elif top is not None and _awaits_key(scan, pos, top, dialect):
            top.key, pos = _key(scan, pos, top.value, dialect)
            continue
        elif char and char in _CLOSERS:
            stack.append(_opened(stack, pos, char, is_object=char == "{" or (dialect.is_round and not stack)))
            pos += 1
            continue
        else:
            value, pos = _scalar(scan, pos, dialect)
        if not stack:
            return value, pos
        pos = _put(scan, stack[-1], value, pos)


def _opened(stack: Sequence[_Open], pos: int, char: str, *, is_object: bool) -> _Open:
    if len(stack) >= MAX_DEPTH - 1:
        raise BrokenError(pos, f"nested deeper than {MAX_DEPTH} levels")
    if stack and stack[-1].is_set:
        raise BrokenError(pos, "a set holds more than plain values")
    return _Open({} if is_object else [], _CLOSERS[char])


def _awaits_key(scan: Scan, pos: int, top: _Open, dialect: Dialect) -> bool:
    """Return whether a key comes next; braces in which none comes first are taken for a set from now on."""
    if not isinstance(top.value, dict) or top.key is not None:
        return False
    if not dialect.has_sets or top.value or _is_key(scan, pos, dialect):
        return True
    top.value, top.is_set = [], True
    return False


def _is_key(scan: Scan, pos: int, dialect: Dialect) -> bool:
    found = _quoted(scan, pos, dialect)
    after = _gap(scan, found[1]) if found is not None else pos
    return found is not None and any(scan.at(each, after) for each in dialect.colons)


def read_value(scan: Scan, pos: int, closer: str | None = None) -> tuple[Any, int, bool]:
    """Return the JSON value at `pos`, its end, and whether it had to be repaired. `closer` ends the block around it.

    Repaired are the quotes and words of Python, a comma too many, comments, and brackets the text ends before; only
    when the caller asked for it.
    """
    if scan.is_repairing:
        try:
            value, end = scan.try_json(pos)
        except BrokenError:
            with contextlib.suppress(BrokenError):
                return *read_literal(scan, pos, PYTHON), True
        else:
            return value, end, False
    return *scan.read_json(pos, closer), False


def _gap(scan: Scan, pos: int) -> int:
    """Return the end of blanks and comments; a comment ends in its line."""
    pos = scan.run(_GAP, pos)
    if scan.is_open and scan.text.startswith("/", pos) and scan.text.find("\n", pos) < 0:
        raise MoreError
    return pos


def _put(scan: Scan, top: _Open, value: object, pos: int) -> int:
    """Put a value where it belongs; return the place after the comma that may follow."""
    if isinstance(top.value, dict):
        top.value[top.key] = value
        top.key = None
    else:
        top.value.append(value)
    pos = _gap(scan, pos)
    if scan.at(",", pos):
        top.has_comma = True
        return pos + 1
    if not scan.at(top.closer, pos) and not _is_cut(scan, pos):
        raise BrokenError(pos, "a comma or a closing bracket is missing")
    return pos


def _is_cut(scan: Scan, pos: int) -> bool:
    """Return whether the text ends before its brackets are closed, and they may be closed for it."""
    return scan.is_repairing and scan.is_end(pos)


def _key(scan: Scan, pos: int, known: Mapping[str, object], dialect: Dialect) -> tuple[str, int]:
    found = _quoted(scan, pos, dialect)
    if found is None:
        end = scan.run(_WORD, pos) if dialect.has_bare_keys else pos
        if end == pos:
            raise BrokenError(pos, "a key is missing")
        found = scan.text[pos:end], end
    key, pos = found
    if key in known:
        raise BrokenError(pos, f"the key `{key[:60]}` occurs twice")
    pos = _gap(scan, pos)
    colon = next((each for each in dialect.colons if scan.at(each, pos)), None)
    if colon is None:
        raise BrokenError(pos, "a colon is missing")
    return key, pos + len(colon)


def _scalar(scan: Scan, pos: int, dialect: Dialect) -> tuple[Any, int]:
    found = _quoted(scan, pos, dialect)
    if found is not None:
        return found
    if dialect.is_loose:
        return _loose(scan, pos)
    end = scan.run(_TOKEN, pos)
    token = scan.text[pos:end]
    if token in _WORDS:
        return _WORDS[token], end
    if _OCTAL.match(token) and int(token) != int(token, 8):
        raise BrokenError(end, "to some readers, a number with a zero in front counts in eights")
    return _number(token, end), end


_BARE: Final = re.compile(r"[^,{}\[\]<>\n]*+")


def _loose(scan: Scan, pos: int) -> tuple[Any, int]:
    end = scan.run(_BARE, pos)
    text = scan.text[pos:end].strip()
    if not text:
        raise BrokenError(end, "a value is missing")
    if text in _WORDS:
        return _WORDS[text], end
    return (_number(text, end) if _NUMBER.match(text) else text), end


def _number(text: str, pos: int) -> int | float:
    """Return the number that is written as `text`, in Python's ways: `1_000` and `0x1F` as well.

    Raises: `BrokenError` for what is none, or is too large.
    """
    if _NUMBER.match(text) is None:
        with contextlib.suppress(ValueError):
            return int(text if len(text) <= _LONGEST_NUMBER else "", 0)
        raise BrokenError(pos, "a value is missing")
    if text.lstrip("+-").isdigit():
        return int(text)
    value = float(text)
    if abs(value) == float("inf"):
        raise BrokenError(pos, "a number is too large")
    return value


def _quoted(scan: Scan, pos: int, dialect: Dialect) -> tuple[str, int] | None:
    for mark in dialect.raw:
        if scan.at(mark, pos):
            end = scan.find(mark, pos + len(mark))
            if end < 0:
                raise BrokenError(pos + len(mark), "a string is not closed")
            return scan.text[pos + len(mark) : end], end + len(mark)
    for quote, pattern in dialect.strings.items():
        if scan.at(quote, pos):
            found = pattern.match(scan.text, pos)
            if found is None:
                if scan.is_open:
                    raise MoreError(quote)
                raise BrokenError(pos + len(quote), "a string is not closed")
            if _BY_NAME.match(found.group(1)):
                raise BrokenError(found.end(), "a character is written by its name")
            return _unescaped(found.group(1)), found.end()
    return None


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _SURROGATES.sub(_paired, _ESCAPE.sub(_one, text))


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


def _paired(found: "re.Match[str]") -> str:
    return found.group().encode("utf-16", "surrogatepass").decode("utf-16")
