"""The forms that a store has had: what brings one to the next. Those that were released never change."""

__all__ = ["MIGRATIONS", "NAMES", "POSTGRES"]

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

_TEXTS = ", ".join(f'{name} TEXT COLLATE "C"' for name in NAMES)

POSTGRES = (
    (
        # PostgreSQL cannot read all that a JSON text may hold, so that the columns are written, and verified.
        f"CREATE TABLE permitry.record (number BIGINT PRIMARY KEY, body TEXT NOT NULL, hash BYTEA NOT NULL, {_TEXTS})",
        "CREATE INDEX record_call ON permitry.record (call_id)",
        "CREATE TABLE permitry.chain (number BIGINT, hash BYTEA, first BIGINT, before BYTEA)",
        "INSERT INTO permitry.chain VALUES (0, decode(repeat('00', 32), 'hex'), 1, decode(repeat('00', 32), 'hex'))",
    ),
)
"""The same for PostgreSQL."""
