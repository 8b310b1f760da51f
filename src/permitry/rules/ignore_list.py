"""The rule `ignore-list`."""

from permitry.core.rule import BuiltInRule, Request

__all__ = ["ToolIgnoreListRule"]


class ToolIgnoreListRule(BuiltInRule):
    """Allows the tools for which the user chose "do not ask again".

    Phase: permission, priority 310. The list holds names as rules see them, `mcp:server/tool` for server tools.
    """

    __slots__ = ()
    id = "ignore-list"
    priority_number = 310
    is_pure = True
    reason = "the user asked not to be asked about this tool"

    def matches(self, request: Request) -> bool:
        """Return whether the tool is on the ignore list."""
        return request.context.ignores(request.call.tool)
