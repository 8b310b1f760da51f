"""The channel that waits for an answer from elsewhere."""

import asyncio
import threading
import time
from collections.abc import Callable

import psycopg
import pytest
from tests.postgres import Cluster
from tests.unit.channels.stored_calls import CALL, NO, YES, closed, fresh, only, respond

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_channel import StoredChannel
from permitry.guard.ledgers import ledger_at, questions_at
from permitry.guard.outcome import Cause, Permit, Refusal


def later(work: Callable[[], None]) -> threading.Thread:
    """Do something in a moment."""
    timer = threading.Timer(0.2, work)
    timer.start()
    return timer


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("response", "wanted"), [(YES, Permit), (NO, Refusal)])
def test_the_channel_waits_for_an_answer(
    address: str, response: ToolConfirmationResponse, wanted: type, *, is_async: bool
) -> None:
    """On the event loop as well."""
    guard = fresh(address, channel=StoredChannel(questions_at(address), pause=0.02))
    human = later(lambda: respond(address, response))
    outcome = asyncio.run(guard.ainline(CALL)) if is_async else guard.inline(CALL)
    human.join()
    assert isinstance(outcome, wanted)


@pytest.mark.parametrize("is_async", [False, True])
def test_no_answer_is_a_refusal_with_a_reason_of_its_own(address: str, *, is_async: bool) -> None:
    """And the question is closed."""
    store = questions_at(address)
    guard = fresh(address, ledger=ledger_at(address, lifetime=0.1), channel=StoredChannel(store, pause=0.02))
    outcome = asyncio.run(guard.ainline(CALL)) if is_async else guard.inline(CALL)
    assert isinstance(outcome, Refusal)
    assert outcome.cause is Cause.UNANSWERED
    assert closed(address)[0]["closed_at"]
    assert isinstance(guard.recorder, MemoryRecorder)
    answered = list(guard.recorder.records)[-1]
    assert "before its deadline" in str(answered["error"])


def test_a_question_that_is_closed_meanwhile_is_not_waited_for(address: str) -> None:
    """The call is refused."""
    guard = fresh(address, channel=StoredChannel(questions_at(address), pause=0.02))
    human = later(lambda: guard.withdraw(only(address).id, "gone"))
    assert isinstance(guard.inline(CALL), Refusal)
    human.join()


def test_a_channel_of_another_store_answers_nothing(new_address: Callable[[], str]) -> None:
    """Nor does it wait."""
    other = questions_at(new_address())
    guard = fresh(new_address(), channel=StoredChannel(other))
    assert isinstance(guard.inline(CALL), Refusal)


def test_an_answer_in_a_database_is_heard_at_once(postgres: Cluster, closing: None) -> None:
    """Not only when it is looked for; where it cannot be heard any more, it is looked for."""
    del closing
    for is_ended in (False, True):
        address = postgres.new()
        guard = fresh(address, channel=StoredChannel(questions_at(address), pause=0.02 if is_ended else 60))

        def respond_(address: str = address, *, is_ended: bool = is_ended) -> None:
            if is_ended:
                with psycopg.connect(address, autocommit=True) as server:
                    server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
            respond(address)

        human, since = later(respond_), time.monotonic()
        assert isinstance(guard.inline(CALL), Permit)
        assert time.monotonic() - since < 2.5
        human.join()


def test_a_server_that_goes_away_answers_nothing(own_postgres: Cluster, closing: None) -> None:
    """The call is refused."""
    del closing
    address = own_postgres.new()
    guard = fresh(address, channel=StoredChannel(questions_at(address), pause=0.02))
    human = later(lambda: own_postgres.stop("immediate"))
    assert isinstance(guard.inline(CALL), Refusal)
    human.join()
    own_postgres.start()
