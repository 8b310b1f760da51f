"""The findings `list-never-used` and `empty-list`."""

from collections.abc import Iterator

from permitry_ops.lint._subject import Finding, Subject, report_finding

__all__ = ["findings"]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the lists that no rule uses, and the permissions that use a list without values."""
    used = frozenset[str]().union(*(scope.lists for scope in subject.scopes.values()))
    for name, named in subject.rules.lists.items():
        if name not in used:
            hint = f'use it, as in `when.host = "@{name}"`, or take it out'
            yield Finding("list-never-used", None, named.source, f"no rule uses the list `{name}`", hint)
    for rule in subject.permissions:
        for name in sorted(rule.lists):
            if not subject.rules.lists[name].most_trusted:
                reason = f"the list `{name}` is empty, so nothing that is compared with it is permitted"
                hint = f"give it values, or let the host fill it: `Session(lists={{{name!r}: [...]}})`"
                yield report_finding(rule, "empty-list", reason, hint)
