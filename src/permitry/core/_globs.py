"""Many globs at once: which of them fit one name, without trying them all.

A glob is filed under one literal piece of it: what it begins with, what it ends with, or four letters from between,
whichever fewest others are filed under. A name is looked up by the pieces it holds; what is found there is tried.
Nothing is turned into a regular expression, and a name costs the same however many globs there are that do not fit it.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from permitry.core.pattern import Pattern

_LETTERS = 4
_MANY = 50
"""For more pieces than this, looking for each in all names takes longer than looking up what a name holds."""


class _Filed(NamedTuple):
    """One glob, None where its place in the file says that it fits, and the numbers filed under it."""

    pattern: Pattern | None
    numbers: list[int]


class Globs:
    """Numbers filed under globs; `add` all of them, then `find`."""

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
        self._place(text).append(_Filed(None if _says_all(text) else Pattern(text), numbers))

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


def _says_all(text: str) -> bool:
    """Return whether being found under its one piece is all the glob asks for: `head*`, `*tail`, or `*`."""
    return "?" not in text and (text.find("*") == len(text) - 1 or text.rfind("*") == 0)
