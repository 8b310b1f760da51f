"""Budgets of two rules: a context in which the smaller one is spent, and the larger one is not."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs

from permitry.conditions.budget import Budget
from permitry.core.decision import Verdict
from permitry.rules.configured import ConfiguredRule

__all__ = ["Spent", "exhaust", "spend"]

_MOST_CALLS = 1_000
_COUNTED = ("session", "agent")
Spent: TypeAlias = tuple[Mapping[str, Any], tuple[str, ...]]
"""A context as a line of `permitry check` has it, empty where there is none, and what is not solved."""

_NOTHING: Spent = {}, ()
_UNSOLVED: Spent = {}, ("`budget`",)


def spend(earlier: ConfiguredRule, later: ConfiguredRule) -> Spent:
    """Return a context in which the budget of a rule is spent, if the later one is larger, or that it is not solved."""
    before, after = earlier.budget, later.budget
    if before is not None and after is not None and not _are_alike(before, after):
        return _UNSOLVED
    budget = before or after
    if budget is None or _most_of(later) <= _most_of(earlier):
        return _NOTHING
    return _count(budget, later.id, int(_most_of(earlier)))


def exhaust(rule: ConfiguredRule) -> Spent:
    """Return a context in which the budget of a rule is spent, empty without one, or that it is not solved."""
    return _NOTHING if rule.budget is None else _count(rule.budget, rule.id, rule.budget.most)


def _are_alike(one: Budget, other: Budget) -> bool:
    """Return whether two budgets differ in nothing but how much they let through."""
    return attrs.evolve(one, most=other.most, rule_id=other.rule_id) == other


def _most_of(rule: ConfiguredRule) -> float:
    """Return how many calls a budget lets through; without one a permission lets all, and a restriction none."""
    if rule.budget is not None:
        return rule.budget.most
    return float("inf") if rule.effect is Verdict.ALLOW else 0


def _count(budget: Budget, rule_id: str, calls: int) -> Spent:
    """Return a context in which so many calls were counted for a budget."""
    if budget.limit is not None:
        return {"shared": {rule_id: calls}}, ()
    if budget.of != "calls" or budget.by not in _COUNTED or calls > _MOST_CALLS:
        return _UNSOLVED
    return {"now": 0, "history": [{"at": 0, "tool": "tool", "rules": [rule_id]}] * calls}, ()
