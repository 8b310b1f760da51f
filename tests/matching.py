"""Whether a condition matches as far as one who asks it needs, for tests."""

from permitry.conditions.match import Match
from permitry.conditions.tools import ToolSelector
from permitry.conditions.written import Condition
from permitry.core.rule import Request

__all__ = ["matches"]


def matches(condition: Condition | ToolSelector, request: Request, needed: Match = Match.YES) -> bool:
    """Return whether a condition matches as a permission needs it, or with `Match.ALIKE` as a restriction does."""
    return condition.match(request, needed) >= needed
