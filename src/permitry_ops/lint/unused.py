"""The findings about what is defined and changes nothing: labels, lists, and records of programs."""

import itertools
from collections.abc import Iterator

from permitry.actions.programs.catalogue import shipped
from permitry_ops.lint._subject import Finding, Subject, report_finding

__all__ = ["findings"]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the labels, lists and records that do nothing."""
    return itertools.chain(_labels(subject), _lists(subject), _records(subject))


def _labels(subject: Subject) -> Iterator[Finding]:
    """Yield the labels that conditions ask for but no rule sets, and those that are set but never asked for."""
    flows = subject.rules.flows
    put = {flow.label for flow in flows if flow.label is not None}
    asked = {rule_id: scope.labels for rule_id, scope in subject.scopes.items()}
    all_asked = frozenset[str]().union(*asked.values())
    for rule_id, labels in asked.items():
        for label in sorted(labels - put):
            reason = f"no rule puts the label `{label}` on a session"
            hint = f'add `adds_label = "{label}"` to the rule about what leaves it'
            yield Finding("label-never-set", rule_id, subject.source_of(rule_id), reason, hint)
    for flow in flows:
        if flow.label is not None and flow.label not in all_asked:
            reason = f"no rule asks for the label `{flow.label}`"
            hint = f'ask for it with `when.label = "{flow.label}"` in a restriction, or take `adds_label` out'
            yield Finding("label-never-read", flow.id, subject.source_of(flow.id), reason, hint)


def _lists(subject: Subject) -> Iterator[Finding]:
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


def _records(subject: Subject) -> Iterator[Finding]:
    """Yield the records of programs that say what permitry knows without them."""
    for record in subject.rules.records.every:
        name = record.name
        if name in shipped() and shipped().with_records({name: record.fields})[name] == shipped()[name]:
            reason = f"all that the record of `{name}` says is known without it"
            hint = "take it out; a record only needs what permitry does not know of a program"
            yield Finding("record-changes-nothing", None, record.source, reason, hint)
