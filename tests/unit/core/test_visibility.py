"""Whether every call of a tool is blocked: it is remembered under all that was read of the context."""

from collections.abc import Callable
from typing import Any, ClassVar, cast

import attrs
import pytest
from tests.tables import for_each

from permitry.core import visibility
from permitry.core._evaluate import Phases
from permitry.core._known import call_of_tool, read_nothing
from permitry.core.call import ToolCall
from permitry.core.compile import compile_rules
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.decision_cache import DecisionCache
from permitry.core.history import History, Ran
from permitry.core.policy import evaluate
from permitry.core.rule import Request, Rule
from permitry.core.spec import ToolSpec
from permitry.core.template import Template
from permitry.core.visibility import Visibility
from permitry.errors import UnevaluableError

CALL, SPEC, NOWHERE = ToolCall("t", {"n": 1}), ToolSpec("t"), AuthContext()
BLOCKS: dict[str, Any] = {"effect": Verdict.BLOCK, "number": 150}
READ: dict[str, Any] = {
    "is_plan_mode": (True, False),
    "yolo_mode": (True, False),
    "mode": ("a", "b"),
    "agent": ("a", "b"),
    "workspace": ("/a", None),
    "attended": (True, False),
    "labels": (frozenset({"a"}), frozenset()),
    "active_template": (Template("a"), None),
    "history": (History.of([Ran(1.0, "bash", "main", "d")]), History()),
    "now": (1.0, 2.0),
    "counts": ({"a": 1}, {}),
    "tool_ignore_list": (("bash",), ()),
}


@attrs.frozen
class _Pure:
    """A rule that answers by its request alone, and keeps what it was asked."""

    test: Callable[[Request], object]
    id: str = "pure"
    effect: Verdict = Verdict.ALLOW
    number: int = 250
    reason: str = "why"
    asked: list[Request] = attrs.field(factory=list, repr=False)
    message: ClassVar[str | None] = None
    source: ClassVar[str | None] = None
    is_pure: ClassVar[bool] = True

    def priority(self) -> int:
        return self.number

    def matches(self, request: Request) -> bool:
        self.asked.append(request)
        return bool(self.test(request))

    def near_miss(self, _: Request) -> str | None:
        return None


def _visibility_of(*rules: object) -> Visibility:
    cache = DecisionCache(lambda: "v1")
    phases = Phases.of(compile_rules(cast("Any", rules), cache), cache)
    return Visibility(
        SPEC, phases, evaluate, lambda context, spec: Request(call_of_tool(CALL), context, spec, read_nothing)
    )


def test_what_reads_only_the_tool_is_asked_once() -> None:
    """No rule is asked again, in whatever context."""
    found = _visibility_of(made := _Pure(lambda request: request.call.tool == "t", **BLOCKS))
    assert found.blocks_all(NOWHERE, SPEC)
    count = len(made.asked)
    assert found.blocks_all(AuthContext(yolo_mode=True), SPEC)
    assert len(made.asked) == count


def test_an_answer_holds_for_the_fields_it_read() -> None:
    """In another mode the rules are asked again; another workspace, which none has read, changes nothing."""
    found = _visibility_of(made := _Pure(lambda request: request.context.yolo_mode, **BLOCKS))
    assert found.blocks_all(AuthContext(yolo_mode=True), SPEC)
    assert not found.blocks_all(NOWHERE, SPEC)
    count = len(made.asked)
    assert not found.blocks_all(AuthContext(workspace="/w"), SPEC)
    assert len(made.asked) == count


@for_each("field", READ)
def test_what_is_read_of_a_context_makes_a_difference(field: str) -> None:
    """Each field, in the order of either context, and next to one that was read before."""
    first, second = (AuthContext(**{field: value}) for value in READ[field])
    for contexts in ((first, second, first), (second, first, second)):
        rule = _Pure(lambda request: getattr(request.context, field) == getattr(first, field), **BLOCKS)
        found = _visibility_of(_Pure(lambda request: request.context.mode == "night", "other", **BLOCKS), rule)
        assert [found.blocks_all(each, SPEC) for each in contexts] == [each is first for each in contexts]


def test_a_field_read_later_widens_the_key() -> None:
    """A rule that looks at the agent only in one mode is not answered for another agent."""
    found = _visibility_of(
        _Pure(lambda request: request.context.yolo_mode and request.context.agent == "main", **BLOCKS)
    )
    assert not found.blocks_all(NOWHERE, SPEC)
    assert found.blocks_all(AuthContext(yolo_mode=True), SPEC)
    assert not found.blocks_all(AuthContext(yolo_mode=True, agent="other"), SPEC)


def test_the_ignore_list_is_a_fact_about_the_tool() -> None:
    """A list that differs in other tools makes no difference, and a rule cannot ask about another one unnoticed."""
    found = _visibility_of(made := _Pure(lambda request: request.context.ignores(request.call.tool), **BLOCKS))
    found.blocks_all(AuthContext(tool_ignore_list=("t", "a")), SPEC)
    count = len(made.asked)
    assert found.blocks_all(AuthContext(tool_ignore_list=("t", "b")), SPEC)
    assert len(made.asked) == count
    other = _visibility_of(_Pure(lambda request: request.context.ignores("other"), **BLOCKS))
    lists = ((), ("other",), ("t",))
    assert [other.blocks_all(AuthContext(tool_ignore_list=names), SPEC) for names in lists] == [False, True, False]


def test_a_rule_that_swallows_every_error_still_cannot_hide_what_it_reads() -> None:
    """What it asks of a call that is not known passes by `except Exception`."""

    def swallow(request: Request) -> bool:
        try:
            return bool(request.call.arguments["n"] == 1)
        except Exception:  # noqa: BLE001 -- as rules of others do
            return True

    assert not _visibility_of(_Pure(swallow, **BLOCKS)).blocks_all(NOWHERE, SPEC)


def test_a_rule_that_fails_blocks_every_call() -> None:
    """Law 2, and by the fields that it has read."""

    def fail(request: Request) -> bool:
        raise UnevaluableError(f"not in mode {request.context.mode}")

    assert _visibility_of(_Pure(fail, **BLOCKS)).blocks_all(NOWHERE, SPEC)


def test_past_the_bound_contexts_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """And learned again: the first of three is asked about once more, the last one is not."""
    monkeypatch.setattr(visibility, "MOST_CONTEXTS", 2)
    found = _visibility_of(made := _Pure(lambda request: request.context.agent == "a1", **BLOCKS))
    asked = []
    for agent in ("a0", "a1", "a2", "a2", "a0", "a1"):
        before = len(made.asked)
        assert found.blocks_all(AuthContext(agent=agent), SPEC) is (agent == "a1")
        asked.append(len(made.asked) > before)
    assert asked == [True, True, True, False, True, True]


@for_each(
    ("rules", "is_blocked"),
    [
        ([_Pure(lambda _: True, **BLOCKS)], True),
        ([_Pure(lambda request: request.call.arguments["n"] == 1, **BLOCKS)], False),
        (
            [
                _Pure(lambda request: request.call.arguments, "o", number=0),
                _Pure(lambda _: True, **BLOCKS),
            ],
            False,
        ),
        ([], False),
    ],
)
def test_a_tool_is_hidden_only_if_every_call_is_blocked(rules: list[object], *, is_blocked: bool) -> None:
    """Not where one call might be allowed, or is only asked about."""
    assert _visibility_of(*rules).blocks_all(NOWHERE, SPEC) is is_blocked


class _CannotSay(Rule):
    """A rule that fails at saying whether it is pure."""

    __slots__ = ()
    id: ClassVar[str] = "cannot-say"
    effect: ClassVar[Verdict] = Verdict.BLOCK
    reason: ClassVar[str] = "why"
    message: ClassVar[str | None] = None
    source: ClassVar[str | None] = None

    @property
    def is_pure(self) -> bool:
        raise UnevaluableError("it is not known")

    def priority(self) -> int:
        return 150

    def matches(self, _: Request) -> bool:
        return True

    def near_miss(self, _: Request) -> str | None:
        return None


def test_a_rule_that_cannot_say_that_it_is_pure_is_not_asked_with_stand_ins() -> None:
    """So it hides no tool."""
    assert not _visibility_of(_CannotSay()).blocks_all(NOWHERE, SPEC)
