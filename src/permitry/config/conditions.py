"""From the conditions of a rule, as they are written under keys, to what the rule is about."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

from permitry.errors import RuleError
from permitry.rules.conditions.access import AccessCondition
from permitry.rules.conditions.command import ArgvPattern
from permitry.rules.conditions.host import HostPattern
from permitry.rules.conditions.keys import CONDITIONS, condition
from permitry.rules.conditions.path import PathPattern
from permitry.rules.conditions.scope import Conditions, Scope
from permitry.rules.conditions.tools import ToolSelector
from permitry.rules.conditions.written import Place, PlainCondition, Value, Written

__all__ = ["Given", "Place", "Refusals", "host_pattern", "scope_of"]

Given: TypeAlias = Mapping[str, Any]
"""The conditions of a `when` or `unless` that are given, by key, as a rule file has them."""

Refusals: TypeAlias = list[tuple[Place, RuleError]]
"""What cannot be read, each with its place in the rule."""

_NO_CONDITIONS = Conditions()
_Kind = TypeVar("_Kind", bound=Written)


def scope_of(tools: Iterable[str], when: Given | None, unless: Given | None, refusals: Refusals | None = None) -> Scope:
    """Return what a rule is about; what cannot be read is added to `refusals`, and left out.

    Raises: `RuleError` for the first that cannot be read, without `refusals`.
    """
    return Scope(
        tuple(map(ToolSelector, tools)),
        _NO_CONDITIONS if when is None else _conditions("when", when, refusals),
        None if unless is None else _conditions("unless", unless, refusals),
    )


def host_pattern(text: str) -> HostPattern:
    """Return the pattern of hosts that a text is.

    Raises: `RuleError`.
    """
    return HostPattern.parse(text, _read_host)


def _read_host(text: str) -> str | None:
    from permitry.actions.hosts import read_host  # noqa: PLC0415 -- of no use to rules that name no host

    return read_host(text)


def _conditions(name: str, given: Given, refusals: Refusals | None) -> Conditions:
    found: list[Written] = []
    for place, kind, part in _parts(given):
        try:
            found.append(_read(kind, place[1:], part, given))
        except RuleError as error:
            if refusals is None:
                raise
            refusals.append(((name, *place), error))
    accesses = (each.accesses for each in _of(AccessCondition, found))
    return Conditions(
        plain=tuple(each for each in found if isinstance(each, PlainCondition)),
        commands=_of(ArgvPattern, found),
        paths=_of(PathPattern, found),
        hosts=_of(HostPattern, found),
        accesses=frozenset().union(*accesses),
    )


def _parts(given: Given) -> Iterator[tuple[Place, type[Written], Value]]:
    for key in CONDITIONS:
        if key in given:
            kind = condition(key)
            yield from (((key, *place), kind, part) for place, part in kind.parts(given[key]))


def _read(kind: type[Written], place: Place, part: Value, given: Given) -> Written:
    if kind is HostPattern:
        # Rules cannot import the reader of addresses.
        return host_pattern(part)
    # INVARIANT: law 3. It would not be a condition: a permission with it would cover every call.
    if kind is AccessCondition and "path" not in given:
        raise RuleError('`access` without `path`; say of which paths: `path = "/**"` is all of them')
    return kind.read(place, part)


def _of(kind: type[_Kind], found: Iterable[Written]) -> tuple[_Kind, ...]:
    return tuple(each for each in found if isinstance(each, kind))
