"""Grants in a store: what a human has allowed beforehand, until it is used up, over, or revoked."""

import attrs

from permitry.store.questions import Now, in_time
from permitry.store.store import Database, Row, change_rows, read_rows

__all__ = ["StoredGrants"]

_COLUMNS = (
    "id", "rule", "digest", "agent", "session", "principal", "reason", "granted_by", "made_at", "deadline", "boot",
    "steady", "uses_left", "revoked_at",
)  # fmt: skip
_LIST = ", ".join(_COLUMNS)
_ADD = f"INSERT INTO permission_grant ({_LIST}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608 -- names of ours
_LOOK = f"SELECT {_LIST} FROM permission_grant"  # noqa: S608 -- as above

_TAKE = "UPDATE permission_grant SET uses_left = uses_left - 1 WHERE id = ? AND "
_FORGET = "DELETE FROM permission_grant WHERE NOT "

# As of a question: see there.
_IN_FORCE = """(revoked_at IS NULL AND (uses_left IS NULL OR uses_left > 0) AND (deadline IS NULL
    OR (boot = ? AND boot <> '' AND steady >= ?)
    OR ((boot <> ? OR boot = '') AND deadline >= ? AND made_at <= ?)))"""


@attrs.frozen
class StoredGrants:
    """The grants of a store, as rows. Each method is one transaction, or raises `StoreError`."""

    database: Database

    def add(self, row: Row) -> None:
        """Keep a grant."""
        change_rows(self.database, _ADD, tuple(row[name] for name in _COLUMNS))

    def all(self) -> list[Row]:
        """Return all grants that are kept, oldest first."""
        return read_rows(self.database, _COLUMNS, f"{_LOOK} ORDER BY made_at, id")

    def in_force(self, now: Now) -> list[Row]:
        """Return the grants that count, oldest first."""
        return read_rows(self.database, _COLUMNS, f"{_LOOK} WHERE {_IN_FORCE} ORDER BY made_at, id", in_time(now))

    def take(self, name: str, now: Now) -> bool:
        """Take a use of a grant that counts; of two that want the last one, one gets it."""
        return change_rows(self.database, _TAKE + _IN_FORCE, (name, *in_time(now))) == 1

    def revoke(self, name: str, now: Now) -> bool:
        """Revoke a grant, once."""
        update = "UPDATE permission_grant SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
        return change_rows(self.database, update, (now[0], name)) == 1

    def sweep(self, now: Now) -> int:
        """Forget the grants that do not count any more, and return how many these were."""
        return change_rows(self.database, _FORGET + _IN_FORCE, in_time(now))
