"""What every check looks at, and what it yields."""

import functools
from collections.abc import Iterator, Mapping

import attrs

from permitry.config.lint.drafts import Drafts
from permitry.config.load import RuleSet
from permitry.core.decision import Verdict
from permitry.core.spec import ToolSpec
from permitry.core.well_known import WELL_KNOWN
from permitry.rules.conditions.scope import Conditions
from permitry.rules.configured import ConfiguredRule

__all__ = ["Finding", "Subject", "all_conditions", "finding_in", "is_unconditional"]


@attrs.frozen
class Finding:
    """Something odd: the kebab-case id of the check, the rule, its `file:line`, why it is odd, and what to do.

    `rule_id` is None where it is about a template.
    """

    kind: str
    rule_id: str | None
    source: str
    reason: str
    suggestion: str


@attrs.frozen
class Subject:
    """The rules that are looked at, the tables they were made from, and the names of all tools, if they are known."""

    rules: RuleSet
    drafts: Drafts = attrs.field(factory=Drafts)
    listed: frozenset[str] | None = None

    @functools.cached_property
    def specs(self) -> Mapping[str, ToolSpec]:
        """What is known about tools, by name; what the files declare comes before what names are known for."""
        return {**WELL_KNOWN, **self.rules.tools}

    @functools.cached_property
    def permissions(self) -> tuple[ConfiguredRule, ...]:
        """The rules that allow, in the order in which they are asked."""
        return tuple(rule for rule in self._in_order if rule.effect is Verdict.ALLOW)

    @functools.cached_property
    def restrictions(self) -> tuple[ConfiguredRule, ...]:
        """The rules that confirm or block, in the order in which they are asked."""
        return tuple(rule for rule in self._in_order if rule.effect is not Verdict.ALLOW)

    @functools.cached_property
    def marking(self) -> frozenset[str]:
        """The ids of the rules that leave a label when a call runs."""
        return frozenset(flow.id for flow in self.rules.flows if flow.label is not None)

    @property
    def _in_order(self) -> list[ConfiguredRule]:
        return sorted(self.rules.rules, key=lambda rule: rule.priority_number)


def finding_in(rule: ConfiguredRule, kind: str, reason: str, suggestion: str) -> Finding:
    """Return a finding about a rule."""
    return Finding(kind, rule.id, rule.source or "code", reason, suggestion)


def is_unconditional(rule: ConfiguredRule) -> bool:
    """Return whether the rule holds for its tools always."""
    return rule.scope.when == Conditions() and rule.scope.unless is None and rule.budget is None


def all_conditions(rule: ConfiguredRule) -> Iterator[Conditions]:
    """Yield `when`, and `unless` if there is one."""
    yield rule.scope.when
    if rule.scope.unless is not None:
        yield rule.scope.unless
