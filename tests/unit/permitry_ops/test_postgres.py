"""The store in a PostgreSQL: what can go wrong with a server. See `test_store.py` for what every store does."""

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.postgres import Cluster
from tests.tables import for_each
from tests.unit.store.conftest import body

from permitry.errors import StoreError
from permitry.store.chain import BrokenChainError
from permitry.store.questions import StoredQuestions
from permitry_ops.postgres import PostgresStore


@pytest.fixture
def url(postgres: Cluster) -> str:
    """Return the address of a new database."""
    return postgres.new()


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    """Return a store with five records."""
    store = PostgresStore(url, patience=1)
    store.append(*map(body, range(5)))
    yield store
    store.close()


def test_what_a_record_is_found_by_is_verified(store: PostgresStore, url: str) -> None:
    """The columns are not in the hash; what they say must be what the record says."""
    with psycopg.connect(url) as server:
        server.execute("UPDATE permitry.record SET tool = 'other' WHERE number = 2")
    with pytest.raises(BrokenChainError, match="does not say") as caught:
        store.verify()
    assert caught.value.number == 2


def test_a_lock_is_waited_for_as_long_as_there_is_patience(store: PostgresStore, url: str) -> None:
    """Each of the calls that come together fails, none after another one, and the next ones are kept."""

    def tried(number: int) -> str:
        try:
            return str(store.append(body(number)))
        except StoreError as error:
            return str(error)

    with psycopg.connect(url) as server:
        server.execute("SELECT * FROM permitry.chain FOR UPDATE")
        since = time.monotonic()
        with ThreadPoolExecutor(4) as pool:
            said = list(pool.map(tried, range(4)))
        assert time.monotonic() - since < 5
        server.rollback()
    assert any("lock timeout" in each for each in said)
    assert all(re.search("lock timeout|busy|not answered in time", each) for each in said)
    # The server may keep some that it answered too late: calls that were blocked, not calls without a record.
    assert store.append(body(6)) >= 6


def test_a_writer_that_hangs_is_ended_by_the_server(store: PostgresStore, url: str) -> None:
    """It holds up the others for a limited time, and what it did not commit is not there."""
    other = PostgresStore(url, patience=1)

    def hang() -> None:
        with other._translate_errors("cannot write to"), other._lock_chain():  # noqa: SLF001 -- stopped where it writes
            time.sleep(1.5)
            store.append(body(6))

    with pytest.raises(StoreError, match="cannot write"):
        hang()
    assert store.head.number == 6
    assert other.append(body(7)) == 7
    other.close()


def _end_writer(server: psycopg.Connection[tuple[object, ...]]) -> None:
    """End the connection of the store, and wait until it is gone."""
    ours = "FROM pg_stat_activity WHERE application_name = 'permitry' AND datname = current_database()"
    server.execute(f"SELECT pg_terminate_backend(pid) {ours}".encode())
    while server.execute(f"SELECT 1 {ours}".encode()).fetchone():
        time.sleep(0.01)


def test_a_connection_that_was_lost_while_idle_costs_no_call(store: PostgresStore, url: str) -> None:
    """Nothing was written on it, so that the next call makes a new one."""
    with psycopg.connect(url, autocommit=True) as server:
        _end_writer(server)
    assert store.append(body(6)) == 6
    store.close()


def test_a_connection_that_is_lost_in_a_write_fails_the_call(store: PostgresStore, url: str) -> None:
    """Whether the write was kept is not known, so that the call must not run."""
    with (
        psycopg.connect(url) as lock,
        psycopg.connect(url, autocommit=True) as server,
        ThreadPoolExecutor(1) as pool,
    ):
        lock.execute("SELECT * FROM permitry.chain FOR UPDATE")
        waiting = pool.submit(store.append, body(5))
        while not server.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
            time.sleep(0.01)
        _end_writer(server)
        with pytest.raises(StoreError, match="cannot write"):
            waiting.result(10)
    assert store.append(body(6)) == 6
    assert store.verify() == 6


def test_the_server_makes_the_chain_that_is_verified(store: PostgresStore) -> None:
    """Of any text, and of many records in one write."""
    store.append(*(body(number, text="ä\0\ud800𝄞 % ? \\" * number) for number in range(20)))
    assert store.verify() == 25


def test_what_was_kept_survives_a_crash_of_the_server(own_postgres: Cluster) -> None:
    """Calls fail while it is away, and are kept again afterwards."""
    store = PostgresStore(own_postgres.new(), patience=1)
    for number in range(3):
        kept = store.append(body(number))
        own_postgres.stop("immediate")
        with pytest.raises(StoreError, match=r"cannot write to the store `.*dbname=\w+"):
            store.append(body(9))
        with pytest.raises(StoreError, match="cannot read"):
            store.verify()
        own_postgres.start()
        assert store.verify() == kept == number + 1
    store.close()


def test_the_disk_is_waited_for_where_the_server_does_not(url: str) -> None:
    """A server may be set to commit without waiting; the store is not."""
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'ALTER DATABASE "{server.info.dbname}" SET synchronous_commit = off'.encode())
    store = PostgresStore(url)
    assert store._connection is not None  # noqa: SLF001 -- its own setting
    assert store._connection.execute("SHOW synchronous_commit").fetchone() == ("on",)  # noqa: SLF001 -- as above
    store.close()


def test_an_auditor_who_may_only_read_can_verify(store: PostgresStore, url: str) -> None:
    """And can neither write, nor see the calls of open questions."""
    role = f"auditor_{store.name.rpartition('=')[2]}"
    tables = ", ".join(f"permitry.{name}" for name in ("record", "chain", "version", "policy", "rule_file"))
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE ROLE {role} LOGIN".encode())
        server.execute(f"GRANT USAGE ON SCHEMA permitry TO {role}".encode())
        server.execute(f"GRANT SELECT ON {tables} TO {role}".encode())
    auditor = PostgresStore(url.replace("postgres@", f"{role}@"))
    assert auditor.verify() == auditor.head.number == len(list(auditor.records())) == 5
    with pytest.raises(StoreError, match="permission denied"):
        auditor.append(body(6))
    with pytest.raises(StoreError, match="permission denied"):
        StoredQuestions(auditor).find("x")
    auditor.close()


SECRET = "hunter2"  # noqa: S105 -- a password of a test


@for_each(
    "url",
    [
        f"postgresql://u:{SECRET}@127.0.0.1:1/db",
        f"postgresql://u@127.0.0.1:1/db?password={SECRET}",
        f"postgresql://u:{SECRET}@127.0.0.1:port/db",
        f"postgresql://u:{SECRET}%zz@127.0.0.1/db",
        f"postgresql://u@127.0.0.1/db?{SECRET}=1",
    ],
)
def test_a_password_is_never_shown(url: str) -> None:
    """Not in an error, its causes, or the text of a store."""
    with pytest.raises(StoreError) as caught:
        PostgresStore(url, patience=1)
    assert SECRET not in str(caught.value)
    assert SECRET not in repr([caught.value.__cause__, caught.value.__suppress_context__ or caught.value.__context__])


def test_what_it_is_called_says_where_it_is_and_no_password(postgres: Cluster) -> None:
    """As `repr` shows it."""
    url = postgres.new()
    store = PostgresStore(url.replace("postgres@", f"postgres:{SECRET}@"))
    assert SECRET not in repr(store)
    assert store.name in repr(store)
    assert str(postgres.folder) in store.name
    store.close()
