"""The finding `shadowed`."""

import itertools
from collections.abc import Iterator

from permitry.config.lint._scopes import selects_all
from permitry.config.lint._subject import Finding, Subject, finding_in
from permitry.core.decision import Verdict
from permitry.rules.configured import ConfiguredRule

__all__ = ["findings", "shadow_of"]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the rules that never decide, because another one always decides in their place."""
    for rule in (*subject.permissions, *subject.restrictions):
        shadow = shadow_of(rule, subject)
        if shadow is not None:
            does = "allows" if rule.effect is Verdict.ALLOW else "blocks"
            yield finding_in(
                rule,
                "shadowed",
                f"it never decides: `{shadow.id}` ({shadow.source}) {does} the same tools on every condition",
                f"take one of the two out, or narrow `{shadow.id}`",
            )


def shadow_of(rule: ConfiguredRule, subject: Subject) -> ConfiguredRule | None:
    """Return a rule that always decides in place of `rule`, or None."""
    others = _before(rule, subject)
    return next(
        (other for other in others if selects_all(other.scope.selectors, rule.scope.selectors, subject.specs)), None
    )


def _before(rule: ConfiguredRule, subject: Subject) -> Iterator[ConfiguredRule]:
    """Yield the rules without conditions that overrule `rule` if they select the same tools."""
    facts = subject.facts[rule.id]
    if rule.effect is Verdict.ALLOW:
        place = subject.order[rule.id]
        near = subject.plain_permissions.near(facts)
        yield from itertools.takewhile(lambda other: subject.order[other.id] < place, near)
    elif rule.effect is Verdict.CONFIRM:
        yield from subject.plain_blocks.near(facts)
