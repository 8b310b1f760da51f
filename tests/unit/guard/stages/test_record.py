"""The decision is on record before anything runs."""

import contextlib
from collections.abc import Iterator

import attrs
import pytest
from tests.unit.core.stubs import PlainRule
from tests.unit.guard.stubs import ALLOWED, ASKED, BLOCKED, CALL, Failing, answer_of, case_of, guard_of

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.guard.case import Case
from permitry.guard.guard import Guard
from permitry.guard.outcome import Blocked, Cause
from permitry.guard.stages.record import record_answer, record_call

_YES = answer_of(ToolConfirmationResponse(True))


@attrs.define
class _Together(MemoryRecorder):
    """Writes several records at once."""

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        yield


def test_what_is_not_recorded_does_not_run() -> None:
    """Neither a call nor an answer that changes what was decided."""
    for stage, case in (
        (record_call, case_of(ALLOWED)),
        (record_answer, case_of(ALLOWED, answer=_YES)),
    ):
        outcome = stage(case, guard_of(recorder=Failing()))
        assert isinstance(outcome, Blocked)
        assert outcome.cause is Cause.NOT_RECORDED


def test_the_start_is_recorded_with_the_decision_of_a_call_that_runs_at_once() -> None:
    """Not of one that is kept first, asked about, or run by its host."""
    for case, is_started in (
        (case_of(ALLOWED, runs=True), True),
        (case_of(ALLOWED), False),
        (case_of(ASKED, runs=True), False),
        (case_of(attrs.evolve(ALLOWED, keeps=True), runs=True), False),
    ):
        recorder = _Together()
        step = record_call(case, guard_of(recorder=recorder))
        assert isinstance(step, Case)
        assert step.is_started is is_started
        assert [each["event"] for each in recorder.records] == ["decided", *(["started"] if is_started else [])]


def test_a_decision_that_was_asked_about_is_on_record_already() -> None:
    """One that is another by now, or about edited arguments, is recorded."""
    recorder = MemoryRecorder()
    guard = guard_of(recorder=recorder)
    record_answer(case_of(ASKED, answer=_YES), guard)
    assert not recorder.records
    record_answer(case_of(BLOCKED, answer=_YES), guard)
    record_answer(case_of(ASKED, answer=_YES, call=attrs.evolve(CALL, arguments={"path": "b"})), guard)
    assert [each["edited"] for each in recorder.records] == [False, True]


def test_what_observed_rules_would_decide_is_recorded() -> None:
    """Where that is something else."""
    may = PlainRule("may", Verdict.ALLOW, 250)
    for extra, would in (
        ([PlainRule("never", Verdict.BLOCK, 150)], {"verdict": "block", "rule": "never"}),
        ([], None),
    ):
        recorder = MemoryRecorder()
        policy = AuthorizationPolicy((may,), observed=AuthorizationPolicy((may, *extra)))
        record_call(case_of(ALLOWED), Guard(policy, recorder=recorder))
        (record,) = recorder.records
        assert (record["verdict"], record.get("would")) == ("allow", would)


def test_nothing_is_asked_where_nothing_is_observed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The record costs what it did."""
    monkeypatch.delattr(AuthorizationPolicy, "would")
    recorder = MemoryRecorder()
    assert isinstance(record_call(case_of(ALLOWED), guard_of(recorder=recorder)), Case)
    assert "would" not in recorder.records[0]
