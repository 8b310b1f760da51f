"""The three lines of stages, and what holds between any two of them."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any, cast

import attrs
import pytest
from tests.guarding import ALLOWED, NO, RULES, YES, Broken, events, new_call, new_guard, open_ask
from tests.tables import for_each

from permitry.audit.recorder import MemoryRecorder, RunRecord
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.spec import ToolSpec
from permitry.dispatch.authorized import AuthorizedCall
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import LateAnswerError, LedgerError
from permitry.guard import line
from permitry.guard.case import UNDECIDED, Case, Parts, Stage
from permitry.guard.grants_in_force import Grants
from permitry.guard.guard import Guard
from permitry.guard.ledger import ConfirmationLedger
from permitry.guard.outcome import Blocked, Cause, Decided, Pending, Ready, Silence
from permitry.guard.registry_tools import RegistryTools
from permitry.guard.session import Session
from permitry.guard.stages.decide import decide
from permitry.guard.tools import Tools

CALL = ["resolve", "resume", "decide", "use_grant", "charge", "take_snapshot", "record_call", "settle"]
AGAIN = ["resolve", "resume", "decide", "pin", "charge", "take_snapshot", "record_call", "settle"]
ANSWER = ["edit", "resolve", "decide", "bind", "record_answer", "settle"]
_LOOSEN = {"use_grant", "bind"}


def _names(stages: tuple[Stage, ...]) -> list[str]:
    return [cast("Any", stage).__name__ for stage in stages]


def test_the_lines_are_these() -> None:
    """A stage that is left out, or comes earlier, is a change of what is decided."""
    assert (_names(line.CALL), _names(line.AGAIN), _names(line.ANSWER)) == (CALL, AGAIN, ANSWER)


@for_each("unmatched", ["confirm", "silence"])
@for_each("tool", ["look", "write", "send", "remove"])
def test_a_line_that_does_not_decide_blocks_everything(
    monkeypatch: pytest.MonkeyPatch, tool: str, unmatched: str
) -> None:
    """Law 2: also a call that was asked about before, and one that a human approves."""
    guard = new_guard(unmatched=unmatched, grants=cast("Grants", _Generous()))
    pending = open_ask(new := new_guard(), "send")
    for name in ("CALL", "AGAIN", "ANSWER"):
        stages: tuple[Stage, ...] = getattr(line, name)
        monkeypatch.setattr(line, name, tuple(each for each in stages if each is not decide))
    for is_asked in (False, True):
        outcome = guard.begin(new_call(tool, call_id=f"c{is_asked}"), is_asked=is_asked)
        assert isinstance(outcome, Blocked)
        assert outcome.decision is UNDECIDED
    assert isinstance(new.resolve(pending.pending_id, YES), Blocked)


# Between stages ---------------------------------------------------------------------------------------------------


@attrs.define
class _Generous:
    """Grants everything that it is asked about."""

    def take(self, *_: Any) -> tuple[Decision, str | None]:  # noqa: ANN401 -- the arguments of `Grants.take`
        """Return a permission."""
        return ALLOWED, None


@attrs.define
class _Watched:
    """The tools of a guard, of which it is noted what is authorized: nothing that is not on record."""

    own: Tools
    recorder: MemoryRecorder
    authorized: list[ToolCall] = attrs.field(factory=list)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever the tools have
        return getattr(self.own, name)

    def authorize(
        self, call: ToolCall, spec: ToolSpec | None, context: AuthContext, record: RunRecord, session: Session
    ) -> AuthorizedCall:
        """Note it, and authorize it."""
        decided = [
            each
            for each in self.recorder.records
            if each["event"] == "decided" and (each["call_id"], each["arguments"]) == (call.call_id, call.to_dict())
        ]
        assert decided, f"{call} is authorized before its decision is on record"
        assert decided[-1]["verdict"] != "block"
        self.authorized.append(call)
        return self.own.authorize(call, spec, context, record, session)


def _checked(case: Case, parts: Parts, stages: tuple[Stage, ...]) -> Decided:
    """Walk down a line as `line` does, and check each step."""
    tools, is_decided = parts.tools, False
    assert isinstance(tools, _Watched)
    is_again = case.is_asked or case.before is not None
    assert _names(stages) == (AGAIN if is_again else CALL if case.answer is None else ANSWER)
    for stage, name in zip(stages, _names(stages), strict=True):
        count, before = len(tools.authorized), case.decision
        step = stage(case, parts)
        now = step.decision
        if is_decided and (name not in _LOOSEN or before.verdict is Verdict.BLOCK):
            assert now.verdict >= before.verdict, f"{name} made {now} of {before}"
        assert len(tools.authorized) - count == (name == "settle" and isinstance(step, Ready)), name
        if not isinstance(step, Case):
            if isinstance(step, Ready):
                assert now.verdict is Verdict.ALLOW or (now.verdict is Verdict.CONFIRM and step.is_approved)
            return step
        is_decided = is_decided or name == "decide"
        assert is_decided or now is UNDECIDED, f"{name} decided"
        case = step
    raise AssertionError("the last stage ends the way")


def _registry() -> RegistryTools:
    registry = ToolRegistry()
    for name in ("look", "send", "remove"):
        registry.register(ToolSpec(name), lambda _: "done")
    return RegistryTools(registry)


def _guards() -> Iterator[Guard]:
    """Yield guards of several kinds, all of them watched."""
    parts: list[dict[str, Any]] = [
        {},
        {"unmatched": "silence"},
        {"grants": _Generous()},
        {"session": Session(yolo_mode=True)},
        {"session": Session(mode="plan")},
        {"ledger": ConfirmationLedger(most=0)},
    ]
    for each in parts:
        for tools in (Tools(), _registry()):
            guard = new_guard(RULES, recorder=(recorder := MemoryRecorder()), **each)
            guard.tools = cast("Tools", _Watched(tools, recorder))
            yield guard


_EDITED = attrs.evolve(YES, arguments={"path": "b"})
_ANSWERS = (YES, NO, _EDITED, attrs.evolve(YES, arguments={"path": object()}), attrs.evolve(YES, skip_future=True))


def test_between_stages_nothing_gets_looser_and_one_authorizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """After `decide` only a grant and an answer loosen a decision, and never a block; a record comes first."""
    monkeypatch.setattr(line, "_run_stages", _checked)
    kinds: set[type] = set()
    calls = itertools.product(("look", "write", "send", "remove"), enumerate(_ANSWERS), ("default", "plan"))
    for guard, (tool, (number, answer), later) in itertools.product(_guards(), calls):
        call, mode = new_call(tool, call_id=f"{number}-{later}"), guard.session.mode
        outcomes = [guard.begin(call, is_asked=is_asked) for is_asked in (False, True, True)]
        if isinstance(outcomes[-1], Pending):
            # What changes while a human thinks.
            guard.session.switch_mode(later)
            outcomes.append(guard.resolve(outcomes[-1].pending_id, answer))
            guard.session.switch_mode(mode)
        kinds |= set(map(type, outcomes))
    assert kinds == {Ready, Blocked, Pending, Silence}


# Questions --------------------------------------------------------------------------------------------------------


def test_a_line_ends_with_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not is a mistake of the program, and its call is not kept as handled."""
    monkeypatch.setattr(line, "CALL", line.CALL[:-1])
    guard = new_guard()
    for _ in range(2):
        with pytest.raises(AssertionError, match="the last stage ends the way"):
            guard.begin(new_call("look"))


def test_a_call_is_not_decided_while_it_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a rule that asks the guard about its own call; after an error it can be made again."""
    guard = new_guard()

    def ask_again(case: Case, parts: Parts) -> Case:
        assert parts is guard
        guard.begin(case.call)
        return case

    with monkeypatch.context() as patch:
        patch.setattr(line, "CALL", (ask_again, *line.CALL))
        with pytest.raises(LedgerError, match="is being decided already"):
            guard.begin(new_call("look"))
    assert isinstance(guard.begin(new_call("look")), Ready)


def test_an_answer_that_cannot_be_recorded_permits_nothing() -> None:
    """And none can follow."""
    guard = new_guard(recorder=Broken(event="answered"))
    pending = open_ask(guard)
    blocked = line.settle_answer(pending.pending_id, YES, guard)
    assert isinstance(blocked, Blocked)
    assert blocked.cause is Cause.NOT_RECORDED
    assert guard.begin(pending.call) is blocked
    with pytest.raises(LedgerError):
        line.settle_answer(pending.pending_id, YES, guard)


@for_each("end", [line.settle_answer, line.withdraw])
def test_a_late_question_is_closed_whoever_comes(end: Callable[..., object]) -> None:
    """With an answer, or to withdraw it: the call stays blocked."""
    now = [0.0]
    guard = new_guard(recorder=MemoryRecorder(), ledger=ConfirmationLedger(1.0, clock=lambda: now[0]))
    pending, now[0] = open_ask(guard), 2.0
    if end is line.settle_answer:
        with pytest.raises(LateAnswerError):
            end(pending.pending_id, YES, guard)
    else:
        assert isinstance(end(pending.pending_id, guard, "the client has left"), Blocked)
    assert events(guard) == ["decided", "asked", "answered"]
    assert isinstance(guard.begin(pending.call), Blocked)
    assert line.withdraw(pending.pending_id, guard, "again") is None


def test_an_answer_is_recorded_before_what_follows_from_it() -> None:
    """The record of an edit has both, in this order."""
    guard = new_guard(recorder=MemoryRecorder())
    assert isinstance(line.settle_answer(open_ask(guard).pending_id, _EDITED, guard), Ready)
    assert events(guard) == ["decided", "asked", "answered", "decided"]
