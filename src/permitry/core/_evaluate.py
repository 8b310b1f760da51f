"""How the rules of one phase are asked; `permitry.core.policy` has the phases in their order."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import attrs

from permitry.core.action import Actions
from permitry.core.call import ToolCall
from permitry.core.compiled_rule import CompiledRule
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, DecisionCache, Phase, RuleFailure, Verdict
from permitry.core.rule import Request, Unsure
from permitry.core.spec import ToolSpec

_Answered: TypeAlias = tuple[CompiledRule, bool | Unsure | None]
"""A rule and what it answers, None where it fails."""
_TOGETHER = 2
"""The likeness of what several programs do together."""

# Looked up once: that takes longer than to compare them.
_RESTRICTION, _PERMISSION, _ALLOW, _BLOCK = Phase.RESTRICTION, Phase.PERMISSION, Verdict.ALLOW, Verdict.BLOCK


@attrs.frozen
class Phases:
    """The rules of a policy by phase, in order; `cache.default` decides when none matches."""

    overrides: Sequence[CompiledRule]
    restrictions: Sequence[CompiledRule]
    permissions: Sequence[CompiledRule]
    cache: DecisionCache

    @property
    def every(self) -> tuple[CompiledRule, ...]:
        """All of them, in order."""
        return (*self.overrides, *self.restrictions, *self.permissions)

    @classmethod
    def of(cls, rules: Iterable[CompiledRule], cache: DecisionCache) -> "Phases":
        """Return rules, which come in their order, by phase."""
        overrides: list[CompiledRule] = []
        restrictions: list[CompiledRule] = []
        permissions: list[CompiledRule] = []
        for rule in rules:
            if rule.phase is _PERMISSION:
                permissions.append(rule)
            elif rule.phase is _RESTRICTION:
                restrictions.append(rule)
            else:
                overrides.append(rule)
        return cls(overrides, restrictions, permissions, cache)


Evaluate: TypeAlias = Callable[[Request, Phases], Decision]
"""What comes to a decision: `evaluate` in `permitry.core.policy`, the two phases."""


def ask_overrides(rules: Sequence[CompiledRule], request: Request, failures: list[RuleFailure]) -> list[Decision]:
    """Return the decision of the first rule that matches."""
    for rule in rules:
        answer = rule.ask(request, failures)
        if answer is not False and (decision := rule.decision_for(answer)) is not None:
            return [decision]
    return []


def ask_restrictions(phases: Phases, request: Request, failures: list[RuleFailure]) -> list[Decision]:
    """Return the strictest decision of all that match; what nothing permits is the default where that blocks."""
    found = _find_strictest(phases.restrictions, request, failures)
    if not found or phases.cache.unmatched is not _BLOCK or found[0].verdict is _BLOCK:
        return found
    # INVARIANT: law 4. What nothing permits is blocked here, and a restriction that asks about it does not change that.
    return found if ask_permissions(phases, request, failures) else [phases.cache.default]


def list_restrictions(phases: Phases, request: Request) -> list[Decision]:
    """Return what each restriction decides that applies, the strictest first; where none does, the most likely one."""
    answered = [(rule, rule.ask(request, [])) for rule in phases.restrictions]
    matched = sorted((each for each in answered if each[1] is not False), key=_weight, reverse=True)
    found = list(filter(_is_likely, matched)) or matched[:1]
    return [decision for rule, answer in found if (decision := rule.decision_for(answer)) is not None]


def _find_strictest(rules: Sequence[CompiledRule], request: Request, failures: list[RuleFailure]) -> list[Decision]:
    matched: list[_Answered] = []
    for rule in rules:
        # All are asked, also after a match: a failure further on belongs in the record.
        answer = rule.ask(request, failures)
        if answer is not False:
            matched.append((rule, answer))
    if not matched:
        return []
    if len(matched) > 1:
        decision = _decide_among(matched, request)
    else:
        rule, answer = matched[0]
        decision = rule.decision_for(answer)
    return [] if decision is None else [decision]


def _decide_among(matched: Sequence[_Answered], request: Request) -> Decision | None:
    """Return the strictest decision of several rules; None where the strictest of them makes none."""
    # As max keeps the first of equals, of those that look like nothing in the call the most general one is named.
    best = max(matched, key=_weight)
    decision = best[0].decision_for(best[1])
    return None if decision is None else _with_other_reason(decision, best, matched, request)


def _with_other_reason(decision: Decision, best: _Answered, matched: Sequence[_Answered], request: Request) -> Decision:
    """Return a decision with why another rule asks as well, about what the best one is not about."""
    if best[1] is not True or best[0].effect is _BLOCK:
        return decision
    others = sorted(filter(_is_likely, matched), key=_weight, reverse=True)
    rest = _find_rest(best[0], request) if len(others) > 1 else ()
    about = (rule.decision_for(answer) for rule, answer in others if _is_about(rule, answer, rest))
    other = next(about, None)
    return decision if other is None else attrs.evolve(decision, reason=f"{decision.reason}; and {other.reason}")


def _find_rest(rule: CompiledRule, request: Request) -> Sequence[Request]:
    """Return requests about each action alone that a rule is not certainly about."""
    actions = request.actions
    alone = (with_actions(request, Actions((each,), roots=actions.roots)) for each in actions.certain)
    return [part for part in alone if rule.ask(part, []) is not True]


def _is_about(rule: CompiledRule, answer: object, parts: Sequence[Request]) -> bool:
    """Return whether a rule is about some parts of a call: about none alone, if several do it together."""
    if answer is True:
        return any(rule.ask(part, []) is True for part in parts)
    return bool(parts)


def _is_likely(pair: _Answered) -> bool:
    """Return whether a rule applies, or is about what several programs of the call do together."""
    answer = pair[1]
    return answer is True or (isinstance(answer, Unsure) and (answer.likeness == _TOGETHER or answer.by != ""))


def _weight(pair: _Answered) -> tuple[int, bool, int, int, int, int]:
    """Return how strict a restriction is, whether it is sure, if not its likeness to the call, and how narrow it is.

    An unsure one only confirms, whatever its effect. One that failed counts as a sure match. Of equals a lower priority
    number goes first, and then the narrower rule; not so for those without likeness.
    """
    rule, answer = pair
    if isinstance(answer, Unsure):
        narrow = rule.specificity if answer.likeness else (0, 0)
        return Verdict.CONFIRM.strictness, False, answer.likeness, -rule.priority, *narrow
    return rule.effect.strictness, True, 0, -rule.priority, *rule.specificity


def ask_permissions(phases: Phases, request: Request, failures: list[RuleFailure]) -> list[Decision]:
    """Return the decision of the first rule that matches, or of the last of those that permit it together.

    Where the default blocks, a question that may not apply counts only if another rule permits or asks for certain.
    """
    doubtful: list[Decision] = []
    covered: frozenset[int] = frozenset()
    keeps = False
    for rule in phases.permissions:
        before = len(failures)
        # A rule that confirms is about the actions that no permission before it has covered.
        asked = _without(request, covered) if covered and rule.effect is not _ALLOW else request
        answer = rule.ask(asked, failures)
        if answer is not False and (decision := rule.decision_for(answer)) is not None:
            # INVARIANT: law 2. Without this rule the call may be blocked: a doubt must not make a question of that.
            if answer is True or phases.cache.unmatched is not _BLOCK:
                return doubtful or [decision]
            doubtful = doubtful or [decision]
        if rule.can_cover and len(failures) == before and _is_divisible(request):
            own = rule.cover(request, failures)
            keeps = keeps or (rule.keeps and not own <= covered)
            covered |= own
            # INVARIANT: law 3. A call is permitted by its parts only when not one of them is left.
            if covered.issuperset(range(len(request.actions.certain))):
                return doubtful or [attrs.evolve(rule.decision, keeps=keeps) if keeps else rule.decision]
    return []


def _is_divisible(request: Request) -> bool:
    """Return whether several permissions could share the call: it has several actions, and all are known."""
    if request.tool is None or not request.tool.roles:
        return False
    return len(request.actions.certain) > 1 and request.actions.unknown is None


def _without(request: Request, covered: frozenset[int]) -> Request:
    actions = request.actions
    left = tuple(action for number, action in enumerate(actions.certain) if number not in covered)
    return with_actions(request, attrs.evolve(actions, certain=left))


def with_actions(request: Request, actions: Actions) -> Request:
    """Return the same request about a call that does only these of its actions."""
    return attrs.evolve(request, reader=_Reading(actions), others=())


@attrs.frozen
class _Reading:
    """A reader that has read already."""

    actions: Actions

    def __call__(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:  # noqa: ARG002 -- the protocol's
        return self.actions
