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
    """A rule with one mistake: `what` it is, and the rule that has it; None where the rule is left out."""

    rule: ConfiguredRule
    what: str
    changed: ConfiguredRule | None

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
    yield Mutant(rule, "the rule is left out", None)
    if rule.effect is Verdict.BLOCK:
        yield Mutant(rule, "it only asks", attrs.evolve(rule, effect=Verdict.CONFIRM))
    for what, scope in _change_scope(rule.scope):
        yield Mutant(rule, what, attrs.evolve(rule, scope=scope))
    if rule.budget is not None:
        budget = attrs.evolve(rule.budget, most=2 * rule.budget.most)
        yield Mutant(rule, f"`budget` is {budget.most}", attrs.evolve(rule, budget=budget))


def _change_scope(scope: Scope) -> Iterator[tuple[str, Scope]]:
    for each in scope.selectors if len(scope.selectors) > 1 else ():
        left = tuple(other for other in scope.selectors if other is not each)
        yield f"without tools `{each.text}`", attrs.evolve(scope, selectors=left)
    for what, when in _change_conditions(scope.when, "when"):
        yield what, attrs.evolve(scope, when=when)
    for at, unless in enumerate(scope.unless):
        before, after = scope.unless[:at], scope.unless[at + 1 :]
        which = "" if len(scope.unless) == 1 else f" {at + 1}"
        yield f"without `unless`{which}", attrs.evolve(scope, unless=(*before, *after))
        for what, changed in _change_conditions(unless, "unless"):
            # An exception without conditions is one from everything: the rule is left out.
            if changed != Conditions():
                yield what, attrs.evolve(scope, unless=(*before, changed, *after))


def _change_conditions(conditions: Conditions, where: str) -> Iterator[tuple[str, Conditions]]:
    plain = conditions.plain
    for at, each in enumerate(plain):
        before, after = plain[:at], plain[at + 1 :]
        yield f"without {describe(each, where)}", attrs.evolve(conditions, plain=(*before, *after))
        for what, changed in _loosen(each, where):
            yield what, attrs.evolve(conditions, plain=(*before, changed, *after))
    for field, kind in KINDS:
        patterns = getattr(conditions, field)
        if patterns:
            yield f"without {where}.{kind}", attrs.evolve(conditions, **_leave_out(field))
        for pattern in patterns if len(patterns) > 1 else ():
            left: dict[str, Any] = {field: tuple(other for other in patterns if other is not pattern)}
            yield f"without {where}.{kind} `{pattern.text}`", attrs.evolve(conditions, **left)
    if conditions.accesses:
        yield f"without {where}.access", attrs.evolve(conditions, accesses=frozenset())
    if conditions.looks:
        yield f"without {where}.looks", attrs.evolve(conditions, looks=False)


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
