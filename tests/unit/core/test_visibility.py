"""Whether every call of a tool is blocked, whatever its arguments: in each context by itself."""

from collections.abc import Callable
from typing import Any, ClassVar, cast

import attrs
import pytest
from tests.tables import for_each

from permitry.core._evaluate import Phases
from permitry.core.call import ToolCall
from permitry.core.compile import compile_rules
from permitry.core.context import AuthContext
from permitry.core.decision import DecisionCache, Verdict
from permitry.core.history import History, Ran
from permitry.core.policy import evaluate
from permitry.core.rule import Request, Rule
from permitry.core.spec import ToolSpec
from permitry.core.template import Template
from permitry.core.visibility import Unresolved, Visibility, call_of_tool, raise_unresolved, unknown_context
from permitry.errors import UnevaluableError

CALL, SPEC, NOWHERE = ToolCall("t", {"n": 1}), ToolSpec("t"), AuthContext()
SEARCH = ToolCall("mcp:docs/search", {"n": 1})
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


def _visibility_of(*rules: object, unmatched: Verdict = Verdict.CONFIRM) -> Visibility:
    cache = DecisionCache(lambda: "v1", unmatched)
    phases = Phases.of(compile_rules(cast("Any", rules), cache), cache)
    return Visibility(
        SPEC, phases, evaluate, lambda context, spec, reader: Request(call_of_tool(CALL), context, spec, reader)
    )


def test_a_tool_that_no_rule_can_block_is_asked_about_once() -> None:
    """What depends on the call does so in every context."""
    rules = [_Pure(lambda request: request.call.arguments, **BLOCKS), _Pure(lambda _: True, "other")]
    found = _visibility_of(*rules)
    counts = [len(rule.asked) for rule in rules]
    assert not found.blocks_all(AuthContext(yolo_mode=True), SPEC)
    assert [len(rule.asked) for rule in rules] == counts


@for_each(("unmatched", "is_blocked"), [(Verdict.CONFIRM, False), (Verdict.BLOCK, True)])
def test_what_no_rule_permits_is_blocked_where_the_policy_says_so(unmatched: Verdict, *, is_blocked: bool) -> None:
    """In the one mode in which no rule permits it."""
    found = _visibility_of(_Pure(lambda request: request.context.yolo_mode), unmatched=unmatched)
    assert found.blocks_all(NOWHERE, SPEC) is is_blocked
    assert not found.blocks_all(AuthContext(yolo_mode=True), SPEC)


def test_what_a_rule_may_permit_is_not_blocked() -> None:
    """Not even where the policy blocks what no rule permits."""
    rule = _Pure(lambda request: request.call.arguments["n"] == 1)
    assert not _visibility_of(rule, unmatched=Verdict.BLOCK).blocks_all(NOWHERE, SPEC)


@for_each("field", READ)
def test_what_is_read_of_a_context_makes_a_difference(field: str) -> None:
    """Each field, in the order of either context, and next to one that was read before."""
    first, second = (AuthContext(**{field: value}) for value in READ[field])
    for contexts in ((first, second, first), (second, first, second)):
        rule = _Pure(lambda request: getattr(request.context, field) == getattr(first, field), **BLOCKS)
        found = _visibility_of(_Pure(lambda request: request.context.mode == "night", "other", **BLOCKS), rule)
        assert [found.blocks_all(each, SPEC) for each in contexts] == [each is first for each in contexts]


def test_a_field_may_be_read_in_one_mode_only() -> None:
    """A rule that looks at the agent only in one mode is not answered for another agent."""
    found = _visibility_of(
        _Pure(lambda request: request.context.yolo_mode and request.context.agent == "main", **BLOCKS)
    )
    assert not found.blocks_all(NOWHERE, SPEC)
    assert found.blocks_all(AuthContext(yolo_mode=True), SPEC)
    assert not found.blocks_all(AuthContext(yolo_mode=True, agent="other"), SPEC)


def test_the_ignore_list_can_be_asked_about_any_tool() -> None:
    """Of a context all is known."""
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


def test_a_call_that_is_not_known_still_has_its_tool() -> None:
    """Name, server, kind and what the name may mean."""
    call = call_of_tool(SEARCH)
    assert (call.tool, call.name, call.server, call.kind) == (SEARCH.tool, "search", "docs", SEARCH.kind)
    assert call.readings == SEARCH.readings


@for_each(
    "look",
    [
        lambda call: call.arguments,
        lambda call: call.digest,
        lambda call: call.call_id,
        lambda call: call.repaired,
        lambda call: call == SEARCH,
        lambda call: {call},
        lambda call: isinstance(call, ToolCall),
        lambda call: f"{call}",
        lambda call: raise_unresolved(call, AuthContext(), None),
    ],
)
def test_what_else_is_asked_of_it_is_not_known(look: Callable[[ToolCall], object]) -> None:
    """Its arguments, what is made of them, and whether it is some other call."""
    with pytest.raises(Unresolved) as raised:
        look(call_of_tool(SEARCH))
    assert raised.type is Unresolved


@for_each(
    "look",
    [
        lambda context: context == AuthContext(),
        lambda context: context != AuthContext(),
        lambda context: {context},
        lambda context: isinstance(context, AuthContext),
        lambda context: f"{context}",
        lambda context: context.yolo_mode,
        lambda context: context.ignores("b"),
        lambda context: context.history,
    ],
)
def test_of_a_context_that_is_not_known_nothing_is(look: Callable[[AuthContext], object]) -> None:
    """Which is reported apart, as the context alone would say it."""
    with pytest.raises(Unresolved) as raised:
        look(unknown_context())
    assert raised.type is not Unresolved
