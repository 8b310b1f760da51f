"""The lines of stages: which they are, and what no stage but its own may do."""

import pytest
from tests.unit.core.stubs import PlainRule
from tests.unit.guard.stubs import CALL, Failing, guard_of

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.decision import Verdict
from permitry.errors import LedgerError
from permitry.guard import line
from permitry.guard.case import Case
from permitry.guard.guard import Guard
from permitry.guard.line import AGAIN, ANSWER
from permitry.guard.line import CALL as CALLED
from permitry.guard.outcome import Blocked, Decided, Pending, Ready
from permitry.guard.parts import Parts, Stage

_LOOSENS = ("decide", "use_grant", "bind")


def test_the_lines_are_these() -> None:
    """A stage that is left out or changes its place is seen here."""
    rest = ["charge", "take_snapshot", "record_call", "settle"]
    assert [stage.__name__ for stage in CALLED] == ["resolve", "resume", "decide", "use_grant", *rest]  # type: ignore[attr-defined]  # functions
    assert [stage.__name__ for stage in AGAIN] == ["resolve", "resume", "decide", "pin", *rest]  # type: ignore[attr-defined]  # as above
    assert [stage.__name__ for stage in ANSWER] == ["edit", "resolve", "decide", "bind", "record_answer", "settle"]  # type: ignore[attr-defined]  # as above


@pytest.mark.parametrize("name", ["CALL", "ANSWER"])
def test_a_line_without_decide_blocks_everything(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Law 2: what was never decided does not run."""
    guard = guard_of()
    pending = guard.begin(CALL)
    assert isinstance(pending, Pending)
    monkeypatch.setattr(line, name, tuple(stage for stage in getattr(line, name) if stage.__name__ != "decide"))
    if name == "CALL":
        outcome: Decided = guard_of(PlainRule("may", Verdict.ALLOW, 250)).begin(CALL)
    else:
        outcome = guard.resolve(pending.pending_id, ToolConfirmationResponse(True))
    assert isinstance(outcome, Blocked)


def test_a_line_without_its_end_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake of ours, which no host takes for a yes."""
    monkeypatch.setattr(line, "CALL", CALLED[:-1])
    with pytest.raises(AssertionError, match="the last stage ends the way"):
        guard_of().begin(CALL)


def test_between_stages_nothing_gets_looser_or_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """After `decide`, only a grant and an answer loosen; only `settle` authorizes, and it comes after the record."""
    seen: list[str] = []

    def walk(case: Case, parts: Parts, stages: tuple[Stage, ...]) -> Decided:
        is_recorded = stages is not line.CALL
        for stage in stages:
            name = stage.__name__  # type: ignore[attr-defined]  # a function
            seen.append(name)
            step = stage(case, parts)
            is_recorded = is_recorded or name == "record_call"
            if type(step) is not Case:
                assert not isinstance(step, Ready) or (name == "settle" and is_recorded)
                return step
            if name not in _LOOSENS and case.decision.reason != "it was never decided":
                assert step.decision.verdict.strictness >= case.decision.verdict.strictness
            case = step
        raise AssertionError("no end")

    monkeypatch.setattr(line, "_walk", walk)
    for effect, priority in ((Verdict.ALLOW, 250), (Verdict.CONFIRM, 150), (Verdict.BLOCK, 150)):
        guard = guard_of(PlainRule("r", effect, priority))
        outcome = guard.begin(CALL)
        if isinstance(outcome, Pending):
            guard.resolve(outcome.pending_id, ToolConfirmationResponse(True, arguments={"path": "b"}))
    assert set(seen) == {stage.__name__ for stage in (*CALLED, *ANSWER)}  # type: ignore[attr-defined]  # functions


def test_a_call_is_not_decided_while_it_is_decided() -> None:
    """A rule that asks the guard about its own call gets an error, and does not wait for ever."""
    seen: list[Exception] = []

    def ask_again(_: object) -> bool:
        try:
            guard.begin(CALL)
        except LedgerError as error:
            seen.append(error)
        return False

    guard: Guard = guard_of(PlainRule("r", Verdict.BLOCK, 150, ask_again))
    assert isinstance(guard.begin(CALL), Pending)
    assert [str(error) for error in seen] == ["the call `c1` is being decided already"]
    assert isinstance(guard.begin(ToolCall("y", call_id="c2")), Pending)


def test_an_answer_that_is_not_recorded_does_not_count() -> None:
    """The call is blocked, and stays so."""
    guard = guard_of()
    pending = guard.begin(CALL)
    assert isinstance(pending, Pending)
    guard.recorder = Failing()
    assert isinstance(guard.resolve(pending.pending_id, ToolConfirmationResponse(True)), Blocked)
    assert isinstance(guard.begin(CALL), Blocked)
