"""Where lines occur in a file: exactly, or else by ever looser comparisons.

Source: shared facts on apply_patch, "Matching".
"""

import bisect
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from permitry.port import ToolError

__all__ = ["Haystack"]

_MOST_COMPARED = 20_000_000
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    }
)


def _plain(line: str) -> str:
    """Return the line without blanks around it, its dashes, quotation marks and blanks as on a typewriter."""
    return line.strip().translate(_PLAIN)


_Reading: TypeAlias = Callable[[str], str]
_READINGS: tuple[_Reading, ...] = (str, str.rstrip, str.strip, _plain)


class Haystack:
    """The lines of one file, to be searched many times; each reading of them is made once, when it is needed.

    A file is looked at only where the rarest of the wanted lines occurs, so that a long patch takes about as long as
    it is long. What is repetitive enough to take longer all the same is refused.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._read: dict[_Reading, tuple[Sequence[str], Mapping[str, list[int]]]] = {}
        self._left = _MOST_COMPARED

    def find(self, wanted: Sequence[str], start: int) -> int | None:
        """Return where `wanted` first occurs at or after `start`, or None; both count from 0.

        Raises: `ToolError` when that takes too long.
        """
        if not wanted:
            return start
        if start + len(wanted) > len(self._lines):
            return None
        for reading in _READINGS:
            found = self._find(list(map(reading, wanted)), start, reading)
            if found is not None:
                return found
        return None

    def spend(self, count: int) -> None:
        """Note that `count` lines are about to be compared or moved.

        Raises: `ToolError` when it is too many by now.
        """
        self._left -= count
        if self._left < 0:
            raise ToolError("The lines are too repetitive to be found in reasonable time. Give shorter chunks")

    def _find(self, wanted: list[str], start: int, reading: _Reading) -> int | None:
        lines, places = self._prepare(reading)
        rarest = min(range(len(wanted)), key=lambda at: len(places.get(wanted[at], ())))
        found_at = places.get(wanted[rarest], [])
        for at in range(bisect.bisect_left(found_at, start + rarest), len(found_at)):
            begin = found_at[at] - rarest
            self.spend(len(wanted))
            if lines[begin : begin + len(wanted)] == wanted:
                return begin
        return None

    def _prepare(self, reading: _Reading) -> tuple[Sequence[str], Mapping[str, list[int]]]:
        if reading not in self._read:
            lines = [reading(line) for line in self._lines]
            places: defaultdict[str, list[int]] = defaultdict(list)
            for at, line in enumerate(lines):
                places[line].append(at)
            self._read[reading] = lines, places
        return self._read[reading]
