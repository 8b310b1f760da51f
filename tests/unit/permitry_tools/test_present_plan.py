"""The tool `present_plan`: plan mode ends with a human's approval, and with nothing else."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.scope import CallScope
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools.agents import LoopRunner, Turn
from permitry_tools.delegate import AgentTask
from permitry_tools.plan import register_present_plan

Answer = ToolConfirmationResponse | None
Present = Callable[..., ToolResult]
CALL = ToolCall("present_plan", {"plan": "1. write"})


@pytest.fixture
def shown() -> list[ToolCall]:
    """Return what the human was shown."""
    return []


@pytest.fixture
def session() -> Session:
    """Return a session in plan mode, in which the user has asked not to be asked."""
    return Session(is_plan_mode=True, yolo_mode=True)


@pytest.fixture
def present(shown: list[ToolCall], session: Session) -> Present:
    """Return a function that presents a plan to a human who answers so."""

    def presented(answer: Answer, call: ToolCall = CALL, session: Session = session) -> ToolResult:
        registry = ToolRegistry()

        def review(call: ToolCall) -> Answer:
            shown.append(call)
            return answer

        register_present_plan(registry, review)
        registry.register(ToolSpec("write"), lambda _: "written")
        return ToolHandler(session, registry=registry).handle(call)

    return presented


def test_an_approval_ends_plan_mode(present: Present, session: Session, shown: list[ToolCall]) -> None:
    """The session goes on in the default mode, not in YOLO, and the human saw the very plan."""
    result = present(ToolConfirmationResponse(approved=True))
    assert result == ToolResult(True, "The user approved the plan. Plan mode is over; carry it out.")
    assert (session.mode, session.yolo_mode) == ("default", False)
    assert [call.to_dict() for call in shown] == [{"plan": "1. write"}]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, "There was no answer"),
        (ToolConfirmationResponse(approved=False), "did not approve"),
        (ToolConfirmationResponse(approved=False, instructions="Smaller."), "The user says: Smaller."),
        (ToolConfirmationResponse(approved=False, result="Done."), "The user says: Done."),
        (ToolConfirmationResponse(approved=True, abort=True), "did not approve"),
        (ToolConfirmationResponse(approved=True, arguments={"plan": 5}), "do not fit: `plan`"),
        (ToolConfirmationResponse(approved=True, arguments={}), "do not fit: `plan`"),
    ],
)
def test_without_an_approval_plan_mode_stays(present: Present, session: Session, answer: Answer, expected: str) -> None:
    """The model hears why, and what to do."""
    result = present(answer)
    assert not result.ok
    assert expected in result.text
    assert session.is_plan_mode


def test_what_the_user_changed_in_the_plan_is_reported(present: Present) -> None:
    """The model carries out the plan that was approved."""
    changed = ToolConfirmationResponse(approved=True, arguments={"plan": "1. read"}, instructions="Go.")
    assert present(changed).text.endswith("The user changed it to:\n1. read\nThe user says: Go.")


@pytest.mark.parametrize("arguments", [{}, {"plan": ""}, {"plan": "x" * 20_001}, {"plan": "x", "mode": "yolo"}])
def test_what_is_no_plan_is_shown_to_nobody(present: Present, shown: list[ToolCall], arguments: dict[str, Any]) -> None:
    """The model hears what is wrong."""
    result = present(ToolConfirmationResponse(approved=True), ToolCall("present_plan", arguments))
    assert "The arguments do not fit" in result.text
    assert shown == []


def test_it_is_there_in_plan_mode_only(present: Present, session: Session, shown: list[ToolCall]) -> None:
    """Elsewhere there is nothing to leave."""
    session.switch_mode("default")
    assert "There is no tool `present_plan`" in present(ToolConfirmationResponse(approved=True)).text
    assert shown == []


def test_a_sub_agent_ends_no_plan_mode(present: Present, session: Session, shown: list[ToolCall]) -> None:
    """Neither that of the main agent nor its own."""
    child = session.child("helper")
    assert "Only the main agent" in present(ToolConfirmationResponse(approved=True), session=child).text
    assert (session.is_plan_mode, child.is_plan_mode, shown) == (True, True, [])


def _registry_asking(review: Callable[[ToolCall], Answer]) -> ToolRegistry:
    registry = ToolRegistry()
    register_present_plan(registry, review)
    return registry


def test_an_event_loop_goes_on_while_the_user_reads(session: Session) -> None:
    """An async host is not held up, and plan mode ends as it does in any other."""
    is_read = threading.Event()

    def review(_: ToolCall) -> Answer:
        return ToolConfirmationResponse(approved=is_read.wait(10))

    async def main() -> ToolResult:
        handler = ToolHandler(session, registry=_registry_asking(review))
        presenting = asyncio.create_task(handler.ahandle(CALL))
        await asyncio.sleep(0.05)
        assert (presenting.done(), session.is_plan_mode) == (False, True)
        is_read.set()
        return await presenting

    assert asyncio.run(main()).ok
    assert session.mode == "default"


def test_a_cancelled_call_leaves_no_plan_mode(session: Session) -> None:
    """The user may answer when the call is long over: the model has heard that it was cancelled."""
    is_cancelled = threading.Event()

    def review(_: ToolCall) -> Answer:
        is_cancelled.wait(10)
        return ToolConfirmationResponse(approved=True)

    async def main() -> ToolResult:
        registry = _registry_asking(review)
        handler = ToolHandler(session, registry=registry)
        presenting = asyncio.create_task(handler.ahandle(attrs.evolve(CALL, call_id="c1")))
        await asyncio.sleep(0.05)
        registry.cancel("c1")
        is_cancelled.set()
        return await presenting

    assert "was cancelled" in asyncio.run(main()).text
    assert session.is_plan_mode


def test_an_agent_hands_its_plan_to_who_started_it(session: Session, shown: list[ToolCall]) -> None:
    """Its own call ends nothing; the main agent presents what it brings, and the user answers that."""

    def review(call: ToolCall) -> Answer:
        shown.append(call)
        return ToolConfirmationResponse(approved=True)

    registry = _registry_asking(review)
    seen: list[str] = []

    def think(task: AgentTask, turns: Sequence[Turn]) -> str | Sequence[ToolCall]:
        assert task.objective == "plan it"
        seen.extend(result.text for turn in turns for result in turn.results)
        return f"the plan: {seen[0]}" if turns else [CALL]

    def start(task: AgentTask, scope: CallScope) -> Callable[[ToolCall], ToolResult]:
        return ToolHandler(scope.session.child(task.kind), registry=registry).handle

    answer = LoopRunner(think, start).run(AgentTask("plan it"), CallScope(session=session))
    assert "Only the main agent presents a plan" in answer
    assert (session.is_plan_mode, shown) == (True, [])
    plan = ToolCall("present_plan", {"plan": answer})
    assert ToolHandler(session, registry=registry).handle(plan).ok
    assert (session.is_plan_mode, [call.to_dict() for call in shown]) == (False, [plan.to_dict()])
