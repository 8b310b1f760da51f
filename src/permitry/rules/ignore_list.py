"""The rule `ignore-list`."""

from typing import ClassVar

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import BuiltInRule, Question, Rest

__all__ = ["ToolIgnoreListRule"]


@attrs.frozen
class ToolIgnoreListRule(BuiltInRule):
    """Lets the tools run for which the user said "do not ask again".

    Phase: permission, priority 310. The list holds names as rules see them, `mcp:server/tool` for server tools.

    Source: seed 003, "ToolIgnoreListRule".
    """

    id: ClassVar[str] = "ignore-list"
    reason: ClassVar[str] = "the user asked not to be asked about this tool"

    def priority(self) -> int:
        """Return 310."""
        return 310

    def matches(self, question: Question) -> bool:
        """Return whether the tool is on the ignore list."""
        return question.call.tool in question.context.tool_ignore_list

    def residue(self, question: Question, *, is_selected: bool) -> Rest:  # noqa: ARG002 -- it is about all tools
        """Return the question for the list, which is all it asks."""
        return _REST


def _lists(call: ToolCall, context: AuthContext) -> bool:
    return call.tool in context.tool_ignore_list


_REST = Rest(_lists)
