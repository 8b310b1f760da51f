"""The findings `shadowed` and `redundant`: rules without which every call would be decided alike."""

import itertools
from collections.abc import Iterator

from permitry.conditions.mode import ModeCondition
from permitry.conditions.tools import ToolSelector
from permitry.config.catalogue import PREFIX
from permitry.core.decision import Verdict
from permitry.core.pattern import Pattern
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._facts import needs_within
from permitry_ops.lint._index import Index
from permitry_ops.lint._scopes import contains, selects_all
from permitry_ops.lint._subject import Finding, Subject, is_unconditional, report_finding

__all__ = ["findings"]

_KIND = "redundant"
_READS = (ToolSelector("@reads"),)


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the rules that never decide, and those without which another one decides alike."""
    marking = {flow.id for flow in subject.rules.flows if flow.label is not None}
    groups = (subject.permissions, subject.restrictions)
    rules = (*subject.permissions, *subject.restrictions, *subject.questions)
    shadows = {rule.id: _shadow_of(rule, subject) for rule in rules}
    for rule in rules:
        yield from _report_shadow(rule, shadows[rule.id])
    for group in groups:
        index = Index((rule for rule in group if rule.budget is None), needs_within)
        for rule in group:
            if rule.id not in marking and shadows[rule.id] is None:
                yield from _repeats_built_in(rule, subject)
                yield from _repeats_other(rule, index, subject)


def _report_shadow(rule: ConfiguredRule, shadow: ConfiguredRule | None) -> Iterator[Finding]:
    """Yield that a rule never decides; not of two shipped sets, as each can be taken without the other."""
    if shadow is None or (_set_of(rule) and _set_of(shadow)):
        return
    does = "allows" if rule.effect is Verdict.ALLOW else "blocks"
    what = "the same tools on every condition" if is_unconditional(shadow) else "whatever it asks about"
    hint = f"take one of the two out, or narrow `{shadow.id}`"
    if shipped := _set_of(shadow):
        hint = f"take it out, or extend the sets that you want instead of one that extends `{shipped}`"
    reason = f"it never decides: `{shadow.id}` ({shadow.source}) {does} {what}"
    yield report_finding(rule, "shadowed", reason, hint)


def _set_of(rule: ConfiguredRule) -> str:
    name = (rule.source or "").rpartition(":")[0]
    return name if name.startswith(PREFIX) else ""


def _shadow_of(rule: ConfiguredRule, subject: Subject) -> ConfiguredRule | None:
    """Return a rule that always decides in place of `rule`, or None."""
    others = (other for other in _before(rule, subject) if rule.keeps or not other.keeps)
    return next((other for other in others if contains(other.scope, rule.scope, subject.specs)), None)


def _before(rule: ConfiguredRule, subject: Subject) -> Iterator[ConfiguredRule]:
    """Yield the rules that overrule `rule` if their scope contains its own; only permissions without conditions."""
    facts = subject.facts[rule.id]
    if rule.effect is Verdict.ALLOW:
        place = subject.order[rule.id]
        near = subject.plain_permissions.near(facts)
        yield from itertools.takewhile(lambda other: subject.order[other.id] < place, near)
    elif rule.effect is Verdict.CONFIRM:
        yield from subject.steady_blocks.near(facts)


def _repeats_built_in(rule: ConfiguredRule, subject: Subject) -> Iterator[Finding]:
    if rule.effect is not Verdict.ALLOW or subject.questions:
        return
    selectors = rule.scope.selectors
    # A tool that is known by its name alone may be another one, which nothing declares to read only.
    if selectors and selects_all(_READS, selectors, subject.rules.tools) and not _fetches(rule, subject):
        reason = "the built-in rule `read-only` already lets tools run that only read"
        yield report_finding(rule, _KIND, reason, "take the rule out")
    if any(isinstance(each, ModeCondition) and set(each.modes) <= {"yolo"} for each in rule.scope.when.plain):
        reason = "the built-in rule `yolo` already lets every call run in that mode"
        yield report_finding(rule, _KIND, reason, "take the rule out, or name another mode")


def _fetches(rule: ConfiguredRule, subject: Subject) -> bool:
    """Return whether it selects a tool that is known to connect to an address from its arguments."""
    fetching = [spec.name for spec in subject.specs.values() if spec.follows_urls]
    return any(Pattern(each.text).matches(name) for each in rule.scope.selectors for name in fetching)


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
    is_permission = rule.effect is Verdict.ALLOW
    has_own_words = not is_permission and rule.message not in (None, other.message)
    # No `confirm` rule between two permissions ends the search before the later one.
    is_reached = not is_permission or other.priority() <= rule.priority() or not subject.questions
    return (
        other.effect is rule.effect
        and not has_own_words
        and other.budget is None
        and (rule.keeps or not other.keeps)
        and is_reached
        and contains(other.scope, rule.scope, subject.specs)
    )
