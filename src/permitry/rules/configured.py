"""A rule that was written in a rule file."""

from collections.abc import Iterator

import attrs

from permitry.actions.changes import changes_of
from permitry.conditions.budget import Budget
from permitry.conditions.match import Match, need_of
from permitry.conditions.scope import Scope, Scoped
from permitry.core.decision import Verdict
from permitry.core.facts import Fact
from permitry.core.origin import Origin
from permitry.core.rule import Request, Rule, Unsure
from permitry.core.shared import SideEffects

__all__ = ["ConfiguredRule"]


@attrs.frozen
class ConfiguredRule(Scoped, Rule):
    """A rule from a file: its scope, its effect, and its budget, if it has one.

    A restriction with a budget applies once that is spent; a permission, while it is not. `labels` must be
    recorded: its own one, and those of its conditions that a `FlowRule` of the same files sets. `keeps`: a
    permission permits only what can be undone, as all that the call changes is known and kept before it runs.
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
        """The labels and the budget that a `FlowRule` of the policy must record."""
        if self.budget is None:
            return SideEffects(self.labels)
        return SideEffects(self.labels, frozenset({self.budget.rule_id}))

    def priority(self) -> int:
        """Return the priority."""
        return self.priority_number

    @property
    def specificity(self) -> tuple[int, int]:
        """How narrow the rule is, by its conditions."""
        return self.scope.specificity

    def matches(self, request: Request) -> bool | Unsure:
        """Return whether the rule applies, or raise `UnevaluableError` for a condition."""
        if self.effect is Verdict.ALLOW:
            return self.scope.permits(request) and not self._is_withheld(request)
        answer = self.scope.restricts(request)
        if answer is False or self.budget is None:
            return answer
        return self.budget.is_spent(request) and answer

    @property
    def is_pure(self) -> bool:
        """Whether the result depends on the request alone, which includes history and time."""
        return self.scope.is_pure

    def needs(self) -> tuple[frozenset[Fact], ...]:
        """Return sets of facts. The rule cannot match unless one fact of each set is present."""
        return self.scope.needs(is_permission=self.effect is Verdict.ALLOW)

    def covers(self, request: Request) -> frozenset[int]:
        """Return the indices of the certain actions the rule permits, when it is about actions."""
        covered = self.scope.covers(request)
        return frozenset() if covered and self._is_withheld(request) else covered

    def lacks_roles(self, request: Request) -> bool:
        """Return whether it might permit something if its tool declared what the arguments are."""
        is_permission = self.effect is Verdict.ALLOW and self.scope.selects(request, Match.YES)
        return is_permission and self.scope.lacks_roles(request)

    def near_miss(self, request: Request) -> str | None:
        """Return what kept the rule from matching; None if it selects no tool of such a name."""
        needed = need_of(self.effect)
        if not self.scope.selects(request, needed):
            return self._near_name(request)
        reasons = ", ".join(self.scope.facts(request, needed))
        return reasons or self._why_withheld(request)

    def not_lifted(self, request: Request) -> str | None:
        """Return why `unless` does not lift the rule from a call that it restricts."""
        if self.effect is Verdict.ALLOW:
            return None
        return " and ".join(self.scope.not_lifted(request)) or None

    @property
    def asks_origins(self) -> bool:
        """Whether a condition asks where a value comes from."""
        return self.scope.asks_origins

    def origins(self, request: Request) -> Iterator[Origin]:
        """Yield where the values came from that its conditions ask that of."""
        if self.scope.selects(request, need_of(self.effect)):
            yield from self.scope.origins(request)

    def _near_name(self, request: Request) -> str | None:
        """Return the name of a tool of this rule that the called one may mean."""
        call, called = request.call, _letters(request.call.tool)
        for pattern in filter(None, (each.pattern for each in self.scope.selectors)):
            if _letters(pattern.text) == called or pattern.may_mean(call.readings):
                lacks_server = pattern.text.startswith("mcp:") and call.server is None
                hint = "; the call names no server" if lacks_server else ""
                return f"its tool is called `{pattern.text}`{hint}"
        return None

    def _is_withheld(self, request: Request) -> bool:
        """Return whether its budget is spent, or what a call that it permits changes cannot be undone."""
        is_spent = self.budget is not None and self.budget.is_spent(request)
        return is_spent or self._doubt(request) is not None

    def _doubt(self, request: Request) -> str | None:
        """Return why a call could not be undone, if the rule permits only what can be."""
        return changes_of(request.actions, request.tool).doubt if self.keeps else None

    def _why_withheld(self, request: Request) -> str | None:
        """Return why the rule does not match a call that is in its scope."""
        is_permission, scope = self.effect is Verdict.ALLOW, self.scope
        if not (scope.permits(request, is_alone=False) if is_permission else scope.restricts(request)):
            return None
        doubt = self._doubt(request)
        if doubt is not None:
            return f"`keep` permits only what can be undone: {doubt}"
        return None if self.budget is None else self.budget.fact(request, is_spent=is_permission)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()
