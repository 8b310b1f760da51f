"""The findings on texts of which a part decides, where all of it acts: SQL, commands, addresses of mail and of pages.

They are `sql-by-prefix`, `command-by-prefix`, `url-by-prefix` and `mail-by-suffix`.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from permitry.conditions.args import ArgumentCondition, ArgumentTest
from permitry.conditions.scope import Conditions
from permitry.core.spec import ArgumentRole
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._subject import Finding, Subject, report_finding

__all__ = ["findings"]

_STATEMENT = re.compile(r"(select|with|show|explain|describe|values|insert|update|delete)\b", re.IGNORECASE)
_NAMES_OF_SQL = re.compile(r"sql|query|statement|stmt", re.IGNORECASE)
_NAMES_OF_COMMANDS = re.compile(r"(shell_?)?(command|cmd)", re.IGNORECASE)
_ADDRESS = re.compile(r"([a-z][a-z0-9+-]*)://([^/?#:@]+)", re.IGNORECASE)
_DOMAIN = re.compile(r"\.?[a-z0-9-]+(\.[a-z0-9-]+)+", re.IGNORECASE)
_NAMES_OF_MAIL = re.compile(r"to|b?cc|e?mails?|e?mail.*|recipients?|.*address(es)?", re.IGNORECASE)


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield what lets calls run by how an SQL text, a command or an address begins or ends."""
    for rule in subject.permissions:
        yield from _in(rule, "when", rule.scope.when, subject)
    for rule in subject.restrictions:
        yield from itertools.chain.from_iterable(_in(rule, "unless", each, subject) for each in rule.scope.unless)


def _in(rule: ConfiguredRule, part: str, conditions: Conditions, subject: Subject) -> Iterator[Finding]:
    for condition in conditions.plain:
        if isinstance(condition, ArgumentCondition):
            where, argument = ".".join((part, "args", *condition.path)), condition.path[-1]
            for name, text in _texts(condition.test):
                found = _KINDS[name](argument, text)
                if found is None and name == "prefix" and _is_command(argument, rule, subject):
                    found = _begins_command(text)
                if found is not None:
                    kind, reason, hint = found
                    yield report_finding(rule, kind, f'`{where}` with `{name} = "{text}"` {reason}', hint)


def _is_command(argument: str, rule: ConfiguredRule, subject: Subject) -> bool:
    """Return whether an argument is a command by its declaration, or without one by its name."""
    specs = [subject.specs.get(selector.text) for selector in rule.scope.selectors]
    roles = [dict(spec.roles) for spec in specs if spec is not None and spec.roles is not None]
    if roles:
        keys = itertools.chain.from_iterable(each.items() for each in roles)
        return any(argument in re.split(r"[|?.\[\]]+", key) for key, role in keys if role is ArgumentRole.COMMAND)
    return _NAMES_OF_COMMANDS.fullmatch(argument) is not None


def _texts(test: ArgumentTest) -> Iterator[tuple[str, str]]:
    """Yield each text that is only a part of what passes, with its operator, in nested tests too."""
    if any(check.name == "regex" for check in test.checks):
        return
    for check in test.checks:
        if isinstance(check.operand, ArgumentTest):
            yield from _texts(check.operand)
        elif check.name in _KINDS:
            yield from ((check.name, text) for text in check.operand)


def _begins(name: str, text: str) -> tuple[str, str, str] | None:
    return _begins_sql(name, text) or _begins_address(name, text)


def _begins_sql(name: str, text: str) -> tuple[str, str, str] | None:
    word = _STATEMENT.match(text)
    if word is None or not (word[0].casefold() == "select" or _NAMES_OF_SQL.search(name)):
        return None
    reason = f"lets `{text.rstrip()} 1; DROP TABLE orders` through"
    return "sql-by-prefix", reason, "say by `regex` what the whole statement may be; the cookbook has one for SELECT"


def _begins_command(text: str) -> tuple[str, str, str]:
    hint = f'say which commands may run: `when.command = "{text.strip()} *"`'
    return "command-by-prefix", f"lets `{text}; curl evil.example` through", hint


def _begins_address(name: str, text: str) -> tuple[str, str, str] | None:
    found = _ADDRESS.fullmatch(text)
    if found is not None:
        host = found[2] if found[1].lower() == "https" else text
        hint = f'say which host it is, of an argument with the role `url`: `when.host = "{host}"`'
        return "url-by-prefix", f"lets `{text}.evil.example` through", hint
    if not (text.startswith("@") and _NAMES_OF_MAIL.fullmatch(name) and _DOMAIN.fullmatch(text[1:])):
        return None
    return "never-matches", "fits no address: the domain is at its end", _whole_address(text)


def _whole_address(text: str) -> str:
    domain = text.lstrip("@.").replace(".", r"\.")
    return f"say what each address may be: `each = {{ regex = '[a-z0-9][a-z0-9._-]*@{domain}' }}`"


def _ends_address(name: str, text: str) -> tuple[str, str, str] | None:
    if not (text.startswith("@") or (_NAMES_OF_MAIL.fullmatch(name) and _DOMAIN.fullmatch(text))):
        return None
    other = f"eve@evil.example, ann{text}" if text.startswith("@") else f"eve@not{text.removeprefix('.')}"
    return "mail-by-suffix", f"lets `{other}` through", _whole_address(text)


_KINDS: Mapping[str, Callable[[str, str], tuple[str, str, str] | None]] = MappingProxyType(
    {"prefix": _begins, "suffix": _ends_address}
)
