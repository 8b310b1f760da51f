"""The finding `matches-little`."""

from collections.abc import Iterator

from permitry.conditions.lookalikes import look_alikes
from permitry_ops.lint._subject import Finding, Subject, report_finding

__all__ = ["findings"]

_KIND = "matches-little"


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the restrictions with a pattern that fits less than it seems to, unless examples show what it fits."""
    for rule in (*subject.questions, *subject.restrictions):
        for each in () if subject.has_examples(rule.id) else look_alikes(rule.scope.when):
            if each.is_likely:
                hint = f"{each.hint}, and what must match as an example in `match`"
                yield report_finding(rule, _KIND, each.reason, hint)
