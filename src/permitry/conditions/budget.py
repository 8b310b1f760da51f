"""The condition behind `budget`: how much may happen in how much time."""

import math
from typing import Literal

import attrs

from permitry.core.action import Actions
from permitry.core.context import AuthContext
from permitry.core.history import Whose
from permitry.core.rule import Request
from permitry.core.shared import Limit, SharedCounts
from permitry.errors import UnevaluableError

__all__ = ["Budget"]


@attrs.frozen
class Budget:
    """At most `most` calls, or distinct targets, in a sliding window of `seconds` (None: the session).

    Counted are the calls that ran and to which the rule `rule_id` applied; `by` says whose: those of
    the session, of the calling agent or of the called tool, or of all sessions of a principal or an
    organisation.

    Raises: `ValueError` for a budget that sessions share and that has no window, or counts targets.
    """

    rule_id: str
    most: int
    of: Literal["calls", "targets"] = "calls"
    seconds: float | None = None
    by: Literal["session", "agent", "tool", "principal", "organisation"] = "session"

    def __attrs_post_init__(self) -> None:
        if self.by in ("principal", "organisation") and (self.of == "targets" or self.seconds is None):
            raise ValueError(f"a budget by {self.by} counts calls in a window of time")

    @property
    def limit(self) -> Limit | None:
        """What is counted in a store; None for a budget that the session counts."""
        if self.seconds is None or self.by not in ("principal", "organisation"):
            return None
        return Limit(self.rule_id, self.by, self.most, self.seconds)

    def is_spent(self, request: Request) -> bool:
        """Return whether one more call, or the new targets of this one, would exceed the budget.

        Raises: `UnevaluableError` for a window without a clock, for targets that are not certain, and
        when the session has forgotten too much to tell, or no store counts.
        """
        limit = self.limit
        if limit is not None:
            return _counts_of(request).uses(limit) >= self.most
        history, whose, since = request.context.history, self._whose(request), self._since(request.context)
        if self.of == "calls":
            return history.calls(whose, since) >= self.most
        if not _are_countable(request.actions):
            raise UnevaluableError("what the call touches is not certain, so its targets cannot be counted")
        return history.targets(whose, request.targets, since) > self.most

    def _since(self, context: AuthContext) -> float:
        if self.seconds is None:
            return -math.inf
        if context.now is None or not math.isfinite(context.now):
            raise UnevaluableError("the context has no clock, so the budget cannot be counted")
        return context.now - self.seconds

    def fact(self, request: Request, *, is_spent: bool) -> str | None:
        """Return that it is spent, or is not, and how much where sessions share it; None if untrue."""
        if self.is_spent(request) is not is_spent:
            return None
        state, limit = "the budget is spent" if is_spent else "the budget is not spent", self.limit
        if limit is None:
            return state
        shared = _counts_of(request)
        return f"{state}: {shared.uses(limit)} of {self.most} in {_duration(limit.seconds)} by {shared.whose(limit)}"

    def _whose(self, request: Request) -> Whose:
        if self.by == "agent":
            return self.rule_id, self.by, request.context.agent
        if self.by == "tool":
            return self.rule_id, self.by, request.call.tool
        return self.rule_id, "session", ""


def _counts_of(request: Request) -> SharedCounts:
    if request.context.shared is None:
        raise UnevaluableError("no store counts this budget; give the session one: `shared=counters_at(...)`")
    return request.context.shared


def _duration(seconds: float) -> str:
    """Return a time as in a rule file."""
    units = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
    unit, length = next((each for each in units if seconds % each[1] == 0), units[-1])
    return f"{seconds / length:g}{unit}"


def _are_countable(actions: Actions) -> bool:
    """Return whether every target is known by name, as a pattern or a whole tree is not."""
    runs = all(run.operands.is_listed for run in actions.runs())
    places = all(touch.place.is_certain and not touch.place.is_tree for touch in actions.touches())
    return actions.unknown is None and runs and places and all(each.host for each in actions.connects())
