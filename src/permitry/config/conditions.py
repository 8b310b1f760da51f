"""From the conditions of a rule, as plain data, to what the rule is about."""

import importlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from permitry.core.action import Access
from permitry.core.pattern import Pattern
from permitry.errors import RuleError
from permitry.rules.conditions.command import ArgvPattern
from permitry.rules.conditions.host import HostPattern
from permitry.rules.conditions.path import PathPattern
from permitry.rules.conditions.scope import Condition, Conditions, Scope
from permitry.rules.conditions.tools import ToolSelector

if TYPE_CHECKING:
    from permitry.rules.conditions.args import ArgumentCondition

__all__ = ["Given", "Place", "accesses", "argument", "arguments", "host_pattern", "scope_of"]

Given: TypeAlias = Mapping[str, Any]
"""The conditions of a `when` or `unless` that are given, by name, as a rule file says them."""

Place: TypeAlias = tuple[str, ...]

_PLAIN = {
    "mode": "ModeCondition",
    "agent": "AgentCondition",
    "template": "TemplateCondition",
    "server": "ServerCondition",
    "label": "LabelCondition",
    "digest": "DigestCondition",
    "tool_digest": "ToolDigestCondition",
    "repeat": "RepeatCondition",
    "repaired": "RepairedCondition",
}
_NO_CONDITIONS = Conditions()
_OF_PATTERNS = frozenset({"agent", "server"})


def scope_of(tools: Iterable[str], when: Given | None, unless: Given | None) -> Scope:
    """Return what a rule is about.

    Raises: `RuleError` for a condition that cannot be read.
    """
    selectors = tuple(ToolSelector(text) for text in tools)
    return Scope(
        selectors,
        _NO_CONDITIONS if when is None else _conditions(when),
        None if unless is None else _conditions(unless),
    )


def host_pattern(text: str) -> HostPattern:
    """Return the pattern of hosts that a text is.

    Raises: `RuleError`.
    """
    return HostPattern.parse(text, _read_host)


def _read_host(text: str) -> str | None:
    from permitry.actions.hosts import read_host  # noqa: PLC0415 -- of no use to rules that name no host

    return read_host(text)


def accesses(words: Iterable[str], paths: Collection[str]) -> frozenset[Access]:
    """Return what has to happen to the paths for the condition to hold; empty for anything.

    Raises: `RuleError`.
    """
    found = frozenset(map(Access, words))
    # INVARIANT: law 3. It would be no condition at all, and a permission with it would cover every call.
    if found and not paths:
        raise RuleError('`access` without `path`; say of which paths: `path = "/**"` is all of them')
    return found


def arguments(table: Mapping[str, Any], above: Place = ()) -> Iterator[tuple[Place, object]]:
    """Yield where each test of an argument stands, and the test.

    A table without operators whose values are tables is an object on the way to nested arguments.
    """
    from permitry.rules.conditions.args import OPERATORS  # noqa: PLC0415 -- of no use to rules without arguments

    for name, raw in table.items():
        is_object = isinstance(raw, dict) and raw and all(isinstance(inner, dict) for inner in raw.values())
        if is_object and not set(raw) & set(OPERATORS):
            yield from arguments(raw, (*above, name))
        else:
            yield (*above, name), raw


def argument(place: Place, raw: object) -> "ArgumentCondition":
    """Return the test of the argument at `place`.

    Raises: `RuleError`.
    """
    from permitry.rules.conditions.args import argument_condition  # noqa: PLC0415 -- loaded on first use

    return argument_condition(tuple(map(str, place)), raw)


def _conditions(given: Given) -> Conditions:
    return Conditions(
        plain=tuple(_plain(given)),
        commands=tuple(ArgvPattern(text) for text in given.get("command", ())),
        paths=tuple(PathPattern(text) for text in given.get("path", ())),
        hosts=tuple(host_pattern(text) for text in given.get("host", ())),
        accesses=accesses(given.get("access", ()), given.get("path", ())),
    )


def _plain(given: Given) -> Iterator[Condition]:
    for name, kind in _PLAIN.items():
        if name in given:
            value = given[name]
            # Each condition is a file, and few rules need any of them.
            build = getattr(importlib.import_module(f"permitry.rules.conditions.{name}"), kind)
            yield build(tuple(map(Pattern, value)) if name in _OF_PATTERNS else value)
    if given.get("args"):
        for place, raw in arguments(given["args"]):
            yield argument(place, raw)
