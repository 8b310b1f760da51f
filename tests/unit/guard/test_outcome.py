"""What a host gets: a permit that is used once and recorded, a refusal for the model, a question as JSON."""

from collections.abc import Callable

import pytest

from permitry.audit.record import MemoryRecorder
from permitry.conditions.provenance.normal_form import normal
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.errors import AuditError, RegistryError, ReplayError
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Permit, Refusal
from permitry.guard.session import Session
from permitry.handler import ToolHandler

_CALL = ToolCall("write", {"path": "a", "lines": [1]}, call_id="c1")


@pytest.fixture
def guard() -> Guard:
    """Return a guard that permits everything."""
    return Guard(session=Session(yolo_mode=True))


@pytest.fixture
def permit(guard: Guard) -> Permit:
    """Return the permit of a call."""
    permit = guard.check(_CALL)
    assert isinstance(permit, Permit)
    return permit


@pytest.fixture
def recorded(guard: Guard) -> Callable[[], list[str]]:
    """Return a function that returns the events recorded so far, an end with its outcome."""

    def events() -> list[str]:
        assert isinstance(guard.recorder, MemoryRecorder)
        return [f"{each['event']} {each.get('outcome', '')}".strip() for each in guard.recorder.records]

    return events


def test_a_permit_is_taken_once(permit: Permit) -> None:
    """The second one must not run."""
    assert permit.take() == {"path": "a", "lines": [1]}
    with pytest.raises(ReplayError, match="already run"):
        permit.take()


def test_what_is_taken_is_a_copy(guard: Guard, permit: Permit) -> None:
    """What the host does with the arguments changes no call."""
    assert guard.check(_CALL).call == _CALL  # type: ignore[union-attr]
    permit.take()["lines"].append(2)
    assert permit.call == _CALL
    assert permit.call.to_dict() == {"path": "a", "lines": [1]}


def test_a_second_permit_for_the_same_call_is_the_same_one(guard: Guard, permit: Permit) -> None:
    """A host that checks twice runs once."""
    second = guard.check(_CALL)
    assert isinstance(second, Permit)
    permit.take()
    with pytest.raises(ReplayError):
        second.take()
    assert isinstance(guard.check(_CALL), Refusal)


def test_a_run_is_recorded(permit: Permit, recorded: Callable[[], list[str]]) -> None:
    """Before it starts, and when it has ended."""
    assert recorded() == ["decided"]
    permit.take()
    assert recorded() == ["decided", "started"]
    permit.done(ok=False)
    assert recorded() == ["decided", "started", "finished failed"]


def test_a_result_is_where_values_come_from(guard: Guard, permit: Permit) -> None:
    """That of a run which went well, as JSON or as a text; the arguments are, in any case."""
    permit.take()
    permit.done(ok=True, result={"id": "x9"})
    known = guard.session.provenance
    assert known.seen("write", ("id",), normal("x9"))
    assert known.given("write", ("path",), normal("a"))
    for number, (ok, result) in enumerate([(True, "text"), (True, [5]), (True, None), (False, "lost")]):
        other = guard.check(ToolCall("write", {"n": number}))
        assert isinstance(other, Permit)
        other.take()
        other.done(ok=ok, result=result)
    known = guard.session.provenance
    assert [bool(known.seen("write", (), normal(each))) for each in ("text", 5, "lost")] == [True, True, False]
    assert [bool(known.given("write", ("n",), normal(number))) for number in range(4)] == [True] * 3 + [False]


def test_a_result_is_json(permit: Permit) -> None:
    """Then the run goes on, and can be ended with one that is."""
    permit.take()
    with pytest.raises(TypeError):
        permit.done(ok=True, result=object())
    permit.done(ok=True, result="done")


def test_a_run_that_is_not_ended_shows_its_start_only(permit: Permit, recorded: Callable[[], list[str]]) -> None:
    """Nothing is known of its end, and the record says no more."""
    permit.take()
    assert recorded() == ["decided", "started"]


def test_a_run_ends_once(permit: Permit) -> None:
    """Neither before it is taken nor a second time."""
    with pytest.raises(RegistryError, match="take it first"):
        permit.done(ok=True)
    permit.take()
    permit.done(ok=True)
    with pytest.raises(RegistryError, match="end it once"):
        permit.done(ok=True)


def test_a_start_that_cannot_be_recorded_must_not_run(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the permit is used up."""
    permit = guard.check(_CALL)
    assert isinstance(permit, Permit)

    def fail(*_: object, **__: object) -> None:
        raise AuditError("disk full")

    monkeypatch.setattr(MemoryRecorder, "record", fail)
    with pytest.raises(AuditError):
        permit.take()
    monkeypatch.undo()
    with pytest.raises(ReplayError):
        permit.take()


def test_a_block_of_code_ends_its_run(permit: Permit, recorded: Callable[[], list[str]]) -> None:
    """As one that worked."""
    with permit as arguments:
        assert arguments == {"path": "a", "lines": [1]}
    assert recorded()[-1] == "finished ok"


def test_a_block_of_code_may_say_how_it_ended(permit: Permit, recorded: Callable[[], list[str]]) -> None:
    """Its own word counts."""
    with permit:
        permit.done(ok=False)
    assert recorded()[-2:] == ["started", "finished failed"]


def test_a_crash_is_recorded_and_passed_on(guard: Guard, permit: Permit, recorded: Callable[[], list[str]]) -> None:
    """With its traceback."""
    with pytest.raises(ZeroDivisionError), permit:
        1 / 0  # noqa: B018 -- it is what crashes
    assert recorded()[-1] == "finished crashed"
    assert isinstance(guard.recorder, MemoryRecorder)
    assert "ZeroDivisionError" in str(guard.recorder.records[-1]["error"])


def test_an_interrupt_is_recorded_and_passed_on(permit: Permit, recorded: Callable[[], list[str]]) -> None:
    """As such: the tool did not fail."""
    with pytest.raises(KeyboardInterrupt), permit:
        raise KeyboardInterrupt
    assert recorded()[-1] == "finished cancelled"


def test_no_outcome_is_a_yes_or_no() -> None:
    """`if guard.check(call):` would run what is refused."""
    blocks = load_policy('schema = 1\n[[rule]]\nid = "b"\neffect = "block"\ntools = ["*"]\n')
    decided: list[object] = [
        *(guard.check(_CALL) for guard in (Guard(), Guard(blocks), Guard(unmatched="silence"))),
        Guard(session=Session(yolo_mode=True)).check(_CALL),
    ]
    handler = ToolHandler()
    handler.registry.register(ToolSpec("write"), lambda _: "done")
    decided += [each.begin(_CALL) for each in (handler, ToolHandler())]
    handler.session.switch_mode("yolo")
    decided.append(handler.begin(_CALL.with_id("c2")))
    for outcome in decided:
        with pytest.raises(TypeError, match=f"a {type(outcome).__name__} is not a yes or no"):
            bool(outcome)
    assert len({type(outcome) for outcome in decided}) == 7


def test_a_question_is_plain_json() -> None:
    """To be stored, or shown elsewhere."""
    ask = Guard().check(_CALL)
    assert isinstance(ask, Ask)
    assert ask.call == _CALL
    assert ask.as_json() == {
        "pending_id": ask.id,
        "tool": "write",
        "arguments": {"path": "a", "lines": [1]},
        "reason": "no rule allows this call",
        "call_id": "c1",
        "digest": _CALL.digest,
        "path": "a",
        "preview": None,
        "suggested_grants": [
            {"scope": "session", "tool": "write", "label": "do not ask about `write` again in this session"}
        ],
        "origins": [],
    }
