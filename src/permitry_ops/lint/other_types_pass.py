"""The finding `other-types-pass`."""

import collections
import itertools
from collections.abc import Iterator, Mapping

from permitry.conditions.args import ArgumentCondition, ArgumentTest
from permitry.conditions.scope import Conditions
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._subject import Finding, Subject, report_finding

__all__ = ["findings"]

_KIND = "other-types-pass"


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield exceptions and restrictions that do not apply to other types because of `type`.

    Without it the test of such a value is undefined, and the restriction applies.
    """
    for rule in subject.permissions:
        for condition, table in itertools.chain.from_iterable(map(_find_types, rule.scope.unless)):
            if not any(_judges(each, condition.path) for each in rule.scope.when.plain):
                yield _describe(rule, "unless", condition, table)
    kinds = _kinds_by_argument(subject)
    for rule in subject.restrictions:
        for condition, table in _find_types(rule.scope.when):
            is_alone = all(len(kinds[text, condition.path]) == 1 for text in _texts(rule))
            if is_alone and _asks_more(table):
                yield _describe(rule, "when", condition, table)


def _describe(rule: ConfiguredRule, part: str, condition: ArgumentCondition, table: ArgumentTest) -> Finding:
    path = ".".join(("args", *condition.path))
    reason = (
        f"`{part}.{path}` is about values of the type `{_kind(table)}` alone, so those of other types are let through"
    )
    hint = "take `type` out: where the other operators have no answer, nothing is let through"
    if not _asks_more(table):
        hint = f"say what may pass, as in `when.{path} = {{ type = ... }}`"
    return report_finding(rule, _KIND, reason, hint)


def _find_types(conditions: Conditions) -> Iterator[tuple[ArgumentCondition, ArgumentTest]]:
    """Yield the conditions on arguments, each with every table in it that has the operator `type`."""
    for condition in conditions.plain:
        if isinstance(condition, ArgumentCondition):
            yield from ((condition, table) for table in _tables(condition.test) if _kind(table) is not None)


def _tables(test: ArgumentTest) -> Iterator[ArgumentTest]:
    yield test
    for check in test.checks:
        if isinstance(check.operand, ArgumentTest):
            yield from _tables(check.operand)


def _kind(table: ArgumentTest) -> str | None:
    return next((check.operand for check in table.checks if check.name == "type"), None)


def _asks_more(table: ArgumentTest) -> bool:
    return any(check.name not in ("type", "exists") for check in table.checks)


def _judges(condition: object, path: tuple[str, ...]) -> bool:
    """Return whether a condition of `when` is already false or undefined for a value of another type."""
    if not isinstance(condition, ArgumentCondition) or condition.path != path:
        return False
    return any(check.name != "exists" for check in condition.test.checks)


def _kinds_by_argument(subject: Subject) -> Mapping[tuple[str, tuple[str, ...]], set[str]]:
    """Return, for each argument of each tool, the types that restrictions ask for."""
    kinds: dict[tuple[str, tuple[str, ...]], set[str]] = collections.defaultdict(set)
    for rule in subject.restrictions:
        for part, conditions in (("", rule.scope.when), *(("not ", each) for each in rule.scope.unless)):
            for condition, table in _find_types(conditions):
                for text in _texts(rule):
                    kinds[text, condition.path].add(f"{part}{_kind(table)}")
    return kinds


def _texts(rule: ConfiguredRule) -> list[str]:
    return [selector.text for selector in rule.scope.selectors] or ["*"]
