"""The tools `update_plan`, the list of steps where the host can read it, and `present_plan`, which ends plan mode."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import attrs
from pydantic import Field

from permitry.port import (
    ToolCall,
    ToolConfirmationResponse,
    ToolError,
    ToolEventKind,
    ToolInvocation,
    ToolLimits,
    ToolRegistry,
    ToolResult,
    ToolTraits,
    current_cancellation,
    report,
    with_check,
)
from permitry_tools._spec import Arguments, fit, spec, tool

__all__ = ["Plan", "PlanReview", "PlanState", "PlanStep", "register", "register_present_plan"]

_Status: TypeAlias = Literal["pending", "in_progress", "completed"]
# It changes the session alone, yet it is not reading: plan mode, which is for another kind of plan, must block it.
_NOTES = ToolTraits(read_only=False, destructive=False, idempotent=True, open_world=False, spawns_agent=False)


_LONGEST = 20_000

PlanReview: TypeAlias = Callable[[ToolCall], ToolConfirmationResponse | None]
"""Shows the plan in a call to the human and returns the answer, None where there is no answer; it may wait."""


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
    """Add `update_plan` to `registry` and return the plan it keeps: `plan`, or a new one."""
    kept = plan or Plan()

    @tool(registry, UpdatePlan, "Write down the steps of the task and how far each is.", _NOTES)
    def update_plan(arguments: UpdatePlan) -> tuple[bool, str]:
        kept.state = PlanState(arguments.plan, arguments.explanation)
        steps = [step.model_dump() for step in arguments.plan]
        report(ToolEventKind.PLAN, arguments.explanation or "", steps=steps)
        return True, "Plan updated"

    return kept


class PresentPlan(Arguments):
    """The arguments of `present_plan`."""

    plan: str = Field(min_length=1, max_length=_LONGEST, description="The plan, for the user to read: what, and how.")


def register_present_plan(registry: ToolRegistry, review: PlanReview) -> None:
    """Add `present_plan` to `registry`, which is there in plan mode: with the approval of a human plan mode ends."""

    def present_plan(given: dict[str, Any], invocation: ToolInvocation) -> ToolResult:
        plan, session = fit(PresentPlan, given).plan, invocation.session
        if session is None or session.parent is not None:
            raise ToolError("Only the main agent presents a plan; hand yours to the agent that started you.")
        cancellation = current_cancellation()
        response = review(invocation.call)
        if cancellation.is_cancelled:
            raise ToolError("The call was cancelled, so plan mode stays, whatever the user answered.")
        if response is None:
            return ToolResult(
                False, "There was no answer, so plan mode stays. You may still read; do not carry it out."
            )
        if not response.is_approval:
            text = "The user did not approve the plan, so plan mode stays. Work on it, and present it again."
            return ToolResult(False, text + _said(response))
        edited = plan if response.arguments is None else fit(PresentPlan, response.arguments).plan
        # INVARIANT: plan mode is left here alone, after the approval of a human that is on record.
        with session.lock:
            session.switch_mode("default")
        changed = "" if edited == plan else f" The user changed it to:\n{edited}"
        return ToolResult(
            True, f"The user approved the plan. Plan mode is over; carry it out.{changed}{_said(response)}"
        )

    registry.register_with_context(
        spec(
            "present_plan", "Show the finished plan to the user, who approves it, which ends plan mode, or does not.",
            PresentPlan, _NOTES, timeout=None,
        ),
        with_check(present_plan, lambda given: fit(PresentPlan, given)),
        enabled=lambda context: context.is_plan_mode,
        # A human may take long; other tools need not wait for that.
        limits=ToolLimits(resource=None),
    )  # fmt: skip


def _said(response: ToolConfirmationResponse) -> str:
    words = response.instructions or response.result
    return f"\nThe user says: {words}" if words else ""
