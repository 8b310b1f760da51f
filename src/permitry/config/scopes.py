"""From `tools`, `when` and `unless` to the scope of a rule, and their problems."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from permitry.config.conditions import Refusals, scope_of
from permitry.config.drafts import RuleDraft
from permitry.config.lists import ListUses, NamedList
from permitry.core.decision import Verdict
from permitry.errors import Problem
from permitry.rules.conditions.scope import Scope

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
    leaves = table.adds_label is not None or table.budget is not None
    uses = ListUses(lists, permits=table.effect == Verdict.ALLOW.value, leaves=leaves, trusted=trusted)
    scope = scope_of(table.tools or (), table.when, table.unless, refusals, uses=uses)
    problems = []
    for place, error in refusals:
        message, _, hint = str(error).rpartition("; ") if "; " in str(error) else (str(error), "", "")
        problems.append(draft.source.problem((*draft.path, *place), message, hint))
    return scope, problems
