"""The finding `record-changes-nothing`."""

from collections.abc import Iterator

from permitry.actions.programs.catalogue import shipped
from permitry_ops.lint._subject import Finding, Subject

__all__ = ["findings"]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the records of programs that say what permitry knows without them."""
    for record in subject.rules.records.every:
        name = record.name
        if name in shipped() and shipped().with_records({name: record.fields})[name] == shipped()[name]:
            reason = f"all that the record of `{name}` says is known without it"
            hint = "take it out; a record only needs what permitry does not know of a program"
            yield Finding("record-changes-nothing", None, record.source, reason, hint)
