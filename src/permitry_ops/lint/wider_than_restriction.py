"""The finding `wider-than-restriction`."""

import functools
import itertools
from collections.abc import Iterator

from permitry.conditions.command import ArgvPattern
from permitry.conditions.tools import ToolSelector
from permitry.core.pattern import Pattern
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._facts import command_facts, command_needs, name_facts, tool_needs
from permitry_ops.lint._index import Index, Key
from permitry_ops.lint._scopes import command_samples, covers_pattern, matches, may_match, selects_all
from permitry_ops.lint._subject import Finding, Subject, describe_effect, report_finding

__all__ = ["findings"]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield permissions of which a restriction in the same file takes back some spellings."""
    of_commands = Index((rule for rule in subject.permissions if rule.scope.when.commands), command_needs)
    of_tools = Index(filter(_is_of_tools, subject.permissions), tool_needs)
    pairs = []
    for other in subject.restrictions:
        if not other.scope.when.plain and other.budget is None:
            samples = itertools.chain.from_iterable(map(command_samples, other.scope.when.commands))
            near = *of_commands.near(set(command_facts(samples))), *of_tools.near(set(_names(other)))
            pairs += [(rule, other) for rule in near if _file(rule) == _file(other)]
    for rule, other in sorted(pairs, key=lambda pair: [subject.order[each.id] for each in pair]):
        yield from _compare(rule, other, subject)


def _is_of_tools(rule: ConfiguredRule) -> bool:
    return not rule.scope.when.are_about_actions and any(map(_is_glob, rule.scope.selectors))


def _is_glob(selector: ToolSelector) -> bool:
    return not Pattern(selector.text).is_exact


def _names(rule: ConfiguredRule) -> Iterator[Key]:
    """Yield the facts by which permissions are found whose globs cover a name in a restriction."""
    selectors = () if rule.scope.when.are_about_actions else rule.scope.selectors
    return itertools.chain.from_iterable(name_facts(selector.text) for selector in selectors)


def _compare(rule: ConfiguredRule, other: ConfiguredRule, subject: Subject) -> Iterator[Finding]:
    for wide, narrow in (*_commands(rule, other, subject), *_tools(rule, other)):
        yield report_finding(
            rule,
            "wider-than-restriction",
            f"it allows `{wide}`, of which `{other.id}` ({other.source}) {describe_effect(other)} `{narrow}`: "
            "whatever does the same under another name runs",
            f"list what is allowed instead of `{wide}`; keep `{other.id}` for what must never run",
        )


def _commands(rule: ConfiguredRule, other: ConfiguredRule, subject: Subject) -> Iterator[tuple[str, str]]:
    if not selects_all(other.scope.selectors, rule.scope.selectors, subject.specs):
        return
    for wide in rule.scope.when.commands:
        for narrow in other.scope.when.commands:
            if _takes_some(narrow, wide):
                yield str(wide), str(narrow)
                break


@functools.lru_cache(maxsize=16_384)
def _takes_some(narrow: ArgvPattern, wide: ArgvPattern) -> bool:
    """Return whether `narrow` matches some of the commands that match `wide`, but not all of them."""
    meets = any(matches(wide, words) for words in command_samples(narrow))
    return meets and not all(may_match(narrow, words) for words in command_samples(wide))


def _tools(rule: ConfiguredRule, other: ConfiguredRule) -> Iterator[tuple[str, str]]:
    if other.scope.when.are_about_actions or rule.scope.when.are_about_actions:
        return
    for wide in filter(_is_glob, rule.scope.selectors):
        for narrow in other.scope.selectors:
            is_name = narrow.text != wide.text and not narrow.text.startswith("@")
            if is_name and covers_pattern(Pattern(wide.text), narrow.text):
                yield wide.text, narrow.text
                break


def _file(rule: ConfiguredRule) -> str:
    return (rule.source or "").rpartition(":")[0]
