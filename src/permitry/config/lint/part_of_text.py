"""The findings `sql-by-prefix` and `mail-by-suffix`: a part of a text decides where all of it acts."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from permitry.config.lint._subject import Finding, Subject, finding_in
from permitry.rules.conditions.args import ArgumentCondition, ArgumentTest
from permitry.rules.conditions.scope import Conditions
from permitry.rules.configured import ConfiguredRule

__all__ = ["findings"]

_STATEMENT = re.compile(r"(select|with|show|explain|describe|values|insert|update|delete)\b", re.IGNORECASE)
_NAMES_OF_SQL = re.compile(r"sql|query|statement|stmt", re.IGNORECASE)
_DOMAIN = re.compile(r"\.?[a-z0-9-]+(\.[a-z0-9-]+)+", re.IGNORECASE)
_NAMES_OF_MAIL = re.compile(r"to|b?cc|e?mails?|e?mail.*|recipients?|.*address(es)?", re.IGNORECASE)


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield what lets calls run by the beginning of an SQL text, or by the end of the address of a mail.

    Looked at are `when` of permissions and `unless` of restrictions, and no test that has a `regex` as well.
    """
    for rule in subject.permissions:
        yield from _in(rule, "when", rule.scope.when)
    for rule in subject.restrictions:
        yield from itertools.chain.from_iterable(_in(rule, "unless", each) for each in rule.scope.unless)


def _in(rule: ConfiguredRule, part: str, conditions: Conditions) -> Iterator[Finding]:
    for condition in conditions.plain:
        if isinstance(condition, ArgumentCondition):
            where = ".".join((part, "args", *condition.path))
            for name, text in _texts(condition.test):
                if (found := _KINDS[name](condition.path[-1], text)) is not None:
                    kind, reason, hint = found
                    yield finding_in(rule, kind, f'`{where}` with `{name} = "{text}"` {reason}', hint)


def _texts(test: ArgumentTest) -> Iterator[tuple[str, str]]:
    """Yield each text that is only a part of what passes, with its operator; those of nested tests as well."""
    if any(check.name == "regex" for check in test.checks):
        return
    for check in test.checks:
        if isinstance(check.operand, ArgumentTest):
            yield from _texts(check.operand)
        elif check.name in _KINDS:
            yield from ((check.name, text) for text in check.operand)


def _begins_sql(name: str, text: str) -> tuple[str, str, str] | None:
    word = _STATEMENT.match(text)
    if word is None or not (word[0].casefold() == "select" or _NAMES_OF_SQL.search(name)):
        return None
    reason = f"lets `{text.rstrip()} 1; DROP TABLE orders` through"
    return "sql-by-prefix", reason, "say by `regex` what the whole statement may be; the cookbook has one for SELECT"


def _ends_address(name: str, text: str) -> tuple[str, str, str] | None:
    if not (text.startswith("@") or (_NAMES_OF_MAIL.fullmatch(name) and _DOMAIN.fullmatch(text))):
        return None
    other = f"eve@evil.example, ann{text}" if text.startswith("@") else f"eve@not{text.removeprefix('.')}"
    domain = text.lstrip("@.").replace(".", r"\.")
    hint = f"say what each address may be: `each = {{ regex = '[a-z0-9][a-z0-9._-]*@{domain}' }}`"
    return "mail-by-suffix", f"lets `{other}` through", hint


_KINDS: Mapping[str, Callable[[str, str], tuple[str, str, str] | None]] = MappingProxyType(
    {"prefix": _begins_sql, "suffix": _ends_address}
)
