"""The counts of shared budgets in a store: all that share a budget together never use more of it than there is."""

from typing import NamedTuple

import attrs

from permitry.store.store import Connection, Database
from permitry.store.window import Window

__all__ = ["Account", "StoredCounters", "Uses"]

# A lease takes at most this part of what is left, so that what is lost with it is little.
_PART = 16
_KEY = "rule = ? AND kind = ? AND name = ?"
_LOOK = f"SELECT (SELECT seconds FROM wall_clock), (SELECT uses FROM shared_budget WHERE {_KEY})"  # noqa: S608 -- a text of ours
_KEEP = """INSERT INTO shared_budget (rule, kind, name, uses) VALUES (?, ?, ?, ?)
    ON CONFLICT (rule, kind, name) DO UPDATE SET uses = excluded.uses"""


class Account(NamedTuple):
    """Whose uses of a budget are counted together: the id of the rule, the kind of those who share it, their name."""

    rule: str
    kind: str
    name: str


@attrs.frozen
class Uses:
    """Uses that were taken, all counted at the time `at`; `used` is how many are counted with them."""

    at: float
    count: int
    used: int


@attrs.frozen
class StoredCounters:
    """The shared budgets of a store, by the clock of the store. Each method is one transaction.

    All methods raise `StoreError` where the store is away.
    """

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
