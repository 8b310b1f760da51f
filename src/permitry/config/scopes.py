"""From `tools`, `when` and `unless` to the scope of a rule, and their problems."""

from permitry.config.conditions import Refusals, scope_of
from permitry.config.drafts import RuleDraft
from permitry.errors import Problem
from permitry.rules.conditions.scope import Scope

__all__ = ["read_scope"]


def read_scope(draft: RuleDraft) -> tuple[Scope, list[Problem]]:
    """Return the scope of a rule, and a problem for each invalid condition."""
    refusals: Refusals = []
    table = draft.table
    scope = scope_of(table.tools or (), table.when, table.unless, refusals)
    problems = []
    for place, error in refusals:
        message, _, hint = str(error).rpartition("; ") if "; " in str(error) else (str(error), "", "")
        problems.append(draft.source.problem((*draft.path, *place), message, hint))
    return scope, problems
