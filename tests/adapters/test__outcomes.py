"""What the adapters share: answers as plain JSON, and a run with its start and its end in the record."""

import attrs
import pytest
from tests.tables import for_each

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.conditions.provenance.normal_form import normal
from permitry.core.call import ToolCall
from permitry.errors import AuditError
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Cause, Permit, Refusal
from permitry.guard.session import Session
from permitry_hosts.adapters._outcomes import Run, answer_of, run_guarded, settle


def _permit(guard: Guard) -> Permit:
    outcome = settle(guard.check(guard.call("look", {"path": "a"}, call_id="c1")))
    assert isinstance(outcome, Permit)
    return outcome


def _ends(guard: Guard) -> list[object]:
    assert isinstance(guard.recorder, MemoryRecorder)
    return [record["outcome"] for record in guard.recorder.records if record["event"] == "finished"]


@pytest.fixture
def guard() -> Guard:
    """Return a guard that permits calls."""
    return Guard(session=Session(yolo_mode=True))


def test_an_answer_comes_as_json() -> None:
    """An object with the fields of a response, a bool, or the response itself."""
    edited = ToolConfirmationResponse(approved=True, arguments={"path": "b"})
    assert answer_of(attrs.asdict(edited)) == answer_of(edited) == edited
    assert [answer_of(value).is_approval for value in (True, False)] == [True, False]


BOTH = {"approved": True, "result": "3 files"}


@for_each("value", ["yes", 1, None, [True], {"approved": "yes"}, {"approved": 1}, {"yes": True}, {}, BOTH])
def test_what_cannot_be_read_is_a_no(value: object) -> None:
    """And says so."""
    answer = answer_of(value)
    assert (answer.is_approval, answer.instructions) == (False, "(The answer could not be read.)")


def test_a_run_ends_in_the_record(guard: Guard) -> None:
    """Well, where nothing else is said."""
    with run_guarded(_permit(guard)) as run:
        assert not isinstance(run, Refusal)
        assert run.arguments == {"path": "a"}
        assert _ends(guard) == []
    assert _ends(guard) == ["ok"]


def test_a_run_that_fails_or_crashes_is_recorded_as_such(guard: Guard) -> None:
    """The error is raised on."""
    with run_guarded(_permit(guard)) as run:
        assert not isinstance(run, Refusal)
        run.done(ok=False)
    other = settle(guard.check(guard.call("look", {"path": "b"})))
    assert isinstance(other, Permit)
    with pytest.raises(OSError, match="gone"), run_guarded(other):
        raise OSError("gone")
    assert _ends(guard) == ["failed", "crashed"]


def test_a_refusal_is_given_as_it_is() -> None:
    """Nothing begins."""
    refusal = Refusal("no", Cause.POLICY)
    with run_guarded(refusal) as run:
        assert run is refusal


def test_a_call_that_was_handled_before_is_refused(guard: Guard) -> None:
    """Whoever holds the permit."""
    permits = _permit(guard), _permit(guard)
    with run_guarded(permits[0]), run_guarded(permits[1]) as second:
        assert isinstance(second, Refusal)
        assert second.cause is Cause.HANDLED
    assert _ends(guard) == ["ok"]


class _Full:
    def record(self, event: str, _: ToolCall, /, **__: object) -> None:
        """Keep all but starts."""
        if event == "started":
            raise AuditError("disk full")


def test_a_start_that_is_not_recorded_is_raised() -> None:
    """The tool must not run."""
    permit = _permit(Guard(session=Session(yolo_mode=True), recorder=_Full()))
    with pytest.raises(AuditError), run_guarded(permit):
        raise NotImplementedError


def test_a_guard_without_another_way_of_asking_asks() -> None:
    """One that would leave the call to its host is refused."""
    guard = Guard()
    assert isinstance(settle(guard.check(guard.call("look", {}))), Ask)
    silent = Guard(unmatched="silence")
    with pytest.raises(ValueError, match="nothing else asks"):
        settle(silent.check(silent.call("look", {})))
    with pytest.raises(ValueError, match="nothing else asks"):
        settle(silent.inline(silent.call("look", {})))
    assert isinstance(settle(guard.inline(guard.call("look", {}))), Refusal)


@pytest.mark.parametrize(("result", "is_seen"), [({"id": "x9"}, True), ('{"id": "x9"}', True), (object(), False)])
def test_a_result_is_where_values_come_from(guard: Guard, result: object, *, is_seen: bool) -> None:
    """Rules cannot look into one that is neither a text nor JSON; its run went well for all that."""
    with run_guarded(_permit(guard)) as run:
        assert isinstance(run, Run)
        run.done(ok=True, result=result)
    assert bool(guard.session.provenance.seen("look", ("id",), normal("x9"))) is is_seen
    assert guard.session.provenance.results == 1


def test_a_result_may_be_nested_deeply(guard: Guard) -> None:
    """The tool has run, and its result goes to the model."""
    result: list[object] = []
    for _ in range(100_000):
        result = [result]
    with run_guarded(_permit(guard)) as run:
        assert isinstance(run, Run)
        run.done(ok=True, result=result)
    assert _ends(guard) == ["ok"]
