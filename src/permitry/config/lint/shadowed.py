"""The finding `shadowed`."""

from collections.abc import Iterator

from permitry.config.lint._scopes import selects_all
from permitry.config.lint._subject import Finding, Subject, finding_in, is_unconditional
from permitry.core.decision import Verdict
from permitry.rules.configured import ConfiguredRule

__all__ = ["findings", "shadow_of"]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the rules that never decide, because another one always speaks in their place."""
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
    """Return a rule that always speaks in place of `rule`, or None."""
    if rule.effect is Verdict.ALLOW:
        others = subject.permissions[: subject.permissions.index(rule)]
    elif rule.effect is Verdict.CONFIRM:
        others = tuple(other for other in subject.restrictions if other.effect is Verdict.BLOCK)
    else:
        others = ()
    return next((other for other in others if _always_speaks(other, rule, subject)), None)


def _always_speaks(other: ConfiguredRule, rule: ConfiguredRule, subject: Subject) -> bool:
    return is_unconditional(other) and selects_all(other.scope.selectors, rule.scope.selectors, subject.specs)
