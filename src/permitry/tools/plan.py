"""The tool `update_plan`: the agent's list of steps, kept where the host can read it."""

from typing import Literal, TypeAlias

import attrs
from pydantic import Field

from permitry.core.spec import ToolTraits
from permitry.dispatch.events import ToolEventKind, report
from permitry.dispatch.registry import ToolRegistry
from permitry.tools._spec import Arguments, handler, spec

__all__ = ["Plan", "PlanState", "PlanStep", "register"]

_Status: TypeAlias = Literal["pending", "in_progress", "completed"]
# It changes the session alone, yet it is no reading: plan mode, which is for another kind of plan, must block it.
_NOTES = ToolTraits(read_only=False, destructive=False, idempotent=True, open_world=False, spawns_agent=False)


class PlanStep(Arguments):
    """One step of a plan."""

    step: str = Field(min_length=1, description="What is to be done.")
    status: _Status = Field(description="How far it is.")


class UpdatePlan(Arguments):
    """The arguments of `update_plan`."""

    plan: tuple[PlanStep, ...] = Field(strict=False, description="All steps, in order; at most one is in progress.")
    explanation: str | None = Field(None, description="Why the plan changes.")


@attrs.frozen
class PlanState:
    """A plan at one moment: its steps, and why it was changed last, or None."""

    steps: tuple[PlanStep, ...] = ()
    explanation: str | None = None


@attrs.define
class Plan:
    """The plan of one session; `state` is replaced as a whole by every `update_plan`."""

    state: PlanState = attrs.field(factory=PlanState)


def register(registry: ToolRegistry, plan: Plan | None = None) -> Plan:
    """Add `update_plan` to `registry` and return the plan it keeps: `plan`, or a new one.

    Source: seed 001, "handlers/plan.rs".
    """
    kept = Plan() if plan is None else plan

    def update_plan(arguments: UpdatePlan) -> tuple[bool, str]:
        kept.state = PlanState(arguments.plan, arguments.explanation)
        steps = [step.model_dump() for step in arguments.plan]
        report(ToolEventKind.PLAN, arguments.explanation or "", steps=steps)
        return True, "Plan updated"

    registry.register(
        spec("update_plan", "Write down the steps of the task and how far each is.", UpdatePlan, _NOTES),
        handler(UpdatePlan, update_plan),
    )
    return kept
