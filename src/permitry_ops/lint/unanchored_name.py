"""The finding `unanchored-name`."""

from collections.abc import Iterator

from permitry_ops.lint._subject import Finding, Subject, report_finding

__all__ = ["findings"]

_KIND = "unanchored-name"
_SUGGESTION = "write the names, or a glob with a fixed beginning"


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the globs in permissions and templates that match a word anywhere in the name of a tool."""
    for rule in subject.permissions:
        for selector in rule.scope.selectors:
            if _floats(selector.text):
                yield report_finding(rule, _KIND, _reason(selector.text), _SUGGESTION)
    for draft in subject.drafts.templates.values():
        for text in filter(_floats, draft.table.allow_tools):
            reason = f"the template `{draft.name}`: {_reason(text)}"
            yield Finding(_KIND, None, draft.place, reason, _SUGGESTION)


def _floats(text: str) -> bool:
    return text.startswith("*") and text.endswith("*") and bool(text.strip("*"))


def _reason(text: str) -> str:
    word = text.strip("*")
    return f"`{text}` covers every tool with `{word}` in its name, also `{word}_and_delete` and those of any server"
