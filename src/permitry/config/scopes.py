"""From `tools`, `when` and `unless` to what a rule is about, and what is wrong with their conditions."""

import functools
from collections.abc import Callable, Iterator

from permitry.config.conditions import Given, accesses, argument, arguments, host_pattern, scope_of
from permitry.config.drafts import RuleDraft
from permitry.config.locate import KeyPath
from permitry.config.schema import RuleTable, WhenTable
from permitry.errors import Problem, RuleError
from permitry.rules.conditions.command import ArgvPattern
from permitry.rules.conditions.path import PathPattern
from permitry.rules.conditions.scope import Scope

__all__ = ["build_scope", "condition_problems", "given_conditions", "has_condition"]


def has_condition(table: WhenTable) -> bool:
    """Return whether a `when` or `unless` names any condition."""
    return any(value not in (None, {}) for _, value in table)


def given_conditions(table: WhenTable | None) -> Given | None:
    """Return the conditions of a `when` or `unless` that are given, by name."""
    return None if table is None else {name: value for name, value in table if value is not None}


def build_scope(table: RuleTable) -> Scope:
    """Return what a rule is about.

    Raises: `RuleError` for a condition that cannot be read.
    """
    return scope_of(table.tools or (), given_conditions(table.when), given_conditions(table.unless))


def condition_problems(draft: RuleDraft) -> Iterator[Problem]:
    """Yield the conditions of a rule that cannot be read, each with its place."""
    for key, table in (("when", draft.table.when), ("unless", draft.table.unless)):
        for place, build in () if table is None else _builders(table):
            try:
                build()
            except RuleError as error:
                message, _, hint = str(error).rpartition("; ") if "; " in str(error) else (str(error), "", "")
                yield draft.source.problem((*draft.path, key, *place), message, hint)


def _builders(table: WhenTable) -> Iterator[tuple[KeyPath, Callable[[], object]]]:
    """Yield what has to be read in a table of conditions, and where it stands."""
    for i, text in enumerate(table.command or ()):
        yield ("command", i), functools.partial(ArgvPattern, text)
    for i, text in enumerate(table.path or ()):
        yield ("path", i), functools.partial(PathPattern, text)
    if table.access:
        yield ("access",), functools.partial(accesses, table.access, table.path or ())
    for i, text in enumerate(table.host or ()):
        yield ("host", i), functools.partial(host_pattern, text)
    for place, raw in arguments(table.args) if table.args else ():
        yield ("args", *place), functools.partial(argument, place, raw)
