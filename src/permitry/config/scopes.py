"""From `tools`, `when` and `unless` to the scope of a rule, and their problems."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from permitry.conditions.scope import Scope
from permitry.config.conditions import Place, Refusals, scope_of
from permitry.config.drafts import RuleDraft
from permitry.config.lists import NamedList, uses_of
from permitry.errors import Problem

__all__ = ["read_scope"]


def read_scope(
    draft: RuleDraft,
    lists: Mapping[str, NamedList] = MappingProxyType({}),
    *,
    trusted: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[Scope, list[Problem]]:
    """Return the scope of a rule that may name these lists and trusted fields, and the problems of its conditions."""
    refusals: Refusals = []
    table = draft.table
    uses = uses_of(dict(table), lists, trusted)
    scope = scope_of(table.tools or (), table.when, table.unless, refusals, uses=uses, runs_any=bool(table.runs_any))
    problems = []
    for place, error in refusals:
        message, _, hint = str(error).rpartition("; ") if "; " in str(error) else (str(error), "", "")
        given = {"when": table.when, "unless": table.unless}
        problems.append(draft.problem((*place, *_find_place(given, place, message)), message, hint))
    return scope, problems


def _find_place(given: object, place: Place, message: str) -> Place:
    """Return the path, from a place on, to the text that a message names; empty if none."""
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
