"""A rule that was written in a rule file."""

from collections.abc import Iterator
from types import NoneType

import attrs

from permitry.core.changes import changes_of
from permitry.core.decision import Verdict
from permitry.core.facts import Fact
from permitry.core.origin import Origin
from permitry.core.rule import Question, Rule, Unsure
from permitry.core.side_effects import SideEffects
from permitry.rules.conditions.budget import Budget
from permitry.rules.conditions.scope import Scope, Scoped

__all__ = ["ConfiguredRule"]

_NOTHING = SideEffects()
# A budget of another class may depend on more than the question.
_BUDGETS = (Budget, NoneType)


@attrs.frozen
class ConfiguredRule(Scoped, Rule):
    """A rule from a file: its scope, its effect, and its budget, if it has one.

    A restriction with a budget applies once that is spent; a permission, while it is not. `labels`
    are those that must be recorded for it: the one it puts on the session, and those that its
    conditions ask for and a `FlowRule` of the same rule files puts there. `keeps` says of a
    permission that it permits only what can be undone: all that the call changes is known, and is
    kept before it runs.
    """

    id: str
    effect: Verdict
    priority_number: int
    scope: Scope = attrs.field(factory=Scope)
    budget: Budget | None = None
    reason: str = ""
    message: str | None = None
    source: str | None = attrs.field(default=None, repr=False)
    labels: frozenset[str] = attrs.field(default=frozenset(), kw_only=True, repr=False, eq=False)
    keeps: bool = attrs.field(default=False, kw_only=True)

    @property
    def relies_on(self) -> SideEffects:
        """The labels and the budget that some `FlowRule` of the policy must record, or the rule would not work."""
        if self.budget is None and not self.labels:
            return _NOTHING
        return SideEffects(self.labels, frozenset() if self.budget is None else frozenset({self.budget.rule_id}))

    def priority(self) -> int:
        """Return the priority that the file gives, or the default of the effect."""
        return self.priority_number

    @property
    def specificity(self) -> tuple[int, int]:
        """How narrow the rule is; of several restrictions that match with one priority, the narrowest is named."""
        return self.scope.specificity

    def matches(self, question: Question) -> bool | Unsure:
        """Return whether the rule applies to the call.

        Raises: `UnevaluableError` when a condition cannot be evaluated for the call.
        """
        if self.effect is Verdict.ALLOW:
            return self.scope.permits(question) and not self._is_spent(question) and self._doubt(question) is None
        answer = self.scope.restricts(question)
        if answer is False or self.budget is None:
            return answer
        return answer if self._is_spent(question) else False

    @property
    def is_pure(self) -> bool:
        """Whether the result depends on the question alone, which includes history and time."""
        return self.scope.is_pure and type(self.budget) in _BUDGETS

    def needs(self) -> tuple[frozenset[Fact], ...]:
        """Return sets of facts. The rule cannot match unless one fact of each set is present."""
        return self.scope.needs(is_permission=self.effect is Verdict.ALLOW)

    def covers(self, question: Question) -> frozenset[int]:
        """Return the indices of the certain actions the rule permits, when it is about actions."""
        covered = self.scope.covers(question)
        is_taken_back = covered and (self._is_spent(question) or self._doubt(question) is not None)
        return frozenset() if is_taken_back else covered

    def lacks_roles(self, question: Question) -> bool:
        """Return whether it might permit something of the call if its tool declared what the arguments are."""
        is_permission = self.effect is Verdict.ALLOW and self.scope.selects(question, over_approximate=False)
        return is_permission and self.scope.lacks_roles(question)

    def near_miss(self, question: Question) -> str | None:
        """Return what kept the rule from matching; None if it does not select the tool, nor one of nearly that name."""
        over_approximate = self.effect is not Verdict.ALLOW
        if not self.scope.selects(question, over_approximate=over_approximate):
            return self._near_name(question)
        facts = ", ".join(self.scope.facts(question, over_approximate=over_approximate))
        return facts or self._kept_fact(question) or self._budget_fact(question)

    def not_lifted(self, question: Question) -> str | None:
        """Return why `unless` does not lift the rule from a call that it restricts; None without `unless`."""
        is_restriction = self.effect is not Verdict.ALLOW
        return (" and ".join(self.scope.not_lifted(question)) or None) if is_restriction else None

    @property
    def asks_origins(self) -> bool:
        """Whether a condition asks where a value comes from."""
        return self.scope.asks_origins

    def origins(self, question: Question) -> Iterator[Origin]:
        """Yield where the values came from that its conditions ask that of; nothing for a tool it does not select."""
        if self.scope.selects(question, over_approximate=self.effect is not Verdict.ALLOW):
            yield from self.scope.origins(question)

    def _near_name(self, question: Question) -> str | None:
        """Return the name of a tool of this rule that the called one may mean, or has the letters of."""
        call, called = question.call, _letters(question.call.tool)
        for pattern in filter(None, (each.pattern for each in self.scope.selectors)):
            if _letters(pattern.text) == called or pattern.may_mean(call.readings):
                lacks_server = pattern.text.startswith("mcp:") and call.server is None
                hint = "; the call names no server" if lacks_server else ""
                return f"its tool is called `{pattern.text}`{hint}"
        return None

    def _is_spent(self, question: Question) -> bool:
        return self.budget is not None and self.budget.is_spent(question)

    def _doubt(self, question: Question) -> str | None:
        """Return why a call could not be undone, if the rule permits only what can be."""
        return changes_of(question.actions, question.tool).doubt if self.keeps else None

    def _kept_fact(self, question: Question) -> str | None:
        doubt = self._doubt(question)
        return None if doubt is None else f"`keep` permits only what can be undone: {doubt}"

    def _budget_fact(self, question: Question) -> str | None:
        if self.budget is None:
            return None
        state = "spent" if self.effect is Verdict.ALLOW else "not spent"
        return f"the budget is {state}{self.budget.fact(question)}"


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()
