"""The rule `template`."""

from typing import ClassVar

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import BuiltInRule, Question, Rest

__all__ = ["TemplateAllowedToolsRule"]


@attrs.frozen
class TemplateAllowedToolsRule(BuiltInRule):
    """Lets the tools of the active template run.

    Phase: permission, priority 210. A template without tools allows nothing.

    Source: seed 003, "TemplateAllowedToolsRule".
    """

    id: ClassVar[str] = "template"
    reason: ClassVar[str] = "the active template lists the tool"

    def priority(self) -> int:
        """Return 210."""
        return 210

    def matches(self, question: Question) -> bool:
        """Return whether a template is active and lists the tool."""
        template = question.context.active_template
        return template is not None and template.allows(question.call.tool)

    def residue(self, question: Question, *, is_selected: bool) -> Rest:  # noqa: ARG002 -- it is about all tools
        """Return the question for the template, which is all it asks."""
        return _REST

    def near_miss(self, question: Question) -> str | None:
        """Return the template that is active but does not list the tool."""
        template = question.context.active_template
        return None if template is None else f"template = {template.name}, which does not list the tool"


def _lists(call: ToolCall, context: AuthContext) -> bool:
    template = context.active_template
    return template is not None and template.allows(call.tool)


_REST = Rest(_lists)
