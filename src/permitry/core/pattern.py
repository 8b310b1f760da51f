"""Patterns over names: `*` for any run of characters, `?` for exactly one."""

import unicodedata

import attrs

__all__ = ["Pattern", "fold"]


def fold(text: str) -> str:
    """Return the text as the most forgiving file system compares it: no case, composed, without invisible letters."""
    if text.isascii():
        return text.lower()
    shown = "".join(char for char in unicodedata.normalize("NFC", text) if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFC", shown.casefold())


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

    def matches(self, name: str) -> bool:
        """Return whether the whole of `name` fits."""
        if self.is_exact:
            return name == self.text
        first, *middle = self.text.split("*")
        if not middle:
            return len(name) == len(first) and _fits(first, name, 0)
        *middle, last = middle
        stop = len(name) - len(last)
        if stop < len(first) or not _fits(first, name, 0) or not _fits(last, name, stop):
            return False
        return _in_order(middle, name, len(first), stop)


def _in_order(pieces: list[str], name: str, at: int, stop: int) -> bool:
    # Leftmost placement of each piece is enough: a later one could only leave less room for the rest.
    for piece in pieces:
        at = _find(piece, name, at, stop)
        if at < 0:
            return False
        at += len(piece)
    return True


def _find(piece: str, name: str, start: int, stop: int) -> int:
    if "?" not in piece:
        return name.find(piece, start, stop)
    places = range(start, stop - len(piece) + 1)
    return next((at for at in places if _fits(piece, name, at)), -1)


def _fits(piece: str, name: str, at: int) -> bool:
    if "?" not in piece:
        return name.startswith(piece, at)
    return all(want in ("?", have) for want, have in zip(piece, name[at : at + len(piece)], strict=True))
