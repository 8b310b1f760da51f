"""The finding `shadowed`."""

import itertools
from collections.abc import Iterator

from permitry.config.catalogue import PREFIX
from permitry.core.decision import Verdict
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._scopes import contains
from permitry_ops.lint._subject import Finding, Subject, is_unconditional, report_finding

__all__ = ["findings", "shadow_of"]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the rules that never decide, because another one always decides in their place."""
    for rule in (*subject.permissions, *subject.restrictions, *subject.questions):
        shadow = shadow_of(rule, subject)
        # Each shipped set can be taken without the others.
        if shadow is not None and not (_set_of(rule) and _set_of(shadow)):
            does = "allows" if rule.effect is Verdict.ALLOW else "blocks"
            what = "the same tools on every condition" if is_unconditional(shadow) else "whatever it asks about"
            reason = f"it never decides: `{shadow.id}` ({shadow.source}) {does} {what}"
            yield report_finding(rule, "shadowed", reason, _suggestion(shadow))


def _suggestion(shadow: ConfiguredRule) -> str:
    shipped = _set_of(shadow)
    if not shipped:
        return f"take one of the two out, or narrow `{shadow.id}`"
    return f"take it out, or extend the sets that you want instead of one that extends `{shipped}`"


def _set_of(rule: ConfiguredRule) -> str:
    """Return the shipped set of a rule; empty for any other rule."""
    name = (rule.source or "").rpartition(":")[0]
    return name if name.startswith(PREFIX) else ""


def shadow_of(rule: ConfiguredRule, subject: Subject) -> ConfiguredRule | None:
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
