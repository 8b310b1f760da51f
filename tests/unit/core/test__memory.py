"""What is remembered of a tool's calls: a decision that read only the context, under all that it read."""

from collections.abc import Callable
from typing import Any, ClassVar, cast

import attrs
import pytest
from tests.unit.core.stubs import StubRule

from permitry.core import _memory
from permitry.core._entry import compiled
from permitry.core._memory import Memory
from permitry.core._version import Version
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import Question
from permitry.core.spec import ToolSpec

CALL, SPEC, NOWHERE = ToolCall("t", {"n": 1}), ToolSpec("t"), AuthContext()
BLOCKS: dict[str, Any] = {"effect": Verdict.BLOCK, "number": 150}


@attrs.frozen
class _Pure:
    """A rule that answers by its question alone, and keeps what it was asked."""

    test: Callable[[Question], object]
    id: str = "pure"
    effect: Verdict = Verdict.ALLOW
    number: int = 250
    reason: str = "why"
    asked: list[Question] = attrs.field(factory=list, repr=False)
    message: ClassVar[str | None] = None
    source: ClassVar[str | None] = None
    is_pure: ClassVar[bool] = True

    def priority(self) -> int:
        return self.number

    def matches(self, question: Question) -> bool:
        self.asked.append(question)
        return bool(self.test(question))

    def near_miss(self, _: Question) -> str | None:
        return None


def _memory_of(*rules: object) -> Memory:
    version = Version(lambda: "v1")
    entries = compiled(cast("Any", rules), version)
    return Memory(entries, Question(CALL, NOWHERE, SPEC), lambda: SPEC, version)


def _verdict(memory: Memory, context: AuthContext = NOWHERE, call: ToolCall = CALL) -> Verdict:
    return memory.decide(call, context, SPEC, None).verdict


def test_what_reads_only_the_tool_is_asked_once() -> None:
    """No rule is asked about the second call; the decision is the same object."""
    memory = _memory_of(made := _Pure(lambda question: question.call.tool == "t"))
    first = memory.decide(CALL, NOWHERE, SPEC, None)
    count = len(made.asked)
    assert memory.decide(ToolCall("t", {"n": 2}), NOWHERE, SPEC, None) is first
    assert (first.verdict, len(made.asked)) == (Verdict.ALLOW, count)


def test_what_reads_the_arguments_is_asked_about_each_call() -> None:
    """No decision on one call is taken for another one."""
    memory = _memory_of(_Pure(lambda question: question.call.arguments["n"] == 1))
    assert _verdict(memory) is Verdict.ALLOW
    assert _verdict(memory, call=ToolCall("t", {"n": 2})) is Verdict.CONFIRM


def test_a_decision_holds_for_the_fields_it_read() -> None:
    """In another mode the rules are asked again; another workspace, which none has read, changes nothing."""
    memory = _memory_of(made := _Pure(lambda question: question.context.yolo_mode))
    assert _verdict(memory, AuthContext(yolo_mode=True)) is Verdict.ALLOW
    assert _verdict(memory) is Verdict.CONFIRM
    count = len(made.asked)
    assert _verdict(memory, AuthContext(workspace="/w")) is Verdict.CONFIRM
    assert len(made.asked) == count


def test_a_field_read_later_widens_the_key() -> None:
    """A rule that looks at the agent only in one mode is not answered for another agent."""
    memory = _memory_of(_Pure(lambda question: question.context.yolo_mode and question.context.agent == "main"))
    assert _verdict(memory) is Verdict.CONFIRM
    assert _verdict(memory, AuthContext(yolo_mode=True)) is Verdict.ALLOW
    assert _verdict(memory, AuthContext(yolo_mode=True, agent="other")) is Verdict.CONFIRM


def test_an_impure_rule_is_asked_about_each_call() -> None:
    """It answers by more than its question, so nothing is remembered."""
    memory = _memory_of(made := StubRule("r"))
    assert _verdict(memory) is Verdict.ALLOW
    made.answer = False
    assert _verdict(memory) is Verdict.CONFIRM


def test_past_the_bound_contexts_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """And learned again: the first of three is asked about once more, the last one is not."""
    monkeypatch.setattr(_memory, "MOST_CONTEXTS", 2)
    memory = _memory_of(made := _Pure(lambda question: question.context.agent == "a1"))
    asked = []
    for agent in ("a0", "a1", "a2", "a2", "a0", "a1"):
        before = len(made.asked)
        expected = Verdict.ALLOW if agent == "a1" else Verdict.CONFIRM
        assert _verdict(memory, AuthContext(agent=agent)) is expected
        asked.append(len(made.asked) > before)
    assert asked == [True, True, True, False, True, True]


@pytest.mark.parametrize(
    ("rules", "is_blocked"),
    [
        ([_Pure(lambda _: True, **BLOCKS)], True),
        ([_Pure(lambda question: question.call.arguments["n"] == 1, **BLOCKS)], False),
        (
            [
                _Pure(lambda question: question.call.arguments, "o", number=0),
                _Pure(lambda _: True, **BLOCKS),
            ],
            False,
        ),
        ([], False),
    ],
)
def test_a_tool_is_hidden_only_if_every_call_is_blocked(rules: list[object], *, is_blocked: bool) -> None:
    """Not where one call might be allowed, or is only asked about."""
    assert _memory_of(*rules).blocks_all(NOWHERE, SPEC) is is_blocked
