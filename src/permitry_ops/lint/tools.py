"""The findings `unknown-tool` and `undeclared-tool`."""

import difflib
import itertools
from collections.abc import Iterable, Iterator

from permitry.conditions.tools import ToolsCondition
from permitry.config.diagnostics import nearest
from permitry.core.decision import Verdict
from permitry.core.pattern import Pattern
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._subject import BUILT_IN_TOOLS, Finding, Subject, report_finding

__all__ = ["findings"]

_KIND = "unknown-tool"
_NEAR = 0.8


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the names that no tool has or look misspelt, and the tools that are not declared."""
    for rule in subject.rules.rules:
        excepted = itertools.chain.from_iterable(each.selectors for each in rule.scope.each(ToolsCondition))
        named = (each.text for each in (*rule.scope.selectors, *excepted))
        texts = (text for text in named if not text.startswith("@"))
        for reason, suggestion in _unknown(texts, subject):
            yield report_finding(rule, _KIND, reason, suggestion)
    for draft in subject.drafts.templates.values():
        for reason, suggestion in _unknown(draft.table.allow_tools, subject):
            message = f"the template `{draft.name}`: {reason}"
            yield Finding(_KIND, None, draft.place, message, suggestion)
    for rule in subject.rules.rules:
        if any(conditions.are_about_actions for conditions in rule.scope.every):
            yield from _find_undeclared(rule, subject)


def _unknown(texts: Iterable[str], subject: Subject) -> Iterator[tuple[str, str]]:
    for text in texts:
        yield from _misspelt(text, subject) if subject.names is None else _find_missing(text, subject)


def _misspelt(text: str, subject: Subject) -> Iterator[tuple[str, str]]:
    if text in BUILT_IN_TOOLS or text in subject.specs or not Pattern(text).is_exact or text.startswith("mcp:"):
        return
    for near in difflib.get_close_matches(text, subject.compared, n=1, cutoff=_NEAR):
        key = text if text.replace("_", "").replace("-", "").isalnum() else f'"{text}"'
        hint = f"write `{near}`; if `{text}` is a tool of yours, say so with `[tool.{key}]`"
        yield f"`{text}` is not a known tool, and looks like `{near}`", hint


def _find_missing(text: str, subject: Subject) -> Iterator[tuple[str, str]]:
    pattern = Pattern(text)
    if next(subject.fitting(pattern), None) is None:
        what = "is none of the tools" if pattern.is_exact else "fits none of the tools"
        hint = nearest(text, subject.names or (), otherwise="take it out, or add the tool to the list")
        yield f"`{text}` {what}", hint


def _find_undeclared(rule: ConfiguredRule, subject: Subject) -> Iterator[Finding]:
    never = rule.effect is Verdict.ALLOW and rule.scope.when.are_about_actions
    effect = "the rule never allows it" if never else "the rule can only guess"
    for name in (selector.text for selector in rule.scope.selectors):
        if name not in subject.specs and Pattern(name).is_exact and not name.startswith("@"):
            reason = f"nothing says what the arguments of `{name}` are, so {effect}"
            hint = f'declare the tool: `[tool."{name}"]`, with its arguments, as in `roles.{_role(rule)}`'
            yield report_finding(rule, "undeclared-tool", reason, hint)


def _role(rule: ConfiguredRule) -> str:
    given = rule.scope.every
    if any(conditions.commands for conditions in given):
        return 'command = "command"'
    return 'path = "write_path"' if any(conditions.paths for conditions in given) else 'url = "url"'
