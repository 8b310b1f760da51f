"""The finding `untrusted-counterparty`."""

import re
from collections.abc import Iterator

from permitry.conditions.args import ArgumentCondition, Source, SourceCondition
from permitry.core.spec import ToolSpec
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._subject import Finding, Subject, report_finding

__all__ = ["findings"]

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_LETTERS = re.compile(r"[^a-z]+")
# With what may follow: the `email_id` of a message is not a person.
_REACHED = re.compile(
    r"to|cc|bcc|to_(address(es)?|emails?|phone|number|account|iban|user)"
    r"|(.*_)?(emails?|iban|wallet|phone)(_(address(es)?|number))?"
    r"|(.*_)?(recipients?|receivers?|payees?|creditors?|beneficiar(y|ies)|participants?|attendees?|invitees?)"
    r"(_(address(es)?|emails?|name|ids?|iban|account|number))*"
    r"|(bank_)?account(_number)?"
)
_OWN = ("from", "sender", "own", "my", "source")
_PAID = frozenset({"iban", "wallet", "account", "payee", "payees", "creditor", "creditors", "beneficiary"})
_PAYS = frozenset({"pay", "payment", "payments", "payout", "money", "refund", "wire", "transaction", "transactions"})
_ABOUT_ARGUMENTS: tuple[type[ArgumentCondition | SourceCondition], ...] = (ArgumentCondition, SourceCondition)
_AMOUNTS = ("amount", "sum", "total", "value")


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the sources that others may fill, of arguments that say who gets money or a message."""
    for rule in subject.rules.rules:
        for condition in dict.fromkeys(rule.scope.each(SourceCondition)):
            if not _is_counterparty(rule, condition, subject):
                continue
            is_paid = _is_paid(rule, condition)
            for source in condition.sources:
                if _may_be_filled(source, subject) and (is_paid or _is_bare(source)):
                    yield _describe(rule, condition, source, is_paid=is_paid)


def _is_counterparty(rule: ConfiguredRule, condition: SourceCondition, subject: Subject) -> bool:
    """Return whether the name of an argument says who is reached, and its tools do not declare something else."""
    words = _words(condition.path[-1])
    if not words or words[0] in _OWN or not _REACHED.fullmatch("_".join(words)):
        return False
    specs = [subject.specs.get(each.text) for each in rule.scope.selectors]
    return not specs or not all(each is not None and _is_harmless(each, condition.path[0]) for each in specs)


def _is_harmless(spec: ToolSpec, argument: str) -> bool:
    """Return whether a tool only reads, or the argument is declared as a path, an address or a command."""
    return spec.traits.only_reads or argument in [key.removesuffix("?") for key in spec.roles or ()]


def _is_paid(rule: ConfiguredRule, condition: SourceCondition) -> bool:
    """Return whether the rule is about money: by the argument, by the tools, or by an amount that it asks for."""
    words = {word for each in rule.scope.selectors for word in _words(each.text)}
    paths = (each.path for each in rule.scope.each(*_ABOUT_ARGUMENTS))
    is_about_money = not _PAYS.isdisjoint(words) or any(path[-1] in _AMOUNTS for path in paths)
    return is_about_money or not _PAID.isdisjoint(_words(condition.path[-1]))


def _may_be_filled(source: Source, subject: Subject) -> bool:
    """Return whether others than the operator may fill the field that a source names."""
    if source.kind not in ("result", "named"):
        return False
    trusted = subject.drafts.trusted.get(source.tool, frozenset())
    field = None if source.path is None else ".".join(source.path)
    return "*" not in trusted and field not in trusted


def _is_bare(source: Source) -> bool:
    """Return whether the user need not have named the record."""
    return source.kind == "result" and source.other is None


def _describe(rule: ConfiguredRule, condition: SourceCondition, source: Source, *, is_paid: bool) -> Finding:
    argument = ".".join(condition.path)
    field = "*" if source.path is None else ".".join(source.path)
    reason = f"others may fill `{source.text}`, and choose `{argument}` by it"
    if is_paid and not _is_bare(source):
        reason += "; it is not trusted with money because the user named the record"
    hint = f'if only you can fill the field, declare `trusted_fields = ["{field}"]` in `[tool."{source.tool}"]`'
    other = "" if is_paid else f"; otherwise have the user name the record, as in `{source.text}@subject`"
    return report_finding(rule, "untrusted-counterparty", reason, f"{hint}{other or '; otherwise take the source out'}")


def _words(name: str) -> list[str]:
    return [word for word in _NO_LETTERS.split(_HUMP.sub("_", name).lower()) if word]
