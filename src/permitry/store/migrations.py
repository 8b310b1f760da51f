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
    (
        """CREATE TABLE question (id TEXT PRIMARY KEY, session TEXT NOT NULL, agent TEXT NOT NULL,
        call_id TEXT NOT NULL, digest TEXT NOT NULL, call TEXT, redacted TEXT NOT NULL,
        decision TEXT NOT NULL, shown TEXT, spec TEXT,
        approvers TEXT NOT NULL, above TEXT NOT NULL, asked_at DOUBLE PRECISION NOT NULL,
        deadline DOUBLE PRECISION NOT NULL, boot TEXT NOT NULL, steady DOUBLE PRECISION NOT NULL, answer TEXT,
        answered_at DOUBLE PRECISION, answered_by TEXT, closed_at DOUBLE PRECISION)""",
        "CREATE INDEX question_call ON question (session, agent, call_id, digest)",
        "CREATE INDEX question_open ON question (asked_at) WHERE closed_at IS NULL",
        """CREATE TABLE permission_grant (id TEXT PRIMARY KEY, rule TEXT NOT NULL, digest TEXT, agent TEXT,
        session TEXT, principal TEXT, reason TEXT NOT NULL, granted_by TEXT NOT NULL, made_at DOUBLE PRECISION NOT NULL,
        deadline DOUBLE PRECISION, boot TEXT NOT NULL, steady DOUBLE PRECISION NOT NULL, uses_left INTEGER,
        revoked_at DOUBLE PRECISION)""",
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
