"""Counts of very many keys in little memory: 24 bytes each, in a table that never grows."""

from collections.abc import Callable
from typing import Any

__all__ = ["Fingerprints"]

_SPARE = 2
"""So many slots for each key: a search meets few others."""


class Fingerprints:
    """How often each key was added, by a number of 64 bits that stands for it. Not thread-safe.

    Keys that share a number are counted as one, which is too often, and never too seldom. At most `most` numbers are
    kept. The memory is reserved at once, and taken page by page as it is used.
    """

    __slots__ = ("_counts", "_keys", "_slots", "kept", "most")

    def __init__(self, most: int) -> None:
        self.most, self.kept = most, 0
        self._slots = 1 << (most * _SPARE - 1).bit_length()
        self._keys = memoryview(bytearray(8 * self._slots)).cast("Q")
        self._counts = memoryview(bytearray(4 * self._slots)).cast("I")

    def add(self, number: int) -> bool:
        """Count a key once more; return False for one that is new, and has no room."""
        slot = self._find(number)
        if not self._keys[slot]:
            if self.kept >= self.most:
                return False
            self._keys[slot] = _as_kept(number)
            self.kept += 1
        self._counts[slot] += 1
        return True

    def count(self, number: int) -> int:
        """Return how often a key was added."""
        return self._counts[self._find(number)]

    def _find(self, number: int) -> int:
        """Return the slot that a number has, or would get."""
        number, keys, last = _as_kept(number), self._keys, self._slots - 1
        slot = number & last
        while (key := keys[slot]) and key != number:
            slot = (slot + 1) & last
        return slot

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fingerprints):
            return NotImplemented
        return (self.most, self._keys, self._counts) == (other.most, other._keys, other._counts)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __reduce__(self) -> tuple[Callable[..., "Fingerprints"], tuple[Any, ...]]:
        return _restored, (self.most, self.kept, bytes(self._keys), bytes(self._counts))


def _as_kept(number: int) -> int:
    # Zero is an empty slot.
    return number & 0xFFFF_FFFF_FFFF_FFFF or 1


def _restored(most: int, kept: int, keys: bytes, counts: bytes) -> Fingerprints:
    table = Fingerprints(most)
    table.kept = kept
    table._keys[:] = memoryview(keys).cast("Q")  # noqa: SLF001 -- its own
    table._counts[:] = memoryview(counts).cast("I")  # noqa: SLF001 -- its own
    return table
