"""Which rules, and which parts of each, some calls try: for what each holds, and for what it does not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from permitry.conditions.match import need_of
from permitry.conditions.scope import Conditions
from permitry.config.drafts import RuleDraft
from permitry.config.ruleset import RuleSet
from permitry.core.decision import Verdict
from permitry.core.rule import Request
from permitry.errors import UnevaluableError
from permitry.golden.deciders import same
from permitry.rules.configured import ConfiguredRule
from permitry_ops.coverage.examples import Example, list_examples
from permitry_ops.coverage.parts import Part, ask, list_parts, truth_of
from permitry_ops.coverage.probes import Probe
from permitry_ops.diff.ways import Truth

__all__ = ["Coverage", "PartCoverage", "RuleCoverage", "measure"]

_CERTAIN = frozenset({Truth.TRUE})
_ASKED = frozenset({Truth.TRUE, Truth.UNKNOWN})


@attrs.frozen
class PartCoverage:
    """Whether calls were tried for which a part, or a rule as a whole, holds, and for which it does not.

    `failed` is None where a call for which it does not hold shows nothing.
    """

    name: str
    held: bool
    failed: bool | None

    @property
    def sides(self) -> tuple[bool, ...]:
        """Whether each side was tried that there is."""
        return (self.held,) if self.failed is None else (self.held, self.failed)


@attrs.frozen
class RuleCoverage:
    """What was tried of a rule: of it as a whole, and of its parts."""

    rule_id: str
    source: str
    whole: PartCoverage
    parts: tuple[PartCoverage, ...]

    @property
    def every(self) -> tuple[PartCoverage, ...]:
        """The rule as a whole, and its parts."""
        return (self.whole, *self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        whole = self.whole
        parts = [{"part": each.name, "held": each.held, "failed": each.failed} for each in self.parts]
        matched = {"matched": whole.held, "not_matched": whole.failed}
        return {"rule": self.rule_id, "source": self.source, **matched, "parts": parts}


@attrs.frozen
class Coverage:
    """What was tried of some rules."""

    rules: tuple[RuleCoverage, ...]

    @property
    def matches(self) -> int:
        """How many rules matched a call."""
        return sum(rule.whole.held for rule in self.rules)

    @property
    def sides(self) -> tuple[bool, ...]:
        """Whether each side of each rule and part was tried."""
        return tuple(side for rule in self.rules for part in rule.every for side in part.sides)

    @property
    def percent(self) -> float:
        """How many of a hundred sides were tried; 100 where there are none."""
        return 100 * sum(self.sides) / len(self.sides) if self.sides else 100.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        counts = {"matched": self.matches, "sides": len(self.sides), "tried": sum(self.sides)}
        return {**counts, "percent": round(self.percent, 1), "rules": [each.to_dict() for each in self.rules]}


def measure(
    rules: RuleSet, counted: Iterable[ConfiguredRule], probes: Sequence[Probe], drafts: Mapping[str, RuleDraft]
) -> Coverage:
    """Return what calls, and the examples in `drafts`, try of the rules that are `counted`.

    A golden case tries the rules that decide it, and an example its own rule: no more than it says something about.
    """
    found = []
    for rule in counted:
        draft = drafts.get(rule.id)
        examples = () if draft is None else tuple(list_examples(draft, rules))
        known_as = same(rule)
        found.append(_measure_rule(rule, [each for each in probes if known_as in each.decider.identities], examples))
    return Coverage(tuple(found))


def _measure_rule(rule: ConfiguredRule, probes: Sequence[Probe], examples: Sequence[Example]) -> RuleCoverage:
    requests = [each.request for each in probes if rule.scope.selects(each.request, need_of(rule.effect))]
    parts = [_measure_part(part, requests, examples) for part in list_parts(rule)]
    if rule.budget is not None:
        parts.append(_cover("budget", list(_spend(rule, requests))))
    # A rule without conditions matches each call of its tools, so that the other side is a call of another one.
    asked = requests if rule.scope.every != (Conditions(),) else [each.request for each in probes]
    whole = [*(_match(rule, each) for each in asked), *(_match_example(rule, each) for each in examples)]
    # A rule that asks, asks about what it only may match as about what it matches.
    holds = _ASKED if rule.effect is Verdict.CONFIRM else _CERTAIN
    is_held = not holds.isdisjoint(whole)
    covered = PartCoverage("", is_held, Truth.FALSE in whole)
    return RuleCoverage(rule.id, rule.source or "code", covered, tuple(parts))


def _match(rule: ConfiguredRule, request: Request) -> Truth:
    """Return whether a rule matches a call, or of a permission covers a part of it."""
    try:
        is_covered = rule.effect is Verdict.ALLOW and bool(rule.covers(request))
        answer = is_covered or rule.matches(request)
    except UnevaluableError:
        return Truth.UNKNOWN
    return truth_of(answer)


def _match_example(rule: ConfiguredRule, example: Example) -> Truth:
    return ask(example.narrow(rule.scope), example.request, is_certain=rule.effect is Verdict.ALLOW)


def _spend(rule: ConfiguredRule, requests: Iterable[Request]) -> Iterator[Truth]:
    for request in requests:
        try:
            is_spent = rule.budget is not None and rule.budget.is_spent(request)
        except UnevaluableError:
            continue
        yield Truth.TRUE if is_spent else Truth.FALSE


def _measure_part(part: Part, requests: Sequence[Request], examples: Sequence[Example]) -> PartCoverage:
    truths = [ask(part.scope, request, is_certain=part.is_certain) for request in requests]
    for example in examples:
        narrowed = example.narrow(part.scope)
        # What is taken to hold is not tried.
        if narrowed == part.scope:
            truths.append(ask(narrowed, example.request, is_certain=part.is_certain))
    return _cover(part.name, truths, can_fail=part.can_fail)


def _cover(name: str, truths: Sequence[Truth], *, can_fail: bool = True) -> PartCoverage:
    return PartCoverage(name, Truth.TRUE in truths, Truth.FALSE in truths if can_fail else None)
