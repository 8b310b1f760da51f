"""The finding `wider-than-restriction`."""

from collections.abc import Iterator

from permitry.config.lint._scopes import command_samples, covers_pattern, selects_all
from permitry.config.lint._subject import Finding, Subject, finding_in
from permitry.core.decision import Verdict
from permitry.core.pattern import Pattern
from permitry.rules.configured import ConfiguredRule

__all__ = ["findings"]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the permissions from which a restriction beside them takes back a few spellings.

    Only rules of one file are compared: a floor that a file extends is meant to hold under whatever it permits. Paths
    are left out: a path has one real name, which a restriction finds whatever the spelling.
    """
    for rule in subject.permissions:
        for other in subject.restrictions:
            if _file(rule) == _file(other) and not other.scope.when.plain and other.budget is None:
                yield from _compared(rule, other, subject)


def _compared(rule: ConfiguredRule, other: ConfiguredRule, subject: Subject) -> Iterator[Finding]:
    does = "blocks" if other.effect is Verdict.BLOCK else "asks about"
    for wide, narrow in (*_commands(rule, other, subject), *_tools(rule, other)):
        yield finding_in(
            rule,
            "wider-than-restriction",
            f"it allows `{wide}`, of which `{other.id}` ({other.source}) {does} `{narrow}`: whatever does the same "
            "under another name runs",
            f"list what is allowed instead of `{wide}`; keep `{other.id}` for what must never run",
        )


def _commands(rule: ConfiguredRule, other: ConfiguredRule, subject: Subject) -> Iterator[tuple[str, str]]:
    if not selects_all(other.scope.selectors, rule.scope.selectors, subject.specs):
        return
    for wide in rule.scope.when.commands:
        for narrow in other.scope.when.commands:
            if any(map(wide.holds, command_samples(narrow))) and not all(map(narrow.may_hold, command_samples(wide))):
                yield str(wide), str(narrow)
                break


def _tools(rule: ConfiguredRule, other: ConfiguredRule) -> Iterator[tuple[str, str]]:
    if other.scope.when.are_about_actions or rule.scope.when.are_about_actions:
        return
    for wide in rule.scope.selectors:
        for narrow in other.scope.selectors:
            if wide.text != narrow.text and not narrow.text.startswith("@") and _is_wider(wide.text, narrow.text):
                yield wide.text, narrow.text
                break


def _is_wider(wide: str, narrow: str) -> bool:
    return not Pattern(wide).is_exact and covers_pattern(Pattern(wide), narrow)


def _file(rule: ConfiguredRule) -> str:
    return (rule.source or "").rpartition(":")[0]
