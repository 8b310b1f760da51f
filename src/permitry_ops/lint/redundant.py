"""The finding `redundant`."""

from collections.abc import Iterator

from permitry.conditions.mode import ModeCondition
from permitry.conditions.tools import ToolSelector
from permitry.core.decision import Verdict
from permitry.core.pattern import Pattern
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._facts import needs_within
from permitry_ops.lint._index import Index
from permitry_ops.lint._scopes import contains, selects_all
from permitry_ops.lint._subject import Finding, Subject, report_finding
from permitry_ops.lint.shadowed import shadow_of

__all__ = ["findings"]

_KIND = "redundant"
_READS = (ToolSelector("@reads"),)


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the rules without which every call would be decided in the same way."""
    for group in (subject.permissions, subject.restrictions):
        index = Index((rule for rule in group if rule.budget is None), needs_within)
        for rule in group:
            if rule.id not in subject.marking and shadow_of(rule, subject) is None:
                yield from _repeats_built_in(rule, subject)
                yield from _repeats_other(rule, index, subject)


def _repeats_built_in(rule: ConfiguredRule, subject: Subject) -> Iterator[Finding]:
    if rule.effect is not Verdict.ALLOW or subject.questions:
        return
    if (
        rule.scope.selectors
        # A tool that is known by its name alone may be another one, which nothing declares to read only.
        and selects_all(_READS, rule.scope.selectors, subject.rules.tools)
        and not _fetches(rule, subject)
    ):
        reason = "the built-in rule `read-only` already lets tools run that only read"
        yield report_finding(rule, _KIND, reason, "take the rule out")
    if any(isinstance(each, ModeCondition) and set(each.modes) <= {"yolo"} for each in rule.scope.when.plain):
        reason = "the built-in rule `yolo` already lets every call run in that mode"
        yield report_finding(rule, _KIND, reason, "take the rule out, or name another mode")


def _fetches(rule: ConfiguredRule, subject: Subject) -> bool:
    named = (Pattern(selector.text) for selector in rule.scope.selectors)
    return any(pattern.matches(name) for pattern in named for name in subject.fetching)


def _repeats_other(rule: ConfiguredRule, index: Index, subject: Subject) -> Iterator[Finding]:
    for other in index.near(subject.facts[rule.id]):
        if other is rule or not _replaces(other, rule, subject):
            continue
        # Of two equivalent rules, the later one is redundant.
        if subject.order[other.id] > subject.order[rule.id] and _replaces(rule, other, subject):
            continue
        reason = f"`{other.id}` ({other.source}) already says the same about everything it is about"
        yield report_finding(rule, _KIND, reason, f"take `{rule.id}` out, or narrow `{other.id}`")
        return


def _replaces(other: ConfiguredRule, rule: ConfiguredRule, subject: Subject) -> bool:
    has_own_words = rule.effect is not Verdict.ALLOW and rule.message not in (None, other.message)
    return (
        other.effect is rule.effect
        and not has_own_words
        and other.budget is None
        and (rule.keeps or not other.keeps)
        and _is_reached(other, rule, subject)
        and contains(other.scope, rule.scope, subject.specs)
    )


def _is_reached(other: ConfiguredRule, rule: ConfiguredRule, subject: Subject) -> bool:
    """Return whether `other` is evaluated whenever `rule` is: no `confirm` rule between them ends the search."""
    is_early = other.priority() <= rule.priority()
    return rule.effect is not Verdict.ALLOW or is_early or not subject.questions
