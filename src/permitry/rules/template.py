"""The rule `template`."""

from permitry.core.rule import BuiltInRule, Request

__all__ = ["TemplateAllowedToolsRule"]


class TemplateAllowedToolsRule(BuiltInRule):
    """Allows the tools of the active template.

    Phase: permission, priority 210. A template without tools allows nothing.
    """

    __slots__ = ()
    id = "template"
    priority_number = 210
    is_pure = True
    reason = "the active template lists the tool"

    def matches(self, request: Request) -> bool:
        """Return whether a template is active and lists the tool."""
        template = request.context.active_template
        return template is not None and template.allows(request.call.tool)

    def near_miss(self, request: Request) -> str | None:
        """Return the template that is active but does not list the tool."""
        template = request.context.active_template
        if template is None:
            return None
        return f"template = {template.name}, which does not list the tool"
