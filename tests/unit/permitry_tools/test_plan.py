"""The tool `update_plan`."""

import pytest

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools.plan import Plan, PlanState, PlanStep, register

STEPS = [{"step": "read", "status": "completed"}, {"step": "write", "status": "in_progress"}]


@pytest.fixture
def plan() -> Plan:
    """Return the plan a host keeps."""
    return Plan()


@pytest.fixture
def handler(plan: Plan) -> ToolHandler:
    """Return a handler that allows all of a registry with this tool."""
    registry = ToolRegistry()
    assert register(registry, plan) is plan
    return ToolHandler(Session(yolo_mode=True), registry=registry)


def test_the_host_can_read_the_plan(handler: ToolHandler, plan: Plan) -> None:
    """A new plan replaces the one before as a whole."""
    assert handler.handle(ToolCall("update_plan", {"plan": STEPS, "explanation": "why"})) == ToolResult(
        True, "Plan updated"
    )
    steps = (PlanStep(step="read", status="completed"), PlanStep(step="write", status="in_progress"))
    assert plan.state == PlanState(steps, "why")
    assert handler.handle(ToolCall("update_plan", {"plan": []})).ok
    assert plan.state == PlanState()


def test_several_steps_may_be_in_progress(handler: ToolHandler) -> None:
    """The model is asked for one; it is a note, and no reason to fail."""
    assert handler.handle(ToolCall("update_plan", {"plan": [STEPS[1], STEPS[1]]})).ok


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"plan": "read"},
        {"plan": [{"step": "read"}]},
        {"plan": [{"step": "read", "status": "done"}]},
        {"plan": [{"step": "", "status": "pending"}]},
        {"plan": STEPS, "more": 1},
        {"plan": [{**STEPS[0], "more": 1}]},
    ],
)
def test_a_plan_is_a_list_of_steps(handler: ToolHandler, plan: Plan, arguments: dict[str, object]) -> None:
    """Anything else leaves the plan as it is, and the model learns why."""
    handler.handle(ToolCall("update_plan", {"plan": STEPS}))
    before = plan.state
    result = handler.handle(ToolCall("update_plan", arguments))
    assert result.text.startswith("The arguments do not fit: `")
    assert plan.state is before


def test_plan_mode_blocks_it(plan: Plan) -> None:
    """It is a list of things to do, and no plan to be approved; so the tool does not count as reading."""
    registry = ToolRegistry()
    register(registry, plan)
    handler = ToolHandler(Session(is_plan_mode=True, yolo_mode=True), registry=registry)
    assert handler.handle(ToolCall("update_plan", {"plan": STEPS})).ok is False
    assert plan.state == PlanState()


def test_a_plan_is_made_where_none_is_given() -> None:
    """Every registry has its own."""
    assert register(ToolRegistry()) is not register(ToolRegistry())


def test_the_tool_says_that_it_touches_nothing_outside() -> None:
    """It changes the session, again and again with the same result."""
    registry = ToolRegistry()
    register(registry)
    spec = registry.get("update_plan")
    assert spec is not None
    traits = spec.traits
    assert (traits.read_only, traits.destructive, traits.idempotent, traits.open_world) == (False, False, True, False)
    assert spec.roles == {}
