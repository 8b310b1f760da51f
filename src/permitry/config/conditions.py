"""From the conditions of a rule file, which are values under keys, to the scope of a rule."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import attrs

from permitry.conditions.access import AccessCondition
from permitry.conditions.args import ArgumentCondition, LinkReader, argument_conditions
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.keys import CONDITIONS, condition
from permitry.conditions.listed import EmptyList
from permitry.conditions.looks import LooksCondition
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Condition, Conditions, Scope
from permitry.conditions.tools import ToolsCondition, ToolSelector
from permitry.conditions.written import Place, PlainCondition, Value, Written
from permitry.config._list_reader import ListReader
from permitry.config.lists import ListUses
from permitry.core.action import Connect
from permitry.core.source import Lists
from permitry.errors import Problem, RuleError

if TYPE_CHECKING:
    from permitry.config.drafts import RuleDraft

__all__ = ["Given", "Place", "Refusals", "host_pattern", "read_scope", "scope_of"]

Given: TypeAlias = Mapping[str, Any]
"""The conditions of a `when` or `unless`, by key, as a rule file has them."""

Refusals: TypeAlias = list[tuple[Place, RuleError]]
"""The errors of invalid conditions, each with the path of the condition in the rule."""

_NO_CONDITIONS = Conditions()
_NO_LISTS = ListUses()
_Kind = TypeVar("_Kind", bound=Written)


def scope_of(
    tools: Iterable[str],
    when: Given | None,
    unless: Sequence[Given] | None,
    refusals: Refusals | None = None,
    *,
    uses: ListUses = _NO_LISTS,
    runs_any: bool = False,
) -> Scope:
    """Return the scope of a rule without invalid conditions; their errors are added to `refusals`.

    `runs_any`: its commands may run any other. Raises: `RuleError` if `refusals` is None.
    """
    names: set[str] = set()
    in_when, in_unless = (ListReader(uses, names, is_unless=is_unless) for is_unless in (False, True))
    conditions = _NO_CONDITIONS if when is None else _conditions(("when",), when, refusals, in_when)
    scope = Scope(
        tuple(map(ToolSelector, tools)),
        attrs.evolve(conditions, runs_any=True) if runs_any else conditions,
        [_conditions(("unless", number), each, refusals, in_unless) for number, each in enumerate(unless or ())],
    )
    if not names:
        return scope
    written = functools.partial(scope_of, tuple(tools), when, unless, runs_any=runs_any)
    return attrs.evolve(scope, lists=frozenset(names), remake=functools.partial(_remake, written, uses))


def _remake(written: Callable[..., Scope], uses: ListUses, added: Lists) -> Scope:
    return written(uses=attrs.evolve(uses, added=added))


def host_pattern(text: str) -> HostPattern:
    """Return the pattern of hosts that a text denotes. Raises: `RuleError`."""
    return HostPattern.parse(text, _read_host)


def _read_host(text: str) -> str | None:
    from permitry.actions.hosts import read_host  # noqa: PLC0415 -- needed only by rules with hosts

    return read_host(text)


def _links_in(text: str) -> Sequence[Connect]:
    from permitry.actions.links import links_in  # noqa: PLC0415 -- needed only by rules with links

    return links_in(text)


_LINKS = LinkReader(_links_in, host_pattern)


def _conditions(at: Place, given: Given, refusals: Refusals | None, lists: ListReader) -> Conditions:
    found: list[Written] = []
    for place, kind, part in _parts(given):
        try:
            _check_place(kind, at, given)
            found += _read(kind, place[1:], part, lists)
        except RuleError as error:
            if refusals is None:
                raise
            refusals.append(((*at, *place), error))
    accesses = (each.accesses for each in _of(AccessCondition, found))
    plain: list[Condition] = [each for each in found if isinstance(each, PlainCondition)]
    return Conditions(
        plain=(*plain, *_without_values(given, found)),
        commands=_of(ArgvPattern, found),
        paths=_of(PathPattern, found),
        hosts=_of(HostPattern, found),
        accesses=frozenset().union(*accesses),
        looks=bool(_of(LooksCondition, found)),
    )


def _parts(given: Given) -> Iterator[tuple[Place, type[Written], Value]]:
    for key in CONDITIONS:
        if key in given:
            kind = condition(key)
            yield from (((key, *place), kind, part) for place, part in kind.parts(given[key]))


def _check_place(kind: type[Written], at: Place, given: Given) -> None:
    # INVARIANT: law 3. `access` alone restricts nothing: a permission with it would cover every call.
    if kind is AccessCondition and "path" not in given:
        raise RuleError('`access` without `path`; say of which paths: `path = "/**"` is all of them')
    if kind is LooksCondition and "command" not in given:
        raise RuleError('`looks` without `command`; say of which commands: `command = "*"` is all of them')
    if kind is ToolsCondition and at == ("when",):
        raise RuleError("`when.tools` is not a condition; write `tools = [...]` in the rule itself")


def _read(kind: type[Written], place: Place, part: Value, lists: ListReader) -> Iterable[Written]:
    if kind is ArgvPattern:
        return lists.command(part)
    if kind is PathPattern:
        return lists.patterns(part, PathPattern, f"./{part}")
    if kind is HostPattern:
        # The function that normalises a host is passed in: rules cannot import it.
        return lists.patterns(part, host_pattern, None)
    if kind is ArgumentCondition:
        return argument_conditions(place, lists.argument(part), _LINKS)
    return [kind.read(place, part)]


def _without_values(given: Given, found: Iterable[Written]) -> Iterator[Condition]:
    for kind in (ArgvPattern, PathPattern, HostPattern):
        # INVARIANT: without patterns there would be no condition, and a permission would cover every call.
        if kind.key in given and not _of(kind, found):
            yield EmptyList(tuple(given[kind.key]))


def _of(kind: type[_Kind], found: Iterable[Written]) -> tuple[_Kind, ...]:
    return tuple(each for each in found if isinstance(each, kind))


def read_scope(draft: "RuleDraft", known: ListUses = _NO_LISTS) -> tuple[Scope, list[Problem]]:
    """Return the scope of a rule that may name these lists, and the problems of its conditions."""
    refusals: Refusals = []
    table = draft.table
    uses, runs_any = known.of(dict(table)), bool(table.runs_any)
    scope = scope_of(table.tools or (), table.when, table.unless, refusals, uses=uses, runs_any=runs_any)
    problems = []
    for place, error in refusals:
        message, _, hint = str(error).rpartition("; ") if "; " in str(error) else (str(error), "", "")
        given = {"when": table.when, "unless": table.unless}
        problems.append(draft.problem((*place, *_find_place(given, place, message)), message, hint))
    return scope, problems


def _find_place(given: object, place: Place, message: str) -> Place:
    value: Any = given
    for key in place:
        value = value[key]
    return next((path for path, text in _texts(value) if f"`{text}`" in message), ())


def _texts(value: object) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str):
        yield (), value
    elif isinstance(value, Mapping | list | tuple):
        for key, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from (((key, *path), text) for path, text in _texts(inner))
