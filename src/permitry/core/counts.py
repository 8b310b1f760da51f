"""Counts in bounded memory: of very many keys, and of calls by their times."""

import itertools
import math
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable

import attrs

__all__ = ["Fingerprints", "Tally"]


@attrs.define
class Fingerprints:
    """How often each of at most `most` keys was added, by a short name of it. Not thread-safe.

    Keys of one name are counted as one, which is too often, and never too seldom.
    """

    most: int
    _counts: dict[Hashable, int] = attrs.field(factory=dict, init=False, repr=False)

    def add(self, name: Hashable) -> bool:
        """Count a key once more; return False for one that is new, and has no room."""
        counts = self._counts
        if name not in counts and len(counts) >= self.most:
            return False
        counts[name] = counts.get(name, 0) + 1
        return True

    def count(self, name: Hashable) -> int:
        """Return how often a key was added."""
        return self._counts.get(name, 0)


@attrs.define
class Tally:
    """What one budget counts for a session, agent or tool: calls and targets, by their times in seconds, in any order.

    The times of the last `exact` calls are kept, and of those before one in so many that a count is at most a part in
    `exact` too high; of targets the last `most`. What was forgotten goes out of a window later, never earlier: a count
    may be too high, and is never too low.
    """

    exact: int
    most: int
    calls: int = 0
    _times: "array[float]" = attrs.field(factory=lambda: array("d"))
    # How many calls came no later than each of the times.
    _until: "array[int]" = attrs.field(factory=lambda: array("Q"))
    _room: int = attrs.field(default=attrs.Factory(lambda self: 4 * self.exact, takes_self=True))
    # By the order in which they were last seen.
    _seen: "OrderedDict[str, float]" = attrs.field(factory=OrderedDict)
    # Whether those that were seen later have later times.
    _is_ordered: bool = True
    # Targets that were forgotten, and when the latest of them was seen.
    _lost: int = 0
    _lost_at: float = -math.inf

    def add(self, at: float, targets: Collection[str]) -> None:
        """Put a call on the account, with what it touched."""
        self.calls += 1
        if math.isfinite(at):
            self._add_time(at)
        else:
            # A call at no known time counts for ever.
            at = math.inf
        for target in targets:
            self._is_ordered &= at >= next(reversed(self._seen.values()), at)
            self._seen[target] = max(at, self._seen.get(target, at))
            self._seen.move_to_end(target)
        while len(self._seen) > self.most:
            self._lost += 1
            self._lost_at = max(self._lost_at, self._seen.popitem(last=False)[1])

    def calls_since(self, since: float) -> int:
        """Return how many calls came after `since`."""
        place = bisect_right(self._times, since)
        return self.calls - (self._until[place - 1] if place else 0)

    def targets_since(self, since: float, others: Collection[str]) -> int:
        """Return how many targets were seen after `since`, or are among `others`."""
        count = sum(self._seen.get(target, -math.inf) <= since for target in others)
        if since == -math.inf:
            return count + self._lost + len(self._seen)
        later: Iterable[float] = reversed(self._seen.values())
        if self._is_ordered:
            later = itertools.takewhile(since.__lt__, later)
        return count + self._lost * (self._lost_at > since) + sum(at > since for at in later)

    def _add_time(self, at: float) -> None:
        times, until = self._times, self._until
        place = bisect_right(times, at)
        until.insert(place, self.calls - self.calls_since(at))
        times.insert(place, at)
        for later in range(place, len(until)):
            until[later] += 1
        if len(times) > self._room:
            self._thin()

    def _thin(self) -> None:
        """Keep the fewer times the longer ago they are."""
        # INVARIANT: law 4. A call whose time is dropped counts until the next time that is kept has passed.
        depths = [self._until[-1] - until for until in self._until]
        kept, limit = [], 0
        for place in range(len(depths) - 1, -1, -1):
            # A gap may hold one call in `exact` of those that came later. The oldest stays: without it, its calls would
            # count as long as those of the next time.
            if place == 0 or depths[place - 1] > limit:
                kept.append(place)
                limit = depths[place] + 1 + depths[place] // self.exact
        kept.reverse()
        self._times = array("d", (self._times[place] for place in kept))
        self._until = array("Q", (self._until[place] for place in kept))
        self._room = 3 * len(kept) // 2 + 2 * self.exact
