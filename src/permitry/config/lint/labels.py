"""The findings `label-never-set` and `label-never-read`."""

from collections.abc import Iterator

from permitry.config.lint._subject import Finding, Subject
from permitry.rules.conditions.label import LabelCondition
from permitry.rules.conditions.scope import Scope

__all__ = ["findings"]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the labels that are asked about and never put on a session, and the other way round."""
    flows = subject.rules.flows
    put = {flow.label for flow in flows if flow.label is not None}
    asked = {flow.id: _labels(flow.scope) for flow in flows}
    asked |= {rule.id: _labels(rule.scope) for rule in subject.rules.rules}
    for rule_id, labels in asked.items():
        for label in sorted(labels - put):
            reason = f"no rule puts the label `{label}` on a session"
            told = f'add `taint = "{label}"` to the rule about what leaves it'
            yield Finding("label-never-set", rule_id, _source(rule_id, subject), reason, told)
    for flow in flows:
        if flow.label is not None and flow.label not in frozenset[str]().union(*asked.values()):
            reason = f"no rule asks for the label `{flow.label}`"
            told = f'ask for it with `when.label = "{flow.label}"` in a restriction, or take `taint` out'
            yield Finding("label-never-read", flow.id, _source(flow.id, subject), reason, told)


def _labels(scope: Scope) -> set[str]:
    plain = (*scope.when.plain, *(() if scope.unless is None else scope.unless.plain))
    return {label for each in plain if isinstance(each, LabelCondition) for label in each.labels}


def _source(rule_id: str, subject: Subject) -> str:
    draft = subject.drafts.rules.get(rule_id)
    if draft is not None:
        return draft.source.source(draft.path)
    return next((rule.source or "code" for rule in subject.rules.rules if rule.id == rule_id), "code")
