"""A question in a store, and an answer to it from elsewhere."""

import json
import time

import attrs
import pytest
from tests.unit.channels.stored_calls import ASKS, CALL, YES, asked, change, closed, fresh, only, respond

from permitry.audit.redaction import redacted
from permitry.channels.clock import Moment
from permitry.channels.request import EffectLine, ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import answer_text, answer_to, row_of
from permitry.core.call import ToolCall
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.errors import LedgerError
from permitry.guard.guard import Guard
from permitry.guard.ledgers import ledger_at, questions_at
from permitry.guard.outcome import Ask, Cause, Permit, Refusal
from permitry.guard.session import Session


def test_a_question_has_all_that_a_human_needs(address: str) -> None:
    """The full call while it is open, and no secret in what is kept besides."""
    ask = asked(fresh(address))
    question = only(address)
    assert question.id == ask.id == ask.request.pending_id
    assert question.request == ask.request
    assert question.decision == ask.decision
    assert (question.session, question.agent, question.tool) == ("s1", "main", "write")
    assert "hunter22" not in closed(address)[0]["redacted"]


def test_an_answer_from_elsewhere_counts(address: str) -> None:
    """Once: the call runs, and no answer counts after it."""
    guard = fresh(address)
    ask = asked(guard)
    respond(address)
    assert isinstance(guard.check(CALL), Permit)
    with pytest.raises(LedgerError):
        guard.resolve(ask.id, YES)
    assert questions_at(address).open(Moment.now()) == []


def test_guidance_and_abort_reach_the_model(address: str) -> None:
    """As they do from a terminal."""
    guard = fresh(address)
    asked(guard)
    respond(address, ToolConfirmationResponse(False, instructions="Use b.", abort=True))
    outcome = guard.check(CALL)
    assert isinstance(outcome, Refusal)
    assert (outcome.cause, outcome.ends_session, "Use b." in outcome.text) == (Cause.DECLINED, True, True)


def test_a_secret_that_the_reason_quotes_is_not_kept(address: str) -> None:
    """Who answers sees it; the decision stays when the question is closed."""
    guard = fresh(address, "permitry:hooks")
    ask = asked(guard, ToolCall("run_shell", {"command": "ssh h 'rm -rf / TOKEN=hunter22'"}, call_id="c1"))
    assert "hunter22" in ask.decision.reason
    request = only(address).request
    assert request is not None
    assert "hunter22" in request.reason
    guard.answer(ask.id, ToolConfirmationResponse(False))
    assert "hunter22" not in str(closed(address))


def test_a_result_of_the_human_comes_from_elsewhere(address: str) -> None:
    """Also after a restart; what is kept of it once it is taken has no secret."""
    guard = fresh(address)
    asked(guard)
    respond(address, ToolConfirmationResponse(False, result="password=hunter22 of ann"))
    outcome = guard.check(CALL)
    assert isinstance(outcome, Refusal)
    assert (outcome.cause, outcome.text) == (Cause.RESPONDED, "password=hunter22 of ann")
    again = fresh(address).check(CALL)
    assert isinstance(again, Refusal)
    assert (again.cause, again.text) == (Cause.RESPONDED, "password=[redacted] of ann")
    assert "hunter22" not in str(closed(address))


def test_a_question_says_where_values_came_from(address: str) -> None:
    """Of rules that ask that; to the one who is asked here, and to one who sees the question elsewhere."""
    guard = paying(address)
    ask = asked(guard, ToolCall("pay", {"to": "DE22", "note": "rent for may"}, call_id="c1"))
    shown = [str(origin) for origin in ask.request.origins]
    words = "1 of its 3 words are in the user's messages"
    assert shown == [
        '`to` = "DE22" occurs in look #1, field `iban`; not in the user\'s messages',
        f'`note` = "rent for may" occurs in no result or call that is known; not in the user\'s messages; {words}',
    ]
    question = only(address)
    assert question.request == ask.request
    guard.answer(ask.id, YES)
    assert "DE22" not in str([row["shown"] for row in closed(address)])


def test_a_question_of_an_earlier_version_says_nothing_of_values(address: str) -> None:
    """It can be answered all the same; what is damaged is not shown."""
    asked(paying(address), ToolCall("pay", {"to": "DE22", "note": "x"}, call_id="c1"))
    shown = json.loads(closed(address)[0]["shown"])
    damages: list[object] = [3, [[]], [["to", "x", 3, False, None]], [["to", "x", [], False, [1]]]]
    for damaged in damages:
        change(address, "UPDATE question SET shown = ?", json.dumps({**shown, "origins": damaged}))
        with pytest.raises(LedgerError, match="damaged"):
            only(address)
    del shown["origins"]
    change(address, "UPDATE question SET shown = ?", json.dumps(shown))
    request = only(address).request
    assert request is not None
    assert request.origins == ()


def paying(address: str) -> Guard:
    """Return a guard that has heard from whom a payment may be."""
    rules = 'schema = 1\n[[rule]]\nid = "pays"\neffect = "allow"\ntools = ["pay"]\n'
    guard = fresh(address, f'{rules}when.args.to.from = ["user"]\nwhen.args.note.words = 0.9\n')
    guard.session.heard("Pay AT11, the rent.")
    guard.session.returned(ToolCall("look", {}), {"iban": "DE22"})
    return guard


def test_other_answers_are_kept_as_before_there_were_results() -> None:
    """A process of an earlier version that shares the store reads them."""
    assert set(json.loads(answer_text(YES))) == {"approved", "skip_future", "abort", "instructions", "arguments"}


def test_an_edited_call_is_decided_again(address: str) -> None:
    """No answer lifts a block."""
    rules = ASKS + '[[rule]]\nid = "no-b"\neffect = "block"\ntools = ["write"]\nwhen.args.path = "b"\n'
    for to, wanted in (("b", Refusal), ("c", Permit)):
        guard = fresh(address, rules, session=Session(id=to))
        asked(guard)
        respond(address, ToolConfirmationResponse(True, arguments={"path": to}))
        outcome = guard.check(CALL)
        assert isinstance(outcome, wanted)
        if isinstance(outcome, Permit):
            assert outcome.take() == {"path": "c"}


def test_an_answer_is_for_one_call(address: str) -> None:
    """That of another digest is refused, and so is a question in which the call was exchanged."""
    guard = fresh(address)
    asked(guard)
    other = attrs.evolve(only(address), digest="0" * 64)
    with pytest.raises(LedgerError, match="not open"):
        answer_to(questions_at(address), other, YES, by="ann")
    change(address, "UPDATE question SET call = replace(call, '\"a\"', '\"b\"')")
    with pytest.raises(LedgerError, match="damaged"):
        only(address)
    assert isinstance(guard.check(CALL), Ask)


def test_a_late_answer_is_refused(address: str) -> None:
    """Here and elsewhere."""
    guard = fresh(address, ledger=ledger_at(address, lifetime=0.1))
    ask = asked(guard)
    question = only(address)
    time.sleep(0.2)
    with pytest.raises(LedgerError, match="not open"):
        answer_to(questions_at(address), question, YES, by="ann")
    assert isinstance(guard.answer(ask.id, YES), Refusal)
    assert isinstance(guard.check(CALL), Refusal)


def test_all_kinds_of_calls_come_back_as_they_were(address: str) -> None:
    """With server, origin and the name that the model knows."""
    call = ToolCall("put", {"x": [1, 2.0, None, "ä"]}, call_id="c", server="docs", shown="docs_put", repaired=True)
    fresh(address, 'schema = 1\n[[rule]]\nid = "x"\neffect = "confirm"\ntools = ["*"]\n').check(call)
    question = only(address)
    assert question.request is not None
    assert question.request.call == call
    assert question.request.call.shown == "docs_put"


def test_the_place_of_a_rule_is_not_a_secret(address: str) -> None:
    """Though `secrets:7` has the form of one."""
    asked(fresh(address))
    question = only(address)
    decision = attrs.evolve(question.decision, source="permitry:secrets:7", reason="token: abcdef")
    row = row_of(attrs.evolve(question, decision=decision), ToolConfirmationRequest(CALL), redacted)
    kept = json.loads(row["decision"])
    assert (kept["source"], kept["reason"]) == ("permitry:secrets:7", "token: [redacted]")


def test_what_a_call_would_do_is_kept_with_its_question(address: str) -> None:
    """As it was read where it was asked, with the folder; a question of an earlier version has none."""
    spec = ToolSpec("write", roles={"path": ArgumentRole.WRITE_PATH})
    asked(fresh(address, session=Session(id="s1", workspace="/home/ann/p")), CALL, spec)
    request = only(address).request
    assert request is not None
    assert (request.effects, request.folder) == ((EffectLine(0, "write a"),), "/home/ann/p")
    shown: dict[str, object] = {"path": None, "preview": None, "reason": "", "is_plan": False, "grants": []}
    change(address, "UPDATE question SET shown = ?", json.dumps(shown))
    request = only(address).request
    assert request is not None
    assert (request.effects, request.folder) == ((), None)
