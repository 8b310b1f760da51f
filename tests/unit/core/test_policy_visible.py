"""Which tools are worth showing: those of which some call could be allowed or confirmed."""

from collections.abc import Callable
from typing import Any, ClassVar

import attrs
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request, Unsure
from permitry.core.spec import ToolSpec

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
LOOK = ToolSpec("look")
HERE = AuthContext()


@attrs.frozen
class _Silent:
    """A rule that does not say that it answers by its request alone; `answer` is what it says, or gives that."""

    effect: Verdict = BLOCK
    answer: Any = True
    priority_number: int = 150
    id: str = "r"
    reason: str = ""
    message: str | None = None
    source: str | None = None

    def priority(self) -> int:
        return self.priority_number

    def matches(self, request: Request) -> bool:
        answer: bool = self.answer(request) if callable(self.answer) else self.answer
        return answer

    def near_miss(self, _: Request) -> str | None:
        return None


@attrs.frozen
class _Rule(_Silent):
    """A rule that says so."""

    is_pure: ClassVar[bool] = True


def _fail(_: object) -> None:
    raise ValueError("on purpose")


def _depends(request: Request) -> bool:
    return bool(request.call.arguments)


def _could_run(*rules: Any, spec: ToolSpec = LOOK, context: AuthContext = HERE) -> bool:  # noqa: ANN401 -- rules of any kind
    return AuthorizationPolicy(rules).could_run(spec, context)


def test_a_tool_that_is_always_blocked_could_not_run() -> None:
    """One block that applies to every call is enough, whatever else there is."""
    assert not _could_run(_Rule(BLOCK))
    assert not _could_run(_Rule(CONFIRM, id="asks"), _Rule(BLOCK), _Rule(ALLOW, priority_number=250, id="allows"))


def test_without_a_block_every_tool_could_run() -> None:
    """No rule, a rule that asks, a permission: a human could still say yes."""
    assert _could_run()
    assert _could_run(_Rule(CONFIRM))
    assert _could_run(_Rule(ALLOW, False, 250))


@for_each("answer", [False, _depends])
def test_a_block_that_is_not_sure_hides_nothing(answer: object) -> None:
    """It never applies, or it depends on the arguments."""
    assert _could_run(_Rule(BLOCK, answer))


def test_a_block_that_can_only_ask_hides_nothing() -> None:
    """A rule that is unsure of every call makes each ask."""
    assert _could_run(_Rule(BLOCK, Unsure("who knows")), _Rule(CONFIRM, _depends, id="other"))


@for_each("answer", [None, _fail, 1, 0, "yes", BLOCK])
def test_a_block_that_fails_for_every_call_hides_the_tool(answer: object) -> None:
    """Law 2: it counts as matched, whatever the arguments are."""
    assert not _could_run(_Rule(BLOCK, answer))


def test_a_rule_that_says_nothing_beforehand_hides_nothing() -> None:
    """What cannot be asked about all calls is asked about each."""
    assert _could_run(_Silent())
    assert AuthorizationPolicy([_Silent()]).decide(ToolCall("look"), HERE).verdict is BLOCK


@for_each("rule", [_Rule(ALLOW, True, 50), _Rule(ALLOW, _depends, 50), _Silent(ALLOW, True, 50)])
def test_an_override_that_may_allow_keeps_the_tool_in_sight(rule: _Silent) -> None:
    """It comes before the block."""
    assert _could_run(_Rule(BLOCK, id="block"), rule)


@for_each("answer", [False, _fail])
def test_an_override_that_never_allows_does_not(answer: object) -> None:
    """One that fails does not apply."""
    assert not _could_run(_Rule(BLOCK), _Rule(ALLOW, answer, 50, id="first"))


def test_a_tool_could_run_when_one_of_its_kinds_could() -> None:
    """A block of functions says nothing about free text."""
    rule = _Rule(BLOCK, lambda request: request.call.kind is PayloadKind.FUNCTION)
    assert not _could_run(rule)
    assert _could_run(rule, spec=ToolSpec("look", kinds=(PayloadKind.FUNCTION, PayloadKind.CUSTOM)))
    assert not _could_run(_Rule(BLOCK), spec=ToolSpec("look", kinds=PayloadKind))


def test_each_kind_of_call_may_be_blocked_in_another_context() -> None:
    """Whatever the contexts add to the rules: no call of the tool can run."""
    blocked = {("main", PayloadKind.FUNCTION), ("helper", PayloadKind.CUSTOM)}
    rule = _Rule(BLOCK, lambda request: (request.context.agent, request.call.kind) in blocked)
    spec = ToolSpec("look", kinds=(PayloadKind.FUNCTION, PayloadKind.CUSTOM))
    above = AuthContext(agent="main")
    for context in (above.child("helper"), above.child("helper", lists={})):
        assert not _could_run(rule, spec=spec, context=context)
    assert _could_run(rule, spec=spec, context=above)


def test_a_tool_that_takes_no_kind_of_call_could_not_run() -> None:
    """There is no call to ask about."""
    assert not _could_run(spec=ToolSpec("look", kinds=()))


def _is_agent(name: str) -> Callable[[Request], bool]:
    return lambda request: request.context.agent == name


@for_each(("agent", "could"), [("main", False), ("helper", False), ("other", True)])
def test_a_block_anywhere_above_is_enough(*, agent: str, could: bool) -> None:
    """A sub-agent may do no more than the agent that started it."""
    context = AuthContext(agent="main").child("helper")
    assert _could_run(_Rule(BLOCK, _is_agent(agent)), context=context) is could


def test_what_allows_an_agent_first_does_not_lift_the_block_above_it() -> None:
    """Each context of the lineage is decided by itself."""
    rules = (_Rule(BLOCK), _Rule(ALLOW, _is_agent("helper"), 50, id="first"))
    assert not _could_run(*rules, context=AuthContext(agent="main").child("helper"))
    assert _could_run(*rules, context=AuthContext(agent="helper"))


def test_a_rule_sees_what_a_rule_file_adds_to_the_tool() -> None:
    """The request is the one that is asked about each call, but for its call and its context."""
    seen: list[tuple[ToolSpec | None, ...]] = []
    declared = {"look": ToolSpec("look", roles={})}

    def look(request: Request) -> bool:
        seen.append((request.spec, request.own, request.tool))
        return False

    rule = _Rule(BLOCK, look)
    policy = AuthorizationPolicy([rule], declared=declared)
    assert policy.could_run(LOOK, HERE)
    request = policy.request(ToolCall("look"), HERE, LOOK)
    assert set(seen) == {(request.spec, LOOK, request.tool)}
    assert request.spec is not None
    assert request.spec.roles == {}
