"""The side effects of calls: labels on the session, and calls counted for a budget."""

import attrs

from permitry.conditions.scope import Scope, Scoped
from permitry.core.rule import Request, Unsure
from permitry.core.shared import Limit

__all__ = ["FlowRule"]


@attrs.frozen
class FlowRule(Scoped):
    """Labels the session, or counts the call for a budget, when a call that is in scope has started to run.

    `label` is the label that the session gets, if any. `counts`: the call counts for the budget of
    the rule `id`; `limit` is that budget where it is a shared one. `source` is `file:line`.
    """

    id: str
    scope: Scope
    label: str | None = None
    counts: bool = False
    limit: Limit | None = attrs.field(default=None, repr=False, kw_only=True)
    source: str | None = attrs.field(default=None, repr=False, eq=False, kw_only=True)

    def matches(self, request: Request) -> bool | Unsure:
        """Return whether the call is in scope, as for a restriction, or raise `UnevaluableError`."""
        return self.scope.restricts(request)
