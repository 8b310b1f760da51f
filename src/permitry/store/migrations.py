"""The forms that a store has had: what brings one to the next. Those that were released never change."""

__all__ = ["MIGRATIONS", "NAMES"]

NAMES = ("at", "session", "event", "call_id", "tool", "verdict", "rule")
"""What of a record can be asked for."""
# Read from the text of the record, so that nothing is written twice, and the hash is of all that there is.
_COLUMNS = ", ".join(f"{name} TEXT AS (json_extract(body, '$.{name}')) VIRTUAL" for name in NAMES)

MIGRATIONS = (
    (
        f"CREATE TABLE record (number INTEGER PRIMARY KEY, body TEXT NOT NULL, hash BLOB NOT NULL, {_COLUMNS})",
        "CREATE INDEX record_call ON record (call_id)",
        "CREATE TABLE chain (number INTEGER, hash BLOB, first INTEGER, before BLOB)",
        "INSERT INTO chain VALUES (0, zeroblob(32), 1, zeroblob(32))",
    ),
)
