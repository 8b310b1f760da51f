"""The findings `no-anchor`, `matches-little` and `unanchored-name`, about what patterns fit."""

import itertools
from collections.abc import Iterator

from permitry.conditions.lookalikes import look_alikes
from permitry_ops.lint._subject import Finding, Subject, report_finding

__all__ = ["findings"]

_NAME_HINT = "write the names, or a glob with a fixed beginning"


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the wide paths, hosts and names in permissions, and the narrow patterns in restrictions."""
    return itertools.chain(_without_anchor(subject), _narrow(subject), _names(subject))


def _without_anchor(subject: Subject) -> Iterator[Finding]:
    """Yield the permissions for paths and hosts without a fixed part, to which there is no exception."""
    for rule in subject.permissions:
        when, unless = rule.scope.when, rule.scope.unless
        for path in when.paths:
            covered = _find_cover(path.text)
            if covered is not None and not any(each.paths for each in unless):
                reason = f"the path `{path.text}` covers {covered}"
                hint = "begin at a folder: `src/**`; or except what is not meant"
                yield report_finding(rule, "no-anchor", reason, hint)
        for host in when.hosts:
            if host.host == "*" and not any(each.hosts for each in unless):
                reason = f"the host `{host.text}` covers every address, those of your own network included"
                yield report_finding(rule, "no-anchor", reason, "name the hosts: `example.com`, `*.example.com`")


def _find_cover(text: str) -> str | None:
    anchor, _, rest = text.removeprefix("./").partition("/")
    if anchor in ("", "~") and not rest.strip("/*"):
        return "all of your home folder" if anchor else "every file of the machine"
    if anchor == "" and rest.startswith("**/"):
        return "such a file anywhere on the machine"
    is_top = anchor in ("*", "**") and not rest.strip("/*")
    return "whatever is in the workspace, hidden files and `.git` included" if is_top else None


def _narrow(subject: Subject) -> Iterator[Finding]:
    """Yield the restrictions with a pattern that fits less than it seems to, unless examples show what it fits."""
    for rule in (*subject.questions, *subject.restrictions):
        for each in () if subject.has_examples(rule.id) else look_alikes(rule.scope.when):
            if each.is_likely:
                hint = f"{each.hint}, and what must match as an example in `match`"
                yield report_finding(rule, "matches-little", each.reason, hint)


def _names(subject: Subject) -> Iterator[Finding]:
    """Yield the globs in permissions and templates that match a word anywhere in the name of a tool."""
    for rule in subject.permissions:
        for text in (selector.text for selector in rule.scope.selectors if _floats(selector.text)):
            yield report_finding(rule, "unanchored-name", _reason(text), _NAME_HINT)
    for draft in subject.drafts.templates.values():
        for text in filter(_floats, draft.table.allow_tools):
            reason = f"the template `{draft.name}`: {_reason(text)}"
            yield Finding("unanchored-name", None, draft.place, reason, _NAME_HINT)


def _floats(text: str) -> bool:
    return text.startswith("*") and text.endswith("*") and bool(text.strip("*"))


def _reason(text: str) -> str:
    word = text.strip("*")
    return f"`{text}` covers every tool with `{word}` in its name, also `{word}_and_delete` and those of any server"
