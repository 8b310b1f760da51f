"""Mutants of a rule: what it would be with one mistake, which a case should notice."""

from collections.abc import Iterator
from typing import Any

import attrs

from permitry.conditions.args import ArgumentCondition, ArgumentTest, Source, SourceCondition
from permitry.conditions.repeat import RepeatCondition
from permitry.conditions.scope import Condition, Conditions, Scope
from permitry.config.ruleset import RuleSet
from permitry.core.decision import Verdict
from permitry.rules.configured import ConfiguredRule
from permitry_ops.coverage.parts import KINDS, describe

__all__ = ["Mutant", "list_mutants"]

_BOUNDS = ("lt", "le", "gt", "ge")


@attrs.frozen
class Mutant:
    """A rule with one mistake: `what` it is, and the rule that has it; None where the rule is left out.

    `likely` is the scope of the calls that are likely to be decided otherwise.
    """

    rule: ConfiguredRule
    what: str
    changed: ConfiguredRule | None
    likely: Scope

    @property
    def scope(self) -> Scope | None:
        """The scope that its rule has by mistake; None if it has the right one, or there is none."""
        return None if self.changed is None or self.changed.scope == self.rule.scope else self.changed.scope

    def within(self, rules: RuleSet) -> RuleSet:
        """Return a rule set with the mistake in place of the rule."""
        changed = (self.changed if each.id == self.rule.id else each for each in rules.rules)
        return attrs.evolve(rules, rules=tuple(filter(None, changed)))


def list_mutants(rule: ConfiguredRule) -> Iterator[Mutant]:
    """Yield the mutants of a rule, the gravest first."""
    scope = rule.scope
    yield Mutant(rule, "the rule is left out", None, scope)
    if rule.effect is Verdict.BLOCK:
        yield Mutant(rule, "it only asks", attrs.evolve(rule, effect=Verdict.CONFIRM), scope)
    for what, changed, likely in _change_scope(scope):
        yield Mutant(rule, what, attrs.evolve(rule, scope=changed), likely)
    if rule.budget is not None:
        budget = attrs.evolve(rule.budget, most=2 * rule.budget.most)
        yield Mutant(rule, f"`budget` is {budget.most}", attrs.evolve(rule, budget=budget), scope)


def _change_scope(scope: Scope) -> Iterator[tuple[str, Scope, Scope]]:
    """Yield what is changed, the scope with that, and the one of the calls that it is about."""
    for each in scope.selectors if len(scope.selectors) > 1 else ():
        left = tuple(other for other in scope.selectors if other is not each)
        what = f"without tools `{each.text}`"
        yield what, attrs.evolve(scope, selectors=left), attrs.evolve(scope, selectors=(each,))
    for what, when, likely in _change_conditions(scope.when, "when"):
        yield what, attrs.evolve(scope, when=when), attrs.evolve(scope, when=likely)
    for at, unless in enumerate(scope.unless):
        before, after = scope.unless[:at], scope.unless[at + 1 :]
        which = "" if len(scope.unless) == 1 else f" {at + 1}"
        without = attrs.evolve(scope, unless=(*before, *after))
        yield f"without `unless`{which}", without, attrs.evolve(scope, unless=(unless,))
        for what, changed, likely in _change_conditions(unless, "unless"):
            # An exception without conditions is one from everything: the rule is left out.
            if changed != Conditions():
                only = attrs.evolve(scope, unless=(likely,))
                yield what, attrs.evolve(scope, unless=(*before, changed, *after)), only


def _change_conditions(conditions: Conditions, where: str) -> Iterator[tuple[str, Conditions, Conditions]]:
    """Yield what is changed, the conditions with that, and those of the calls that it is about."""
    plain = conditions.plain
    for at, each in enumerate(plain):
        before, after = plain[:at], plain[at + 1 :]
        yield f"without {describe(each, where)}", attrs.evolve(conditions, plain=(*before, *after)), conditions
        for what, changed in _loosen(each, where):
            yield what, attrs.evolve(conditions, plain=(*before, changed, *after)), conditions
    for field, kind in KINDS:
        yield from _drop_patterns(conditions, field, f"{where}.{kind}")
    if conditions.accesses:
        yield f"without {where}.access", attrs.evolve(conditions, accesses=frozenset()), conditions
    if conditions.looks:
        yield f"without {where}.looks", attrs.evolve(conditions, looks=False), conditions


def _drop_patterns(conditions: Conditions, field: str, name: str) -> Iterator[tuple[str, Conditions, Conditions]]:
    """Yield conditions without the patterns of one kind, and without each of several."""
    patterns = getattr(conditions, field)
    if patterns:
        yield f"without {name}", attrs.evolve(conditions, **_leave_out(field)), conditions
    for pattern in patterns if len(patterns) > 1 else ():
        left: dict[str, Any] = {field: tuple(other for other in patterns if other is not pattern)}
        only: dict[str, Any] = {field: (pattern,)}
        yield f"without {name} `{pattern.text}`", attrs.evolve(conditions, **left), attrs.evolve(conditions, **only)


def _leave_out(field: str) -> dict[str, Any]:
    """Return the fields of conditions without the patterns of one kind, and what limits those."""
    limits: dict[str, dict[str, Any]] = {
        "commands": {"looks": False, "runs_any": False},
        "paths": {"accesses": frozenset()},
        "hosts": {},
    }
    return {field: (), **limits[field]}


def _loosen(condition: Condition, where: str) -> Iterator[tuple[str, Condition]]:
    """Yield a condition with a bound that is doubled, or with a source that is wider."""
    match condition:
        case ArgumentCondition(test=test):
            for doubled in _double(test):
                changed: Condition = attrs.evolve(condition, test=doubled)
                yield f"{describe(changed, where)} in place of {condition.expected}", changed
        case RepeatCondition(times=times):
            changed = RepeatCondition(2 * times)
            yield f"{describe(changed, where)} in place of {condition.expected}", changed
        case SourceCondition(sources=sources):
            for at, source in enumerate(sources):
                for wider in _widen(source):
                    changed = attrs.evolve(condition, sources=(*sources[:at], wider, *sources[at + 1 :]))
                    yield f"{describe(changed, where)} in place of `{source.text}`", changed


def _double(test: ArgumentTest) -> Iterator[ArgumentTest]:
    """Yield a test with one bound doubled, of a length or of elements as well."""
    for at, check in enumerate(test.checks):
        operand = check.operand
        if isinstance(operand, ArgumentTest):
            others: Iterator[Any] = _double(operand)
        elif check.name in _BOUNDS and isinstance(operand, int | float) and operand:
            others = iter((2 * operand,))
        else:
            others = iter(())
        for other in others:
            changed = attrs.evolve(check, operand=other)
            yield attrs.evolve(test, checks=(*test.checks[:at], changed, *test.checks[at + 1 :]))


def _widen(source: Source) -> Iterator[Source]:
    """Yield what a source is where less is asked of it: without the other value, and anywhere in the result."""
    if source.other is not None:
        text = source.text.partition("@")[0]
        yield attrs.evolve(source, text=text, other=None, up=0)
    if source.kind == "named":
        yield attrs.evolve(source, text=source.text.removeprefix("named:"), kind="result")
    if source.kind == "result" and source.path is not None:
        yield attrs.evolve(source, text=source.tool, path=None, other=None, up=0)
