"""The rule `exclusive-template`."""

from permitry.core.decision import Verdict
from permitry.core.rule import BuiltInRule, Request

__all__ = ["ExclusiveTemplateRule"]


class ExclusiveTemplateRule(BuiltInRule):
    """Blocks every tool that an exclusive template, while it is active, does not list.

    Phase: restriction, priority 110. Active when a rule file defines a template with `exclusive = true`.
    """

    __slots__ = ()
    id = "exclusive-template"
    priority_number = 110
    is_pure = True
    effect = Verdict.BLOCK
    reason = "the active template allows its own tools and no others"
    message = (
        "The template that is active allows only its own tools, and this call did not run. Go on with those tools."
    )

    def matches(self, request: Request) -> bool:
        """Return whether an exclusive template is active and does not list the tool."""
        template = request.context.active_template
        return template is not None and template.exclusive and not template.allows(request.call.tool)
