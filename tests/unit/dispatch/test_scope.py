"""Call-time tools: listed and judged like all others, and given the state of their caller."""

import asyncio
from typing import Any

from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.scope import CallScope, ToolInvocation
from permitry.guard.session import Session
from permitry.handler import ToolHandler


def _subtask(arguments: dict[str, Any], scope: CallScope) -> tuple[bool, str]:
    return True, f"{arguments['n']} {scope.depth} {scope.step} {len(scope.history)}"


def test_a_call_time_tool_gets_the_scope_of_its_call(registry: ToolRegistry, handler: ToolHandler) -> None:
    """It differs from call to call."""
    registry.register_call_time(ToolSpec("subtask"), _subtask)
    for depth in (0, 3):
        scope = CallScope(depth, history=[{"role": "user"}], step=7)
        call = ToolCall("subtask", {"n": depth})
        assert handler.handle(call, scope).text == f"{depth} {depth} 7 1"
        assert asyncio.run(handler.ahandle(call, scope)).text == f"{depth} {depth} 7 1"


def test_without_a_scope_it_says_so(registry: ToolRegistry, handler: ToolHandler) -> None:
    """Nothing is made up in its place."""
    registry.register_call_time(ToolSpec("subtask"), _subtask)
    told = "The tool `subtask` needs the state of its caller, which was not given here."
    assert handler.handle(ToolCall("subtask", {"n": 1})).text == told


def test_it_is_listed_and_judged_like_all_others(registry: ToolRegistry) -> None:
    """Plan mode blocks it."""
    registry.register_call_time(ToolSpec("subtask"), _subtask)
    assert [spec.name for spec in registry.specs()] == ["subtask"]
    handler = ToolHandler(Session(is_plan_mode=True), registry=registry)
    assert not handler.handle(ToolCall("subtask", {"n": 1}), CallScope()).ok


def test_a_stateless_tool_knows_nothing_of_a_scope(registry: ToolRegistry, handler: ToolHandler) -> None:
    """It gets its arguments, and no more."""
    registry.register(ToolSpec("tool"), repr)
    assert handler.handle(ToolCall("tool", {"n": 1}), CallScope(5)).text == "{'n': 1}"


def test_a_context_tool_gets_the_call_and_the_context_of_the_decision(registry: ToolRegistry) -> None:
    """As they were when the call was authorized; the state of the caller is that of the host, but for the session."""
    seen: list[ToolInvocation] = []

    def tool(_: dict[str, Any], invocation: ToolInvocation) -> str:
        seen.append(invocation)
        return "done"

    registry.register_with_context(ToolSpec("tool"), tool)
    session = Session(yolo_mode=True, agent="helper")
    handler = ToolHandler(session, registry=registry)
    for scope in (CallScope(2, session=Session(yolo_mode=True)), None):
        handler.handle(ToolCall("tool", call_id=f"c{len(seen)}"), scope)
    contexts = [(each.call.call_id, each.context.agent, each.scope.depth) for each in seen]
    assert contexts == [("c0", "helper", 2), ("c1", "helper", 0)]
    assert all(each.session is each.scope.session is session for each in seen)


def test_the_session_of_a_scope_is_the_one_that_was_judged(registry: ToolRegistry) -> None:
    """Whatever the host has put there: an agent must not be started under someone else's session."""
    seen: list[object] = []

    def tool(_: dict[str, Any], scope: CallScope) -> str:
        seen.append(scope.session)
        return "done"

    registry.register_call_time(ToolSpec("subtask"), tool)
    session = Session(yolo_mode=True)
    child = session.child("helper")
    handler = ToolHandler(child, registry=registry)
    handler.handle(ToolCall("subtask", call_id="c1"), CallScope(1, session=session))
    asyncio.run(handler.ahandle(ToolCall("subtask", call_id="c2"), CallScope(1)))
    assert [each is child for each in seen] == [True, True]


def test_the_history_of_a_scope_does_not_change() -> None:
    """A list given becomes a tuple."""
    messages: list[dict[str, str]] = [{"role": "user"}]
    scope = CallScope(history=messages)
    messages.clear()
    assert scope.history == ({"role": "user"},)
