"""What keeps the record, and one that does so in memory."""

from permitry.audit.recorder import MemoryRecorder, decision_fields
from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Phase, RuleFailure, Verdict

_CALL = ToolCall("look", {"path": "ä.txt"}, call_id="c1")


def test_a_decision_is_recorded_in_full() -> None:
    """Everything the operator may ask about a decision is kept, as JSON."""
    failure = RuleFailure("night", "KeyError: 'hour'")
    decision = Decision(
        Verdict.BLOCK, "night", Phase.RESTRICTION, "too late", "Wait.", (failure,), "rules.toml:3", "v1"
    )
    assert decision_fields(decision) == {
        "verdict": "block",
        "rule": "night",
        "phase": "restriction",
        "reason": "too late",
        "source": "rules.toml:3",
        "errors": ["night: KeyError: 'hour'"],
        "policy_version": "v1",
    }


def test_memory_keeps_events_in_order() -> None:
    """Each event names its call by id, tool and digest, and carries its details."""
    recorder = MemoryRecorder()
    recorder.record("decided", _CALL, verdict="allow")
    recorder.record("started", _CALL)
    head = {"call_id": "c1", "tool": "look", "digest": _CALL.digest}
    assert list(recorder.records) == [{"event": "decided", **head, "verdict": "allow"}, {"event": "started", **head}]


def test_memory_is_bounded() -> None:
    """The oldest records make room for new ones."""
    recorder = MemoryRecorder(limit=3)
    for number in range(10):
        recorder.record("decided", _CALL, number=number)
    assert [each["number"] for each in recorder.records] == [7, 8, 9]


def test_two_memories_share_nothing() -> None:
    """A recorder of one handler does not see another's events."""
    first, second = MemoryRecorder(), MemoryRecorder()
    first.record("decided", _CALL)
    assert not second.records


def test_a_record_in_memory_has_a_bound_in_bytes() -> None:
    """The oldest of what is large goes, with all before it; also where the other bound has taken some already."""
    for limit in (4, 100):
        recorder = MemoryRecorder(limit, size=30_000)
        for number in range(20):
            call = ToolCall("write", {"text": "x" * 10_000 if number % 2 else "x"}, call_id=str(number))
            recorder.record("decided", call, arguments=call.to_dict())
            if number == 3:
                recorder.reloaded(added={}, problems=[])
        assert [each["call_id"] for each in recorder.records][-3:] == ["17", "18", "19"]
        assert sum(len(str(each["arguments"])) for each in recorder.records) < 30_000
        assert 3 <= len(recorder.records) <= 4


def test_one_record_that_is_larger_than_all_is_not_kept() -> None:
    """And the next one is kept as ever."""
    recorder = MemoryRecorder(size=5_000)
    large = ToolCall("write", {"text": "x" * 10_000})
    recorder.record("decided", large, arguments=large.to_dict())
    recorder.record("decided", ToolCall("look"), arguments={})
    assert [each["tool"] for each in recorder.records] == ["look"]
