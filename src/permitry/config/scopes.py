"""From `tools`, `when` and `unless` to what a rule is about, and what is wrong with their conditions."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from permitry.actions.hosts import read_host
from permitry.config.drafts import RuleDraft
from permitry.config.locate import KeyPath
from permitry.config.schema import RuleTable, WhenTable
from permitry.core.pattern import Pattern
from permitry.errors import Problem, RuleError
from permitry.rules.conditions.agent import AgentCondition
from permitry.rules.conditions.arguments import OPERATORS, ArgumentCondition, argument_condition
from permitry.rules.conditions.command import ArgvPattern
from permitry.rules.conditions.digest import DigestCondition
from permitry.rules.conditions.host import HostPattern
from permitry.rules.conditions.label import LabelCondition
from permitry.rules.conditions.mode import ModeCondition
from permitry.rules.conditions.path import PathPattern
from permitry.rules.conditions.repaired import RepairedCondition
from permitry.rules.conditions.repeat import RepeatCondition
from permitry.rules.conditions.scope import Condition, Conditions, Scope
from permitry.rules.conditions.server import ServerCondition
from permitry.rules.conditions.template import TemplateCondition
from permitry.rules.conditions.tool_digest import ToolDigestCondition
from permitry.rules.conditions.tools import ToolSelector

__all__ = ["build_scope", "condition_problems", "has_condition"]


def has_condition(table: WhenTable) -> bool:
    """Return whether a `when` or `unless` names any condition."""
    return any(value not in (None, {}) for _, value in table)


def build_scope(table: RuleTable) -> Scope:
    """Return what a rule is about.

    Raises: `RuleError` for a condition that cannot be read.
    """
    selectors = tuple(ToolSelector(text) for text in table.tools or ())
    unless = None if table.unless is None else _conditions(table.unless)
    return Scope(selectors, Conditions() if table.when is None else _conditions(table.when), unless)


def condition_problems(draft: RuleDraft) -> Iterator[Problem]:
    """Yield the conditions of a rule that cannot be read, each with its place."""
    for key, table in (("when", draft.table.when), ("unless", draft.table.unless)):
        for place, build in () if table is None else _builders(table):
            try:
                build()
            except RuleError as error:
                message, _, hint = str(error).rpartition("; ") if "; " in str(error) else (str(error), "", "")
                yield draft.source.problem((*draft.path, key, *place), message, hint)


def _conditions(table: WhenTable) -> Conditions:
    return Conditions(
        plain=tuple(_plain(table)),
        commands=tuple(ArgvPattern(text) for text in table.command or ()),
        paths=tuple(PathPattern(text) for text in table.path or ()),
        hosts=tuple(HostPattern.parse(text, read_host) for text in table.host or ()),
    )


def _patterns(texts: Iterable[str]) -> tuple[Pattern, ...]:
    return tuple(map(Pattern, texts))


_PLAIN: Mapping[str, Callable[[Any], Condition]] = {
    "mode": ModeCondition,
    "agent": lambda texts: AgentCondition(_patterns(texts)),
    "template": TemplateCondition,
    "server": lambda texts: ServerCondition(_patterns(texts)),
    "label": LabelCondition,
    "digest": DigestCondition,
    "tool_digest": ToolDigestCondition,
    "repeat": RepeatCondition,
    "repaired": RepairedCondition,
}


def _plain(table: WhenTable) -> Iterator[Condition]:
    for name, build in _PLAIN.items():
        if (value := getattr(table, name)) is not None:
            yield build(value)
    for place, raw in _arguments(table.args or {}):
        yield _argument(place, raw)


def _builders(table: WhenTable) -> Iterator[tuple[KeyPath, Callable[[], object]]]:
    """Yield what has to be read in a table of conditions, and where it stands."""
    for i, text in enumerate(table.command or ()):
        yield ("command", i), functools.partial(ArgvPattern, text)
    for i, text in enumerate(table.path or ()):
        yield ("path", i), functools.partial(PathPattern, text)
    for i, text in enumerate(table.host or ()):
        yield ("host", i), functools.partial(HostPattern.parse, text, read_host)
    for place, raw in _arguments(table.args or {}):
        yield ("args", *place), functools.partial(_argument, place, raw)


def _arguments(table: Mapping[str, Any], above: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """Yield where each test of an argument stands, and the test.

    A table without operators whose values are tables is an object on the way to nested arguments.
    """
    for name, raw in table.items():
        is_object = isinstance(raw, dict) and raw and all(isinstance(inner, dict) for inner in raw.values())
        if is_object and not set(raw) & set(OPERATORS):
            yield from _arguments(raw, (*above, name))
        else:
            yield (*above, name), raw


def _argument(place: KeyPath, raw: object) -> ArgumentCondition:
    return argument_condition(".".join(map(str, place)), raw)
