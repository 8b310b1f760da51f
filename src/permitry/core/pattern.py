"""Patterns over names: `*` for any run of characters, `?` for exactly one."""

import functools
import unicodedata
from collections.abc import Sequence
from typing import TypeAlias

import attrs

__all__ = ["ANY", "CharSet", "Pattern", "Piece", "Unit", "fold", "has_pieces", "is_one"]


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
