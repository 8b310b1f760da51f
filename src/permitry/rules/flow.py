"""What calls leave behind: labels on the session, and calls on a budget."""

import attrs

from permitry.core.rule import Question, Unsure
from permitry.rules.conditions.scope import Scope

__all__ = ["FlowRule"]


@attrs.frozen
class FlowRule:
    """Marks the session when a call that is in scope has started to run.

    `label` is the label it gets, if any; `counts` says that the call goes on the budget of the rule `id`. `source`
    is `file:line`.
    """

    id: str
    scope: Scope
    label: str | None = None
    counts: bool = False
    source: str | None = attrs.field(default=None, repr=False, eq=False, kw_only=True)

    def matches(self, question: Question) -> bool | Unsure:
        """Return whether the call leaves a mark; over-approximated, as for a restriction.

        Raises: `UnevaluableError` when the call gives a condition no answer.
        """
        return self.scope.restricts(question)
