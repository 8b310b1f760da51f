"""Counts of very many keys in little memory: 24 bytes each, in a table that never grows."""

from collections.abc import Callable
from typing import Any

__all__ = ["Fingerprints"]

_FEW = 4_096
"""So many keys are in a dictionary, where they are found sooner; most sessions have no more."""
_SPARE = 2
"""So many slots for each further key: a search meets few others."""
_MASK = 0xFFFF_FFFF_FFFF_FFFF


class Fingerprints:
    """How often each key was added, by its fingerprint of 64 bits. Not thread-safe.

    Keys that share a number are counted as one, which is too often, and never too seldom. At most `most` numbers are
    kept. The memory for them is reserved at once, when they are more than a few.
    """

    __slots__ = ("_counts", "_few", "_keys", "kept", "most")

    def __init__(self, most: int) -> None:
        self.most, self.kept = most, 0
        self._few: dict[int, int] = {}
        self._keys, self._counts = _table(0)

    def add(self, number: int) -> bool:
        """Count a key once more; return False for one that is new, and has no room."""
        number &= _MASK
        few = self._few
        if number in few:
            few[number] += 1
        elif len(few) < _FEW and self.kept < self.most:
            few[number] = 1
            self.kept += 1
        else:
            return self._add_to_table(number or 1)
        return True

    def count(self, number: int) -> int:
        """Return how often a key was added."""
        number &= _MASK
        found = self._few.get(number, 0)
        return found if found or not self._keys else self._counts[self._find(number or 1)]

    def _add_to_table(self, number: int) -> bool:
        if not self._keys:
            if self.kept >= self.most:
                return False
            self._keys, self._counts = _table(self.most - self.kept)
        keys, slot = self._keys, self._find(number)
        if not keys[slot]:
            if self.kept >= self.most:
                return False
            keys[slot] = number
            self.kept += 1
        self._counts[slot] += 1
        return True

    def _find(self, number: int) -> int:
        """Return the slot that a number has, or would get; an empty one holds a zero."""
        keys = self._keys
        last = len(keys) - 1
        slot = number & last
        while (key := keys[slot]) != number and key:
            slot = (slot + 1) & last
        return slot

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fingerprints):
            return NotImplemented
        return self._state() == other._state()

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __reduce__(self) -> tuple[Callable[..., "Fingerprints"], tuple[Any, ...]]:
        return _restore, self._state()

    def _state(self) -> tuple[Any, ...]:
        return self.most, self.kept, dict(self._few), bytes(self._keys), bytes(self._counts)


def _views(keys: bytearray, counts: bytearray) -> tuple[memoryview, memoryview]:
    return memoryview(keys).cast("Q"), memoryview(counts).cast("I")


def _table(most: int) -> tuple[memoryview, memoryview]:
    """Return the keys and the counts of an empty table for so many keys."""
    slots = 1 << (most * _SPARE - 1).bit_length() if most else 0
    return _views(bytearray(8 * slots), bytearray(4 * slots))


def _restore(most: int, kept: int, few: dict[int, int], keys: bytes, counts: bytes) -> Fingerprints:
    table = Fingerprints(most)
    table.kept, table._few = kept, few  # noqa: SLF001 -- its own
    table._keys, table._counts = _views(bytearray(keys), bytearray(counts))  # noqa: SLF001 -- its own
    return table
