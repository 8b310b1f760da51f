"""The rule `plan-mode`."""

from permitry.core.decision import Verdict
from permitry.core.rule import BuiltInRule, Request

__all__ = ["PlanModeBlockingRule"]


class PlanModeBlockingRule(BuiltInRule):
    """Blocks every call that is not known to be read-only while a plan is being written.

    Phase: restriction, priority 100. Nothing in a later phase can undo it. An unknown tool counts as writing.
    """

    __slots__ = ()
    id = "plan-mode"
    priority_number = 100
    is_pure = True
    effect = Verdict.BLOCK
    reason = "plan mode is on and the call is not known to be read-only"
    message = (
        "Plan mode is on: nothing may be changed yet, and this call did not run. "
        "Use read-only tools to finish the plan, then present it to the user."
    )

    def matches(self, request: Request) -> bool:
        """Return whether plan mode is on and the call may change something."""
        return request.context.is_plan_mode and not request.is_read_only

    def near_miss(self, request: Request) -> str | None:
        """Return the plan mode that is off, for a call that may change something."""
        return None if request.is_read_only else "is_plan_mode = false"
