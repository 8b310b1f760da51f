"""A server that hangs: what waits for it ends in time."""

import time
from collections.abc import Callable, Iterator

import psycopg
import pytest
from tests.postgres import Cluster

from permitry.channels.clock import Moment
from permitry.errors import StoreError
from permitry.store.questions import StoredQuestions
from permitry_ops.bounded_connection import BoundedConnection
from permitry_ops.postgres import PostgresStore


@pytest.fixture
def connection(postgres: Cluster) -> Iterator[BoundedConnection]:
    """Return a connection that waits for half a second."""
    with BoundedConnection.connect(postgres.new(), autocommit=True) as connection:
        connection.limit = 0.5
        yield connection


def test_an_answer_in_time_is_returned(connection: BoundedConnection) -> None:
    """Also several, of which each takes less than the limit."""
    for _ in range(3):
        assert connection.execute("SELECT 1 FROM pg_sleep(0.3)").fetchone() == (1,)


def test_a_late_answer_ends_the_connection(connection: BoundedConnection) -> None:
    """What comes then would be taken for the answer to something else."""
    since = time.monotonic()
    with pytest.raises(psycopg.OperationalError, match="has not answered"):
        connection.execute("SELECT pg_sleep(9)")
    assert time.monotonic() - since < 5
    assert connection.closed


def test_several_answers_can_have_one_limit(connection: BoundedConnection) -> None:
    """Whatever each of them takes."""
    connection.until = time.monotonic() + 0.7
    connection.execute("SELECT pg_sleep(0.4)")
    with pytest.raises(psycopg.OperationalError, match="has not answered"):
        connection.execute("SELECT pg_sleep(0.4)")


def test_a_store_waits_for_a_server_that_hangs_for_a_limited_time(own_postgres: Cluster) -> None:
    """For each thing that is asked of it, on an open connection and on a new one; afterwards all goes on."""
    store = PostgresStore(own_postgres.new(), patience=0.5)
    questions = StoredQuestions(store)
    store.append("{}")
    now = Moment.now()
    tried: tuple[Callable[[], object], ...] = (
        lambda: store.append("{}"), lambda: store.head, lambda: questions.find("x"), lambda: questions.close("x", now)
    )  # fmt: skip
    with own_postgres.hanging():
        for action in tried:
            since = time.monotonic()
            with pytest.raises(StoreError, match=r"has not answered|timeout expired"):
                action()
            assert time.monotonic() - since < 8
    assert store.append("{}") >= 2
    assert questions.find("x") is None
    assert store.verify() == store.head.number
    store.close()
