"""Whether conditions and patterns match as far as one who asks them needs, for tests."""

from collections.abc import Callable
from typing import ClassVar

import attrs

from permitry.conditions.match import Match
from permitry.conditions.tools import ToolSelector
from permitry.conditions.written import Condition
from permitry.core.rule import Request
from permitry.errors import UnevaluableError

__all__ = ["Given", "is_graded", "matches"]


def matches(condition: Condition | ToolSelector, request: Request, needed: Match = Match.YES) -> bool:
    """Return whether a condition matches as a permission needs it, or with `Match.ALIKE` as a restriction does."""
    return condition.match(request, needed) >= needed


def is_graded(match: Callable[[Match, Match], Match]) -> bool:
    """Return whether a match is the same for each reader, by what is the least and what is enough, as far as it sees.

    So no permission covers what a restriction with the same pattern would not certainly meet.
    """
    full = match(Match.OPEN, Match.YES)
    exact, sure, doubt = match(Match.YES, Match.YES), match(Match.OPEN, Match.ALIKE), match(Match.OPEN, Match.MAYBE)
    seen = exact is Match.YES, sure >= Match.ALIKE, doubt is not Match.NO
    return seen == (full is Match.YES, full >= Match.ALIKE, full is not Match.NO)


@attrs.frozen
class Given(Condition):
    """A condition that answers what it is given; None if it cannot be evaluated."""

    answer: bool | None
    is_pure: ClassVar[bool] = True

    def match(self, _: Request, needed: Match = Match.YES, /) -> Match:
        """Return the match of the answer, or raise."""
        if self.answer is None:
            raise UnevaluableError(f"no answer, needed is {needed.name}")
        return Match.of(self.answer)

    def fact(self, _: Request, /) -> str:
        """Return the answer as text."""
        return f"answer = {self.answer}"
