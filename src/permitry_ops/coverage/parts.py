"""The parts of a rule, each as a scope by itself, which the engine is asked about."""

from collections.abc import Iterator
from typing import Any

import attrs

from permitry.conditions.match import Match
from permitry.conditions.scope import Condition, Conditions, Scope
from permitry.core.decision import Verdict
from permitry.core.rule import Request, Unsure
from permitry.errors import UnevaluableError
from permitry.rules.configured import ConfiguredRule
from permitry_ops.diff.ways import Literal, Truth

__all__ = ["KINDS", "Part", "ask", "describe", "list_parts", "truth_of"]

KINDS = (("commands", "command"), ("paths", "path"), ("hosts", "host"))
"""The fields of conditions that have patterns, and their keys in a rule file."""


@attrs.frozen
class Part:
    """A selector, a condition, or a pattern of a rule, as a scope that has nothing else.

    `is_certain`: it is read as a permission reads it, so that what only may hold does not. `can_fail`: a call for which
    it does not hold shows something.
    """

    name: str
    scope: Scope
    is_certain: bool
    can_fail: bool = True


def list_parts(rule: ConfiguredRule) -> Iterator[Part]:
    """Yield the parts of a rule in the order of its file: tools, `when`, `unless`."""
    is_permission = rule.effect is Verdict.ALLOW
    for each in rule.scope.selectors:
        # That one of several selects no other tool shows nothing.
        yield Part(f"tools `{each.text}`", Scope((each,)), is_permission, can_fail=False)
    yield from _of_conditions(rule.scope.when, "when", is_certain=is_permission)
    for conditions in rule.scope.unless:
        # An exception of a permission takes back what it may be about, one of a restriction lifts what is certain.
        yield from _of_conditions(conditions, "unless", is_certain=not is_permission)


def _of_conditions(conditions: Conditions, where: str, *, is_certain: bool) -> Iterator[Part]:
    for each in conditions.plain:
        yield Part(describe(each, where), Scope(when=Conditions((each,))), is_certain)
    for field, kind in KINDS:
        for pattern in getattr(conditions, field):
            yield Part(f"{where}.{kind} `{pattern.text}`", Scope(when=_alone(conditions, field, pattern)), is_certain)


def _alone(conditions: Conditions, field: str, pattern: object) -> Conditions:
    """Return one pattern with what limits those of its kind."""
    only: dict[str, Any] = {"plain": (), **{other: () for other, _ in KINDS}, field: (pattern,)}
    return attrs.evolve(conditions, **only)


def describe(condition: Condition, where: str) -> str:
    """Return the key of a condition in `when` or `unless`, and what it asks for."""
    key = f"{where}.{Literal(condition, frozenset(), Match.YES).name}"
    expected = condition.expected
    return key if expected is None else f"{key} {expected}"


def ask(scope: Scope, request: Request, *, is_certain: bool) -> Truth:
    """Return whether the engine says that a scope holds for a call; `UNKNOWN` where it only may, or is not known."""
    try:
        answer = _permits(scope, request) if is_certain else scope.restricts(request)
    except UnevaluableError:
        return Truth.UNKNOWN
    return truth_of(answer)


def truth_of(answer: object) -> Truth:
    """Return the truth that an answer of the engine is; `UNKNOWN` where a rule only may match."""
    if isinstance(answer, Unsure):
        return Truth.UNKNOWN
    return Truth.TRUE if answer else Truth.FALSE


def _permits(scope: Scope, request: Request) -> bool:
    """Return whether a permission with a scope permits a call, or a part of it."""
    return bool(scope.covers(request)) or scope.permits(request, is_alone=False)
