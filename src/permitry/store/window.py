"""The uses of one shared budget, with the times until which they count: a value that is stored as a text."""

import json
import math

import attrs

from permitry.errors import StoreError

__all__ = ["Window"]

# A window has so many steps; the time of a use is rounded up to one, so that a text has a bounded length.
_STEPS = 256


@attrs.frozen
class Window:
    """So many uses at each time, in seconds since 1970. A count may be too high for a while, and is never too low.

    `seen` is the latest time at which a use was taken: a clock that is behind it is not believed. `seconds` is the
    longest window that was counted; older uses are forgotten.
    """

    seen: float = 0.0
    seconds: float = 0.0
    uses: tuple[tuple[float, int], ...] = ()

    def count(self, now: float, seconds: float) -> int:
        """Return how many uses are in the window of so many seconds that ends now."""
        since = max(now, self.seen) - seconds
        return sum(count for at, count in self.uses if at > since)

    def add(self, now: float, seconds: float, count: int, length: float = 0.0) -> tuple["Window", float]:
        """Return the window with more uses, which may happen for the next `length` seconds, and the time of all.

        That is the end of this span or later, so that no window forgets a use too early.
        """
        now, longest, step = max(now, self.seen), max(self.seconds, seconds), seconds / _STEPS
        at = max(now + length, math.ceil((now + length) / step) * step)
        uses = {each: number for each, number in self.uses if each > now - longest}
        uses[at] = uses.get(at, 0) + count
        return Window(now, longest, tuple(sorted(uses.items()))), at

    def remove(self, at: float, count: int) -> "Window":
        """Return the window without so many uses of one time, which did not happen and never will."""
        uses = ((each, number - count if each == at else number) for each, number in self.uses)
        return attrs.evolve(self, uses=tuple((each, number) for each, number in uses if number > 0))

    @classmethod
    def of(cls, text: str | None) -> "Window":
        """Return the window that a text describes; None is an empty one.

        Raises: `StoreError` for another text.
        """
        if text is None:
            return cls()
        try:
            seen, seconds, uses = json.loads(text)
            window = cls(float(seen), float(seconds), tuple((float(at), int(count)) for at, count in uses))
        except (ValueError, TypeError) as error:
            raise StoreError(f"a shared budget in the store cannot be read: {error}") from error
        if not all(map(math.isfinite, (window.seen, window.seconds, *(at for at, _ in window.uses)))):
            raise StoreError("a shared budget in the store has a time that is not a number")
        return window

    @property
    def text(self) -> str:
        """The window as a JSON text."""
        return json.dumps([self.seen, self.seconds, self.uses])
