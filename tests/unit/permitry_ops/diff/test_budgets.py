"""Budgets of two rules: when the earlier one is spent, and the later one is not."""

import pytest
from tests.unit.permitry_ops.diff.conftest import side_of

from permitry.rules.configured import ConfiguredRule
from permitry_ops.diff.budgets import spend


def rule_of(budget: str, effect: str = "allow") -> ConfiguredRule:
    """Return a rule with a budget, or without one."""
    limit = f"budget = {{ {budget} }}\n" if budget else ""
    return side_of(f'[[rule]]\nid = "a"\neffect = "{effect}"\ntools = ["x"]\n{limit}').rules.rules[0]


@pytest.mark.parametrize(
    ("old", "new", "effect", "calls"),
    [
        ("calls = 3", "calls = 5", "allow", 3),
        ("calls = 3", "", "allow", 3),
        ("calls = 5", "calls = 3", "allow", None),
        ("", "calls = 3", "allow", None),
        ("calls = 3", "calls = 5", "block", 3),
        ("", "calls = 5", "block", 0),
        ("calls = 5", "", "block", None),
        ("", "", "block", None),
    ],
)
def test_so_many_calls_were_counted(old: str, new: str, effect: str, calls: int | None) -> None:
    """As the earlier budget lets through, where the later one lets more."""
    context, unsolved = spend(rule_of(old, effect), rule_of(new, effect))
    assert unsolved == ()
    assert (len(context["history"]) if context else None) == calls


def test_a_shared_budget_is_counted_in_a_store() -> None:
    """By the id of its rule."""
    old, new = (rule_of(f"calls = {calls}, per = '1h', by = 'principal'") for calls in (3, 5))
    assert spend(old, new) == ({"shared": {"a": 3}}, ())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("calls = 3, per = '1h'", "calls = 3, per = '1m'"),
        ("targets = 3", "targets = 5"),
        ("calls = 3, by = 'tool'", "calls = 5, by = 'tool'"),
        ("calls = 3000", "calls = 5000"),
    ],
)
def test_what_is_not_compared_is_said(old: str, new: str) -> None:
    """Other windows, targets, and more calls than a line can have."""
    assert spend(rule_of(old), rule_of(new)) == ({}, ("`budget`",))
