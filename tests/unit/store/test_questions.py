"""Questions in a store: of answers that race, one counts."""

import contextlib
import itertools
import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.postgres import Cluster
from tests.unit.channels.stored_calls import CALL, NO, YES, asked, closed, fresh, only, respond

from permitry.audit.redaction import redacted
from permitry.channels.clock import Moment
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to, row_of
from permitry.core.call import ToolCall
from permitry.errors import LedgerError
from permitry.guard.grants import Grant
from permitry.guard.ledgers import grants_at, questions_at
from permitry.guard.outcome import Ask, Permit, Refusal
from permitry.guard.session import Session
from permitry.guard.stored_ledger import StoredLedger
from permitry.store.questions import StoredQuestions
from permitry.store.records import store_at


def test_of_racing_threads_one_answers(address: str) -> None:
    """Whatever they answer, that of the one that was accepted is taken."""
    for number in range(10):
        guard = fresh(address, session=Session(id=f"s{number}"))
        asked(guard)
        question, won = only(address), []
        barrier = threading.Barrier(4)

        def race(text: str, question: StoredQuestion = question, barrier: threading.Barrier = barrier) -> str | None:
            store = questions_at(address)
            barrier.wait()
            with contextlib.suppress(LedgerError):
                answer_to(store, question, ToolConfirmationResponse(False, instructions=text), by=text)
                return text
            return None

        with ThreadPoolExecutor(4) as pool:
            won = [text for text in pool.map(race, "abcd") if text]
        assert len(won) == 1
        outcome = guard.check(CALL)
        assert isinstance(outcome, Refusal)
        assert f"The user says: {won[0]}" in outcome.text


ANSWERING = """
import sys
from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.errors import LedgerError
from permitry.guard.ledgers import questions_at
store = questions_at(sys.argv[1])
questions = [StoredQuestion.of(row) for row in store.open(Moment.now())]
print("ready", flush=True)
sys.stdin.readline()
for question in questions:
    try:
        answer_to(store, question, ToolConfirmationResponse(True), by=sys.argv[2])
    except LedgerError:
        continue
    print(question.id)
"""


def test_of_four_processes_one_answers(address: str) -> None:
    """Each of 25 questions."""
    guard = fresh(address)
    ids = {asked(guard, CALL.with_id(f"c{number}")).id for number in range(25)}
    command = [sys.executable, "-c", ANSWERING, str(address)]
    processes = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for name in "abcd"
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(4) as pool:
        said = [out.split() for out, _ in pool.map(lambda process: process.communicate("\n", 60), processes)]
    won = list(itertools.chain(*said))
    assert sorted(won) == sorted(ids)


def test_an_answer_here_races_one_from_elsewhere(address: str) -> None:
    """The one that comes second counts nowhere."""
    guard = fresh(address)
    ask = asked(guard)
    question = only(address)
    respond(address, NO)
    with pytest.raises(LedgerError, match="already answered"):
        guard.resolve(ask.id, YES)
    assert isinstance(guard.check(CALL), Refusal)
    guard = fresh(address, session=Session(id="s2"))
    ask = asked(guard)
    question = only(address)
    assert isinstance(guard.answer(ask.id, YES), Permit)
    with pytest.raises(LedgerError):
        answer_to(questions_at(address), question, NO, by="ann")


def test_a_question_is_found_by_its_call_until_it_is_closed(address: str) -> None:
    """By whatever id the call was made."""
    guard, store = fresh(address), questions_at(address)
    ask = asked(guard)
    given = (guard.session.id, guard.session.agent, CALL.digest)
    row = store.find_unclosed(*given)
    assert row is not None
    assert row["id"] == ask.id
    assert store.find_unclosed("s2", *given[1:]) is None
    store.close(ask.id, Moment.now())
    assert store.find_unclosed(*given) is None


def test_a_question_is_renewed_until_it_is_answered(address: str) -> None:
    """It is about another call of the same kind then, of one process more, and open for longer."""
    guard, store = fresh(address), questions_at(address)
    ask = asked(guard)
    first = only(address).above
    store.renew(ask.id, "c9", "[7]", Moment.now().after(9_000))
    (question,) = map(StoredQuestion.of, store.open(Moment.now().after(8_000)))
    assert question.above == (*first, 7)
    respond(address)
    store.renew(ask.id, "c10", "[8]", Moment.now())
    row = store.find(ask.id)
    assert row is not None
    assert (row["call_id"], json.loads(row["above"])) == ("c9", [*first, 7])


def test_the_store_is_the_one_of_records(address: str) -> None:
    """One place has both."""
    store = store_at(address)
    store.append("{}")
    questions: StoredQuestions = StoredQuestions(store)
    asked(fresh(address, ledger=StoredLedger(questions, redacted)))
    assert store.verify() == 1
    store.close()


def test_one_transaction_changes_questions_at_a_time(address: str) -> None:
    """The next one sees what it did, so that no more questions are open than may be."""
    stores = [store_at(address) for _ in range(2)]
    asked(fresh(address))
    row = {**row_of(only(address), ToolConfirmationRequest(CALL), redacted), "id": "second"}
    with ThreadPoolExecutor(1) as pool:
        with stores[0].change() as connection:
            waiting = pool.submit(StoredQuestions(stores[1]).add, row, 2, 1_000)
            time.sleep(0.3)
            assert not waiting.done()
            connection.execute("UPDATE question SET call = ?", (" " * 1_000,))
        assert waiting.result(10) is False
    for store in stores:
        store.close()


@pytest.mark.usefixtures("closing")
def test_nothing_is_allowed_or_forgotten_while_the_server_is_away(own_postgres: Cluster) -> None:
    """What was asked, answered and granted before is there afterwards."""
    address = own_postgres.new()
    guard = fresh(address, grants=grants_at(address))
    asks = [asked(guard, CALL.with_id(name)) for name in ("c1", "c2")]
    answer_to(questions_at(address), StoredQuestion.of(questions_at(address).find(asks[0].id) or {}), YES, by="ann")
    grants_at(address).store.add(Grant('tools = ["read"]', uses_left=1).row())
    own_postgres.stop("immediate")
    for call in (CALL, CALL.with_id("c2"), ToolCall("read", {}, call_id="c3")):
        assert not isinstance(guard.check(call), Permit)
    own_postgres.start()
    guard = fresh(address, grants=grants_at(address))
    assert isinstance(guard.check(ToolCall("read", {}, call_id="c4")), Permit)
    assert isinstance(guard.check(ToolCall("read", {}, call_id="c5")), Ask)
    assert [type(guard.check(CALL.with_id(name))) for name in ("c1", "c2")] == [Permit, Ask]
    assert isinstance(guard.answer(asks[1].id, YES), Permit)


def test_answers_that_no_one_takes_do_not_fill_the_store_for_ever(address: str) -> None:
    """Those of agents that never came back: each is closed when it counts no more, and not before."""
    start, later = Moment.now(), 0.0
    ledger = StoredLedger(questions_at(address), redacted, lifetime=10, most=1, clock=lambda: start.after(later))
    asked(fresh(address, ledger=ledger))
    respond(address)
    later = 15.0
    assert isinstance(fresh(address, ledger=ledger, session=Session(id="s2")).check(CALL), Refusal)
    assert closed(address)[0]["closed_at"] is None
    later = 25.0
    assert isinstance(fresh(address, ledger=ledger, session=Session(id="s3")).check(CALL), Ask)
    assert closed(address)[0]["answer"] is None
