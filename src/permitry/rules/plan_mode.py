"""The rule `plan-mode`."""

from typing import ClassVar

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import BuiltInRule, Question, Rest

__all__ = ["PlanModeBlockingRule"]


@attrs.frozen
class PlanModeBlockingRule(BuiltInRule):
    """Blocks every call that is not known to be read-only while a plan is being written.

    Phase: restriction, priority 100. Nothing in a later phase can undo it. An unknown tool counts as writing.

    Source: seed 003, "Plan Mode Overrides".
    """

    id: ClassVar[str] = "plan-mode"
    effect: ClassVar[Verdict] = Verdict.BLOCK
    reason: ClassVar[str] = "plan mode is on and the call is not known to be read-only"
    message: ClassVar[str | None] = (
        "Plan mode is on: nothing may be changed yet, and this call did not run. "
        "Use read-only tools to finish the plan, then present it to the user."
    )

    def priority(self) -> int:
        """Return 100."""
        return 100

    def matches(self, question: Question) -> bool:
        """Return whether plan mode is on and the call may change something."""
        return question.context.is_plan_mode and not question.is_read_only

    def residue(self, question: Question, *, is_selected: bool) -> Rest | bool:  # noqa: ARG002 -- it is about all tools
        """Return the question for plan mode; to know whether a shell writes takes its command as well."""
        is_shell = question.tool is not None and question.tool.is_shell
        if not is_shell and question.is_read_only:
            return False
        return _OF_SHELLS if is_shell else _OF_OTHERS

    def always_matches(self, question: Question) -> bool | None:
        """Return `matches` for every call of the tool; None for a shell, whose commands may only read."""
        is_shell = question.context.is_plan_mode and question.tool is not None and question.tool.is_shell
        return None if is_shell else self.matches(question)

    def near_miss(self, question: Question) -> str | None:
        """Return the plan mode that is off, for a call that may change something."""
        return None if question.is_read_only else "is_plan_mode = false"


def _is_planning(_: ToolCall, context: AuthContext) -> bool:
    return context.is_plan_mode


_OF_OTHERS = Rest(_is_planning)
_OF_SHELLS = Rest(_is_planning, is_final=False, is_about_call=True)
