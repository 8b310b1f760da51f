"""Counts of very many keys in little memory: 24 bytes each, in a table that never grows."""

from array import array

import attrs

__all__ = ["Fingerprints"]

_FEW = 4_096
"""So many keys are in a dictionary, where they are found sooner; most sessions have no more."""
_SPARE = 2
"""So many slots for each further key: a search meets few others."""
_MASK = 0xFFFF_FFFF_FFFF_FFFF


@attrs.define
class Fingerprints:
    """How often each key was added, by its fingerprint of 64 bits. Not thread-safe.

    Keys that share a number are counted as one, which is too often, and never too seldom. At most `most` numbers are
    kept. The memory for them is reserved at once, when they are more than a few.
    """

    most: int
    kept: int = attrs.field(default=0, init=False)
    _few: dict[int, int] = attrs.field(factory=dict, init=False, repr=False)
    # A table of open slots, without any until there are more than a few.
    _keys: "array[int]" = attrs.field(factory=lambda: array("Q"), init=False, repr=False)
    _counts: "array[int]" = attrs.field(factory=lambda: array("I"), init=False, repr=False)

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
            slots = 1 << ((self.most - self.kept) * _SPARE - 1).bit_length()
            self._keys, self._counts = array("Q", (0,)) * slots, array("I", (0,)) * slots
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
