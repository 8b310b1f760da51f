"""The findings `label-never-set` and `label-never-read`."""

from collections.abc import Iterator

from permitry_ops.lint._subject import Finding, Subject

__all__ = ["findings"]


def findings(subject: Subject) -> Iterator[Finding]:
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
