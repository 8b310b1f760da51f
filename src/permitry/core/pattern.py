"""Patterns over names, `*` for any run of characters, `?` for exactly one; and many of them at once."""

import functools
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import attrs

__all__ = ["ANY", "CharSet", "Globs", "Pattern", "Piece", "Unit", "fold", "has_pieces", "is_one"]


def fold(text: str) -> str:
    """Return the text as the most forgiving file system compares it: no case, composed, without invisible letters."""
    if text.isascii():
        return text.lower()
    composed = unicodedata.normalize("NFC", text)
    unseen = {ord(char): None for char in set(composed) if unicodedata.category(char) == "Cf"}
    shown = composed.translate(unseen) if unseen else composed
    return unicodedata.normalize("NFC", shown.casefold())


@attrs.frozen
class CharSet:
    """The characters one place of a name may hold; negated, those it may not."""

    ranges: tuple[tuple[str, str], ...] = ()
    is_negated: bool = True
    ignores_case: bool = False

    def __contains__(self, char: str) -> bool:
        forms = {char, char.lower(), char.upper()} if self.ignores_case else {char}
        return any(any(low <= form <= high for low, high in self.ranges) is not self.is_negated for form in forms)


Unit: TypeAlias = str | CharSet
Piece: TypeAlias = str | tuple[Unit, ...]

ANY = CharSet()
_LETTERS = 4
_MANY = 50
"""For more pieces than this, looking for each in all names takes longer than looking up what a name holds."""


@attrs.frozen
class Pattern:
    """A glob over one name, matched by splitting at its stars.

    The cost is at most the product of both lengths, whatever the stars: nothing is turned into a regular
    expression, so no argument can make a match slow.
    """

    text: str

    @property
    def is_exact(self) -> bool:
        """Whether the pattern is a plain name."""
        return "*" not in self.text and "?" not in self.text

    @functools.cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """What is between the stars."""
        return tuple(
            tuple(ANY if char == "?" else char for char in piece) if "?" in piece else piece
            for piece in self.text.split("*")
        )

    def matches(self, name: str) -> bool:
        """Return whether the whole of `name` fits."""
        return name == self.text or (not self.is_exact and has_pieces(name, self.pieces))


def has_pieces(name: str, pieces: Sequence[Piece]) -> bool:
    """Return whether a name consists of these pieces, in order, with any text between each two."""
    first, *middle = pieces
    if not middle:
        return len(name) == len(first) and _fits(first, name, 0)
    *middle, last = middle
    at, stop = len(first), len(name) - len(last)
    if stop < at or not _fits(first, name, 0) or not _fits(last, name, stop):
        return False
    # Leftmost placement of each piece is enough: a later one could only leave less room for the rest.
    for piece in middle:
        at = _find(piece, name, at, stop)
        if at < 0:
            return False
        at += len(piece)
    return True


def is_one(unit: Unit, char: str) -> bool:
    """Return whether a place of a pattern holds this character."""
    return unit == char if isinstance(unit, str) else char in unit


def _find(piece: Piece, name: str, start: int, stop: int) -> int:
    if isinstance(piece, str):
        return name.find(piece, start, stop)
    places = range(start, stop - len(piece) + 1)
    return next((at for at in places if _fits(piece, name, at)), -1)


def _fits(piece: Piece, name: str, at: int) -> bool:
    if isinstance(piece, str):
        return name.startswith(piece, at)
    return all(map(is_one, piece, name[at : at + len(piece)]))


class _Filed(NamedTuple):
    """One glob, None where its place says that it fits, and the numbers filed under it."""

    pattern: Pattern | None
    numbers: list[int]


class Globs:
    """Numbers filed under globs: which of many fit one name, without trying them all. `add` all, `close`, then `find`.

    A glob is filed under one literal piece of it: what it begins with, what it ends with, or four letters from between,
    whichever fewest others are filed under. A name is looked up by the pieces it holds; what is found there is tried.
    A name costs the same however many globs there are that do not fit it.
    """

    __slots__ = ("_all", "_heads", "_middles", "_pieces", "_sizes", "_tails", "_texts")

    def __init__(self) -> None:
        self._texts: dict[str, list[int]] = {}
        self._heads: dict[str, list[_Filed]] = {}
        self._tails: dict[str, list[_Filed]] = {}
        self._middles: dict[str, list[_Filed]] = {}
        self._all: list[_Filed] = []
        self._pieces: tuple[str, ...] = ()
        self._sizes: tuple[tuple[int, ...], ...] = ((), (), ())

    def add(self, text: str, number: int) -> None:
        """File a number under a glob."""
        numbers = self._texts.get(text)
        if numbers is not None:
            numbers.append(number)
            return
        self._texts[text] = numbers = [number]
        # `head*`, `*tail` and `*` ask for no more than to be found under their one piece.
        says_all = "?" not in text and (text.find("*") == len(text) - 1 or text.rfind("*") == 0)
        self._place(text).append(_Filed(None if says_all else Pattern(text), numbers))

    def close(self) -> None:
        """Get ready to `find`; nothing can be added any more."""
        self._texts = {}
        files = (self._heads, self._tails, self._middles)
        self._pieces = tuple(piece for file in files for piece in file)
        self._sizes = tuple(tuple(sorted(set(map(len, file)))) for file in files)

    def may_fit(self, names: Collection[str]) -> bool:
        """Return whether a glob may fit one of the names; where there are many globs, always."""
        if self._all or len(self._pieces) > _MANY:
            return True
        text = "\n".join(names)
        return any(map(text.__contains__, self._pieces))

    def find(self, name: str) -> set[int]:
        """Return the numbers filed under globs that fit `name`."""
        found: set[int] = set()
        for pattern, numbers in self._near(name):
            if pattern is None or pattern.matches(name):
                found.update(numbers)
        return found

    def _near(self, name: str) -> list[_Filed]:
        near = list(self._all)
        length = len(name)
        heads, tails, middles = self._sizes
        for size in heads:
            if size <= length:
                near += self._heads.get(name[:size], ())
        for size in tails:
            if size <= length:
                near += self._tails.get(name[length - size :], ())
        for size in middles:
            # As a set: a piece that occurs twice is one piece.
            for piece in {name[at : at + size] for at in range(length - size + 1)}:
                near += self._middles.get(piece, ())
        return near

    def _place(self, text: str) -> list[_Filed]:
        """Return the emptiest place for a glob; of equals, the first."""
        best: list[_Filed] | None = None
        for file, piece in self._places(text):
            near = file.get(piece)
            if near is None:
                near = file[piece] = []
                return near
            if best is None or len(near) < len(best):
                best = near
        return self._all if best is None else best

    def _places(self, text: str) -> Iterator[tuple[dict[str, list[_Filed]], str]]:
        head, *middle, tail = text.replace("?", "*").split("*")
        if head:
            yield self._heads, head
        if tail:
            yield self._tails, tail
        for piece in filter(None, middle):
            size = min(len(piece), _LETTERS)
            for at in range(len(piece) - size + 1):
                yield self._middles, piece[at : at + size]
