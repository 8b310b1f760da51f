"""The texts that a pattern of RE2 matches as a whole, where it is of the parts of RE2 that are read here."""

import re
import string
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

import attrs

from permitry_ops.diff.language import Alternatives, Chars, Expression, Repeat

__all__ = ["UnreadError", "read_regex"]

_DIGITS = frozenset(string.digits)
_CLASSES = {"d": _DIGITS, "w": frozenset(string.ascii_letters + string.digits + "_"), "s": frozenset("\t\n\f\r ")}
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
# Besides its other case: these are the only ASCII letters that Unicode folds others to.
_ALIKE = {"k": "\u212a", "s": "\u017f"}
_FLAGS = re.compile(r"\(\?([is]+)\)")
_ANCHORED = re.compile(r"(\^|\\A)?((?:[^\\]|\\.)*?)(\$?)", re.DOTALL)
_GROUP = re.compile(r"\((?:\?:|\?P?<\w+>)?")
_TIMES = re.compile(r"(?:[*+?]|\{(\d+)(,?)(\d*)\})\??")
_WHOLE = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_MOST_CHARS = 512


class UnreadError(Exception):
    """Raised for a part of a pattern that is not read here; the message is that part."""


def read_regex(text: str) -> Expression:
    """Return the texts that a valid pattern matches as a whole. Raises: `UnreadError`."""
    flags = _FLAGS.match(text)
    bare = text if flags is None else text[flags.end() :]
    # Anchors at the ends change nothing, because the whole text must match anyway.
    opening, inner, closing = _ANCHORED.fullmatch(bare).groups()  # type: ignore[union-attr]  # matches every text
    if (opening and (_TIMES.match(inner) or "|" in inner)) or (closing and "|" in inner):
        raise UnreadError("an anchor")
    reader = _Reader(inner, ignores_case=flags is not None and "i" in flags[1])
    found = reader.alternatives()
    if reader.at < len(inner):
        raise UnreadError(inner[reader.at])
    return found


@attrs.define
class _Reader:
    """Reads a pattern in one pass."""

    text: str
    ignores_case: bool
    at: int = 0

    def alternatives(self) -> Expression:
        each = [tuple(self._sequence())]
        while self._next() == "|":
            self.at += 1
            each.append(tuple(self._sequence()))
        return each[0] if len(each) == 1 else Alternatives(tuple(each))

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _sequence(self) -> Iterator[Expression]:
        while self._next() not in ("", "|", ")"):
            part = self._part()
            found = _TIMES.match(self.text, self.at)
            if found is None:
                yield part
                continue
            self.at = found.end()
            if _TIMES.match(self.text, self.at):
                raise UnreadError("a repetition of a repetition")
            yield Repeat(part, *_times(found))

    def _part(self) -> Expression:
        char = self._next()
        match char:
            case "(":
                return self._group()
            case "[":
                return self._set()
            case ".":
                self.at += 1
                return Chars(is_negated=True)
            case "\\":
                return self._escape()
            case "^" | "$":
                raise UnreadError("an anchor")
        self.at += 1
        return self._of({char})

    def _group(self) -> Expression:
        opening = _GROUP.match(self.text, self.at)
        if opening is None or self.text.startswith("?", opening.end()):
            raise UnreadError("flags in a group")
        self.at = opening.end()
        inner = self.alternatives()
        self.at += 1
        return inner

    def _escape(self) -> Chars:
        char = self.text[self.at + 1]
        self.at += 2
        if char.lower() in _CLASSES:
            return attrs.evolve(self._of(_CLASSES[char.lower()]), is_negated=char.isupper())
        return self._of({self._sign(char)})

    def _sign(self, char: str) -> str:
        """Return the character that a backslash and this one denote."""
        if char in _SIGNS:
            return _SIGNS[char]
        if char.isalnum():
            raise UnreadError(f"\\{char}")
        return char

    def _set(self) -> Chars:
        self.at += 1
        is_negated = self._next() == "^"
        self.at += is_negated
        chars: set[str] = set()
        first = self.at
        while self._next() != "]" or self.at == first:
            chars |= self._range()
        self.at += 1
        return attrs.evolve(self._of(chars), is_negated=is_negated)

    def _range(self) -> set[str]:
        """Return the characters of the next part of a set."""
        if self.text.startswith("[:", self.at):
            raise UnreadError("a named class")
        if self._next() == "\\" and self.text[self.at + 1].lower() in _CLASSES:
            found = self._escape()
            if found.is_negated:
                raise UnreadError("a negated class in a set")
            return set(found.chars)
        low = self._one()
        if self._next() != "-" or self.text.startswith("-]", self.at):
            return {low}
        self.at += 1
        high = self._one()
        if ord(high) - ord(low) > _MOST_CHARS:
            raise UnreadError("a wide range")
        return {chr(at) for at in range(ord(low), ord(high) + 1)}

    def _one(self) -> str:
        char = self._next()
        self.at += 1
        if char != "\\":
            return char
        self.at += 1
        return self._sign(self.text[self.at - 1])

    def _of(self, chars: AbstractSet[str]) -> Chars:
        if not self.ignores_case:
            return Chars(frozenset(chars))
        if not all(map(str.isascii, chars)):
            raise UnreadError("(?i) with letters that are not ASCII")
        every = {form for char in chars for form in (char.lower(), char.upper())}
        return Chars(frozenset(every | {_ALIKE[char] for char in every if char in _ALIKE}))


def _times(found: re.Match[str]) -> tuple[int, int | None]:
    least, comma, most = found.groups()
    if least is None:
        return _WHOLE[found[0][0]]
    return int(least), int(most) if most else None if comma else int(least)
