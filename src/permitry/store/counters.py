"""The counts of shared budgets in a store: those that share one never use more than there is."""

import json
import math
from typing import NamedTuple

import attrs

from permitry.errors import StoreError
from permitry.store.store import Connection, Database

__all__ = ["Account", "StoredCounters", "Uses", "Window"]

# A window has so many steps; the time of a use is rounded up to one, so that a text has a bounded length.
_STEPS = 256
# A lease takes at most this part of what is left, so that what is lost with it is little.
_PART = 16
_LOOK = """SELECT (SELECT seconds FROM wall_clock),
    (SELECT uses FROM shared_budget WHERE rule = ? AND kind = ? AND name = ?)"""
_KEEP = """INSERT INTO shared_budget (rule, kind, name, uses) VALUES (?, ?, ?, ?)
    ON CONFLICT (rule, kind, name) DO UPDATE SET uses = excluded.uses"""


class Account(NamedTuple):
    """Whose uses of a budget are counted together: the rule, the kind of those who share it, their name."""

    rule: str
    kind: str
    name: str


@attrs.frozen
class Uses:
    """Uses that were taken, counted at the time `at`; `used` is how many are counted with them."""

    at: float
    count: int
    used: int


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
        """Return the window with more uses, in the next `length` seconds, and the time of all: then or later."""
        now, longest, step = max(now, self.seen), max(self.seconds, seconds), seconds / _STEPS
        at = max(now + length, math.ceil((now + length) / step) * step)
        uses = {each: number for each, number in self.uses if each > now - longest}
        uses[at] = uses.get(at, 0) + count
        return Window(now, longest, tuple(sorted(uses.items()))), at

    def remove(self, at: float, count: int) -> "Window":
        """Return the window without so many uses of one time, which did not happen."""
        uses = ((each, number - count if each == at else number) for each, number in self.uses)
        return attrs.evolve(self, uses=tuple((each, number) for each, number in uses if number > 0))

    @classmethod
    def of(cls, text: str | None) -> "Window":
        """Return the window that a text describes, an empty one for None; `StoreError` for another text."""
        if text is None:
            return cls()
        try:
            seen, seconds, uses = json.loads(text)
            window = cls(float(seen), float(seconds), tuple((float(at), int(count)) for at, count in uses))
        except (ValueError, TypeError) as error:
            raise StoreError(f"a shared budget in the store cannot be read: {error}") from error
        times = window.seen, window.seconds, *(at for at, _ in window.uses)
        if not all(map(math.isfinite, times)):
            raise StoreError("a shared budget in the store has a time that is not a number")
        return window

    @property
    def text(self) -> str:
        """The window as a JSON text."""
        return json.dumps([self.seen, self.seconds, self.uses])


@attrs.frozen
class StoredCounters:
    """The shared budgets of a store, by its clock. Each method is one transaction, or raises `StoreError`."""

    database: Database

    def count(self, account: Account, seconds: float) -> int:
        """Return how many uses were taken in the last so many seconds."""
        with self.database.read() as connection:
            now, window = _look_up(connection, account)
        return window.count(now, seconds)

    def take(
        self,
        account: Account,
        most: int,
        seconds: float,
        *,
        wanted: int = 1,
        length: float = 0.0,
        returned: tuple[float, int] | None = None,
    ) -> Uses | None:
        """Take as many uses as are wanted, or fewer where little is left; None where nothing is.

        Where it is more than one, they may be used for `length` seconds. `returned` is the time and the number of uses
        that were taken before, and are given back first.
        """
        with self.database.change() as connection:
            now, window = _look_up(connection, account)
            if returned is not None:
                window = window.remove(*returned)
            used, taken = window.count(now, seconds), None
            if used < most:
                count = min(wanted, max(1, (most - used) // _PART))
                window, at = window.add(now, seconds, count, length if count > 1 else 0.0)
                taken = Uses(at, count, used + count)
            if taken is not None or returned is not None:
                connection.execute(_KEEP, (*account, window.text))
        return taken

    def add(self, account: Account, seconds: float) -> None:
        """Count one use, also where nothing is left."""
        with self.database.change() as connection:
            now, window = _look_up(connection, account)
            connection.execute(_KEEP, (*account, window.add(now, seconds, 1)[0].text))

    def give_back(self, account: Account, at: float, count: int) -> None:
        """Count uses that were taken and did not happen no longer; once."""
        with self.database.change() as connection:
            _, window = _look_up(connection, account)
            connection.execute(_KEEP, (*account, window.remove(at, count).text))


def _look_up(connection: Connection, account: Account) -> tuple[float, Window]:
    """Return the time of the store, and what was used."""
    now, text = connection.execute(_LOOK, account).fetchone()
    return float(now), Window.of(text)
