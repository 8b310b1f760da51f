"""The finding `unknown-tool`."""

import difflib
from collections.abc import Iterable, Iterator

from permitry.config.diagnostics import nearest
from permitry.core.pattern import Pattern
from permitry_ops.lint._subject import BUILT_IN_TOOLS, Finding, Subject, report_finding

__all__ = ["findings"]

_KIND = "unknown-tool"
_NEAR = 0.8


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the names that no tool has; without a list of all tools, those that look misspelt."""
    for rule in subject.rules.rules:
        texts = (each.text for each in rule.scope.named_tools if not each.text.startswith("@"))
        for reason, suggestion in _unknown(texts, subject):
            yield report_finding(rule, _KIND, reason, suggestion)
    for draft in subject.drafts.templates.values():
        for reason, suggestion in _unknown(draft.table.allow_tools, subject):
            message = f"the template `{draft.name}`: {reason}"
            yield Finding(_KIND, None, draft.place, message, suggestion)


def _unknown(texts: Iterable[str], subject: Subject) -> Iterator[tuple[str, str]]:
    for text in texts:
        yield from _misspelt(text, subject) if subject.names is None else _find_missing(text, subject)


def _misspelt(text: str, subject: Subject) -> Iterator[tuple[str, str]]:
    if text in BUILT_IN_TOOLS or text in subject.specs or not Pattern(text).is_exact or text.startswith("mcp:"):
        return
    for near in difflib.get_close_matches(text, subject.compared, n=1, cutoff=_NEAR):
        hint = f"write `{near}`; if `{text}` is a tool of yours, say so with `[tool.{_key(text)}]`"
        yield f"`{text}` is not a known tool, and looks like `{near}`", hint


def _find_missing(text: str, subject: Subject) -> Iterator[tuple[str, str]]:
    pattern = Pattern(text)
    if next(subject.fitting(pattern), None) is None:
        what = "is none of the tools" if pattern.is_exact else "fits none of the tools"
        hint = nearest(text, subject.names or (), otherwise="take it out, or add the tool to the list")
        yield f"`{text}` {what}", hint


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() else f'"{name}"'
