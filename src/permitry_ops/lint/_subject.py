"""The input of every check, and the findings that it yields."""

import bisect
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import attrs

from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.config.drafts import Drafts
from permitry.config.load import RuleSet
from permitry.core.decision import Phase, Verdict
from permitry.core.pattern import Pattern
from permitry.core.rule import phase_of
from permitry.core.spec import ToolSpec
from permitry.core.well_known import WELL_KNOWN
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._facts import needs_within, scope_facts, word_needs
from permitry_ops.lint._index import Index, Key
from permitry_ops.lint._schemas import Schema
from permitry_ops.lint._scopes import selects_tool

__all__ = [
    "BUILT_IN_TOOLS",
    "Finding",
    "Subject",
    "describe_effect",
    "is_about_commands_alone",
    "is_unconditional",
    "report_finding",
]

_MOST_COMPARED = 500
BUILT_IN_TOOLS = frozenset({"present_plan"})


@attrs.frozen
class Finding:
    """A likely mistake: the check, the rule (None for a template), its place, why, what to do."""

    kind: str
    rule_id: str | None
    source: str
    reason: str
    suggestion: str
    level: Literal["error", "warning"] = attrs.field(default="warning", kw_only=True)


@attrs.frozen
class Subject:
    """The rules that are checked, the tables they were made from, and what is known of all tools.

    `listed` are the names of all tools, None when they are not known; `schemas` the JSON Schemas of their arguments.
    `has_prompts`: the host passes on what the user writes.
    """

    rules: RuleSet
    drafts: Drafts = attrs.field(factory=Drafts)
    listed: frozenset[str] | None = None
    schemas: Mapping[str, Schema] = attrs.field(factory=dict)
    has_prompts: bool = True

    @functools.cached_property
    def specs(self) -> Mapping[str, ToolSpec]:
        """Declarations of tools by name: those of the files, then those of well-known names."""
        return {**WELL_KNOWN, **self.rules.tools}

    @functools.cached_property
    def permissions(self) -> tuple[ConfiguredRule, ...]:
        """The rules that allow, in the order of evaluation."""
        return tuple(rule for rule in self._in_order if rule.effect is Verdict.ALLOW)

    @functools.cached_property
    def restrictions(self) -> tuple[ConfiguredRule, ...]:
        """The rules that confirm or block whatever is permitted, in the order of evaluation."""
        return tuple(rule for rule in self._in_order if phase_of(rule.priority()) is Phase.RESTRICTION)

    @functools.cached_property
    def questions(self) -> tuple[ConfiguredRule, ...]:
        """The `confirm` rules among the permissions, in the order of evaluation."""
        in_order = (rule for rule in self._in_order if rule.effect is Verdict.CONFIRM)
        return tuple(rule for rule in in_order if phase_of(rule.priority()) is Phase.PERMISSION)

    @functools.cached_property
    def blocks(self) -> tuple[ConfiguredRule, ...]:
        """The rules that block, in the order of evaluation."""
        return tuple(rule for rule in self.restrictions if rule.effect is Verdict.BLOCK)

    @functools.cached_property
    def order(self) -> Mapping[str, int]:
        """The index of each rule in the order of evaluation, by its id."""
        return {rule.id: number for number, rule in enumerate(self._in_order)}

    @functools.cached_property
    def scopes(self) -> Mapping[str, Scope]:
        """The scopes of all rules by their ids, also of those that only set a label."""
        flows = {flow.id: flow.scope for flow in self.rules.flows}
        return {rule.id: rule.scope for rule in self.rules.rules} | flows

    @functools.cached_property
    def compared(self) -> Sequence[str]:
        """The names that a misspelt one may mean, without the declared ones if they are many."""
        declared = () if len(self.rules.tools) > _MOST_COMPARED else self.rules.tools
        return sorted({*BUILT_IN_TOOLS, *WELL_KNOWN, *declared})

    @functools.cached_property
    def names(self) -> Sequence[str] | None:
        """The sorted names of all tools, including declared ones; None if they are not known."""
        return None if self.listed is None else sorted({*self.listed, *self.rules.tools, *BUILT_IN_TOOLS})

    @functools.cached_property
    def facts(self) -> Mapping[str, frozenset[Key]]:
        """The facts of each rule, by its id, to find rules that contain it."""
        return {rule.id: frozenset(scope_facts(rule.scope)) for rule in self.rules.rules}

    @functools.cached_property
    def plain_permissions(self) -> Index:
        """The permissions without conditions, to find those that contain a scope."""
        return Index(filter(is_unconditional, self.permissions), needs_within)

    @functools.cached_property
    def plain_blocks(self) -> Index:
        """The blocks without conditions, to find those that contain a scope."""
        return Index(filter(is_unconditional, self.blocks), needs_within)

    @functools.cached_property
    def steady_blocks(self) -> Index:
        """The blocks without a budget, to find those that contain a scope."""
        return Index((rule for rule in self.blocks if rule.budget is None), needs_within)

    @functools.cached_property
    def command_blocks(self) -> Index:
        """The blocks whose only conditions are on commands, to find those that may apply to a command."""
        return Index(filter(is_about_commands_alone, self.blocks), word_needs)

    @functools.cached_property
    def selected(self) -> Callable[[ToolSelector], tuple[str, ...]]:
        """A function that returns the tools that a selector may select; an undeclared tool may have any trait."""
        return functools.cache(self._select)

    def fitting(self, pattern: Pattern) -> Iterator[str]:
        """Yield the names of tools that match a pattern, found in the sorted names."""
        names = self.names or ()
        head = pattern.text.replace("?", "*").partition("*")[0]
        near = itertools.islice(names, bisect.bisect_left(names, head), None)
        return filter(pattern.matches, itertools.takewhile(lambda name: name.startswith(head), near))

    def _select(self, selector: ToolSelector) -> tuple[str, ...]:
        if selector.pattern is None:
            names: Iterable[str] = (name for name in self.names or () if self._may_select(selector, name))
        else:
            names = (selector.text,) if selector.pattern.is_exact else self.fitting(selector.pattern)
        return tuple(name for name in names if name not in BUILT_IN_TOOLS)

    def _may_select(self, selector: ToolSelector, name: str) -> bool:
        return name not in self.specs or selects_tool(selector, name, self.specs)

    def has_examples(self, rule_id: str) -> bool:
        """Return whether examples show what a rule matches."""
        draft = self.drafts.rules.get(rule_id)
        return draft is not None and bool(draft.table.match)

    def source_of(self, rule_id: str) -> str:
        """Return the `file:line` of a rule."""
        draft = self.drafts.rules.get(rule_id)
        if draft is not None:
            return draft.place
        place = self.order.get(rule_id)
        return (None if place is None else self._in_order[place].source) or "code"

    @functools.cached_property
    def _in_order(self) -> list[ConfiguredRule]:
        return sorted(self.rules.rules, key=lambda rule: rule.priority_number)


def report_finding(rule: ConfiguredRule, kind: str, reason: str, suggestion: str) -> Finding:
    """Return a finding about a rule."""
    return Finding(kind, rule.id, rule.source or "code", reason, suggestion)


def describe_effect(restriction: ConfiguredRule) -> str:
    """Return what a restriction does to calls."""
    return "blocks" if restriction.effect is Verdict.BLOCK else "asks about"


def is_unconditional(rule: ConfiguredRule) -> bool:
    """Return whether the rule has no conditions, so that it always applies to its tools."""
    return rule.scope.when == Conditions() and not rule.scope.unless and rule.budget is None


def is_about_commands_alone(rule: ConfiguredRule) -> bool:
    """Return whether the only conditions of a rule are on commands."""
    when = rule.scope.when
    has_more = bool(rule.scope.unless) or rule.budget is not None
    return bool(when.commands) and when == Conditions(commands=when.commands) and not has_more
