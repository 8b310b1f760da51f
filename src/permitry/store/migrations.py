"""The forms that a store has had: what brings one to the next. Those that were released never change."""

__all__ = ["MIGRATIONS", "NAMES", "POSTGRES", "WITH_POLICIES"]

WITH_POLICIES = 5
"""The first form in which the rules behind a policy are kept."""

NAMES = ("at", "session", "event", "call_id", "tool", "verdict", "rule")
"""What of a record can be asked for."""
# Read from the text of the record, so that nothing is written twice, and the hash is of all that there is.
_COLUMNS = ", ".join(f"{name} TEXT AS (json_extract(body, '$.{name}')) VIRTUAL" for name in NAMES)


def _others(schema: str) -> tuple[str, ...]:
    """Return what makes the tables of questions and grants, the same in both."""
    return (
        f"""CREATE TABLE {schema}question (id TEXT PRIMARY KEY, session TEXT NOT NULL, agent TEXT NOT NULL,
        call_id TEXT NOT NULL, digest TEXT NOT NULL, call TEXT, redacted TEXT NOT NULL,
        decision TEXT NOT NULL, shown TEXT, spec TEXT,
        approvers TEXT NOT NULL, above TEXT NOT NULL, asked_at DOUBLE PRECISION NOT NULL,
        deadline DOUBLE PRECISION NOT NULL, boot TEXT NOT NULL, steady DOUBLE PRECISION NOT NULL, answer TEXT,
        answered_at DOUBLE PRECISION, answered_by TEXT, closed_at DOUBLE PRECISION)""",
        f"CREATE INDEX question_call ON {schema}question (session, agent, call_id, digest)",
        f"CREATE INDEX question_open ON {schema}question (asked_at) WHERE closed_at IS NULL",
        f"""CREATE TABLE {schema}permission_grant (id TEXT PRIMARY KEY, rule TEXT NOT NULL, digest TEXT, agent TEXT,
        session TEXT, principal TEXT, reason TEXT NOT NULL, granted_by TEXT NOT NULL, made_at DOUBLE PRECISION NOT NULL,
        deadline DOUBLE PRECISION, boot TEXT NOT NULL, steady DOUBLE PRECISION NOT NULL, uses_left INTEGER,
        revoked_at DOUBLE PRECISION)""",
    )


def _counters(schema: str, seconds: str) -> tuple[str, ...]:
    """Return what makes the table of shared budgets, and the clock by which they are counted: one for all processes."""
    return (
        f"""CREATE TABLE {schema}shared_budget (rule TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
        uses TEXT NOT NULL, PRIMARY KEY (rule, kind, name))""",
        f"CREATE VIEW {schema}wall_clock AS SELECT {seconds} AS seconds",
    )


def _indexes(schema: str) -> tuple[str, ...]:
    """Return what finds records by time, session, verdict and rule; most records have no verdict and no rule."""
    return (
        f"CREATE INDEX record_at ON {schema}record (at)",
        f"CREATE INDEX record_session ON {schema}record (session)",
        f"CREATE INDEX record_verdict ON {schema}record (verdict) WHERE verdict IS NOT NULL",
        f"CREATE INDEX record_rule ON {schema}record (rule) WHERE rule IS NOT NULL",
    )


def _policies(schema: str) -> tuple[str, ...]:
    """Return what makes the tables of rule files, and of the records that say which files are those of a policy."""
    return (
        f"CREATE TABLE {schema}rule_file (digest TEXT PRIMARY KEY, text TEXT NOT NULL)",
        f"CREATE TABLE {schema}policy (version TEXT PRIMARY KEY, number BIGINT NOT NULL)",
    )


MIGRATIONS = (
    (
        f"CREATE TABLE record (number INTEGER PRIMARY KEY, body TEXT NOT NULL, hash BLOB NOT NULL, {_COLUMNS})",
        "CREATE INDEX record_call ON record (call_id)",
        "CREATE TABLE chain (number INTEGER, hash BLOB, first INTEGER, before BLOB)",
        "INSERT INTO chain VALUES (0, zeroblob(32), 1, zeroblob(32))",
    ),
    _others(""),
    _counters("", "(julianday('now') - 2440587.5) * 86400.0"),
    _indexes(""),
    _policies(""),
)

_TEXTS = ", ".join(f'{name} TEXT COLLATE "C"' for name in NAMES)
_LISTS = ", ".join(f"{name}s TEXT[]" for name in NAMES)
_EACH = ", ".join(f"{name}s[i]" for name in NAMES)
# The chain of `chain.link`, made by the server: the end is locked for no longer than that takes.
_APPEND = f"""
CREATE FUNCTION permitry.append(bodies TEXT[], {_LISTS}) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
  head permitry.chain;
BEGIN
  SELECT * INTO STRICT head FROM permitry.chain FOR UPDATE;
  FOR i IN 1 .. cardinality(bodies) LOOP
    head.number := head.number + 1;
    head.hash := sha256(head.hash || int8send(head.number) || convert_to(bodies[i], 'UTF8'));
    INSERT INTO permitry.record VALUES (head.number, bodies[i], head.hash, {_EACH});
  END LOOP;
  UPDATE permitry.chain SET number = head.number, hash = head.hash;
  RETURN head.number;
END $$
"""  # noqa: S608 -- names of ours

POSTGRES = (
    (
        # PostgreSQL cannot read all that a JSON text may hold, so that the columns are written, and verified.
        f"CREATE TABLE permitry.record (number BIGINT PRIMARY KEY, body TEXT NOT NULL, hash BYTEA NOT NULL, {_TEXTS})",
        "CREATE INDEX record_call ON permitry.record (call_id)",
        "CREATE TABLE permitry.chain (number BIGINT, hash BYTEA, first BIGINT, before BYTEA)",
        "INSERT INTO permitry.chain VALUES (0, decode(repeat('00', 32), 'hex'), 1, decode(repeat('00', 32), 'hex'))",
        _APPEND,
    ),
    _others("permitry."),
    _counters("permitry.", "extract(epoch FROM clock_timestamp())::double precision"),
    _indexes("permitry."),
    _policies("permitry."),
)
"""The same for PostgreSQL."""
