"""The condition behind `budget`: how much may happen in how much time."""

import math
from typing import Literal, assert_never

import attrs

from permitry.core.action import Actions
from permitry.core.context import AuthContext
from permitry.core.history import Whose
from permitry.core.rule import Question
from permitry.errors import UnevaluableError

__all__ = ["Budget"]


@attrs.frozen
class Budget:
    """At most `most` calls, or distinct targets, in a sliding window of `seconds` (None: the whole session).

    Counted are the calls that ran and to which the rule `rule_id` applied; `by` is whose calls
    these are: those of the whole session, of the calling agent, or of the tool that is called.
    """

    rule_id: str
    most: int
    of: Literal["calls", "targets"] = "calls"
    seconds: float | None = None
    by: Literal["session", "agent", "tool"] = "session"

    def is_spent(self, question: Question) -> bool:
        """Return whether one more call, or the new targets of this one, would exceed the budget.

        Raises: `UnevaluableError` for a window in time when the context has no clock; for targets that are not certain;
        and when the session has forgotten too much to tell.
        """
        history, whose, since = question.context.history, self._whose(question), self._since(question.context)
        if self.of == "calls":
            return history.calls(whose, since) >= self.most
        if not _are_countable(question.actions):
            raise UnevaluableError("what the call touches is not certain, so its targets cannot be counted")
        return history.targets(whose, question.targets, self.most, since) > self.most

    def _since(self, context: AuthContext) -> float | None:
        if self.seconds is None:
            return None
        if context.now is None or not math.isfinite(context.now):
            raise UnevaluableError("the context has no clock, so the budget cannot be counted")
        return context.now - self.seconds

    def _whose(self, question: Question) -> Whose:
        match self.by:
            case "session":
                return self.rule_id, self.by, ""
            case "agent":
                return self.rule_id, self.by, question.context.agent
            case "tool":
                return self.rule_id, self.by, question.call.tool
            case _:
                assert_never(self.by)


def _are_countable(actions: Actions) -> bool:
    """Return whether every target is known by name; not so for patterns, whole trees and unlisted operands."""
    runs = all(run.operands.is_listed for run in actions.runs())
    places = all(touch.place.is_certain and not touch.place.is_tree for touch in actions.touches())
    return actions.unknown is None and runs and places and all(each.host for each in actions.connects())
