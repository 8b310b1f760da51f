"""One side of a comparison: rules as they were loaded, and what they say of a call as `permitry check` takes it."""

import functools
import operator
from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs

from permitry.conditions.match import Match
from permitry.config.ruleset import RuleSet
from permitry.core.action import Roots
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.core.spec import ToolSpec
from permitry.golden.request import read_request
from permitry.rules.configured import ConfiguredRule
from permitry_ops.diff.ways import Literal, Patterns, Truth

__all__ = ["Line", "Side"]

Line: TypeAlias = Mapping[str, Any]
"""One call and its context, as a JSON object: a line of `permitry check --calls`."""


_WORDS = ("id", "reason", "message", "source")
_meaning_of = operator.attrgetter(
    *(each.name for each in attrs.fields(ConfiguredRule) if each.eq and each.name not in _WORDS)
)


@attrs.frozen(cache_hash=True)
class Meaning:
    """All of a rule that changes a verdict, without its words for people: what it is called counts for a budget alone.

    `lists` are those to which a session may add.
    """

    parts: tuple[object, ...]
    rule_id: str
    lists: tuple[str, ...]

    @classmethod
    def of(cls, rule: ConfiguredRule) -> "Meaning":
        """Return that of a rule."""
        return cls(_meaning_of(rule), rule.id if rule.budget is not None else "", tuple(sorted(rule.lists)))


@attrs.frozen
class Side:
    """The rules of one side, and their policy."""

    rules: RuleSet
    policy: AuthorizationPolicy
    workspace: str

    @classmethod
    def of(cls, rules: RuleSet, workspace: str, *, has_disk: bool = True) -> "Side":
        """Return the side of some rules; without a disk no link is looked up."""
        return cls(rules, rules.policy(has_disk=has_disk), workspace)

    @functools.cached_property
    def by_id(self) -> Mapping[str, ConfiguredRule]:
        """Its rules out of files."""
        return {each.id: each for each in self.rules.rules}

    @functools.cached_property
    def meanings(self) -> Mapping[str, Meaning]:
        """What each of its rules means, by its id."""
        return {each.id: Meaning.of(each) for each in self.rules.rules}

    def request(self, line: Line) -> Request:
        """Return what its rules are asked about a call. Raises: `CallError`."""
        asked = read_request(line, self.rules.templates, self.workspace)
        return self.policy.request(asked.call, asked.context, asked.spec)

    def decide(self, line: Line) -> Decision:
        """Return what its rules decide. Raises: `CallError`."""
        asked = read_request(line, self.rules.templates, self.workspace)
        return self.policy.decide(asked.call, asked.context, asked.spec)

    def tool(self, name: str) -> ToolSpec | None:
        """Return what is known of a tool by its name."""
        return self.policy.request(ToolCall(name), AuthContext(workspace=self.workspace)).tool

    @property
    def roots(self) -> Roots:
        """What patterns of paths are relative to."""
        call = ToolCall("read_file", {"path": "a"})
        return self.policy.request(call, AuthContext(workspace=self.workspace)).actions.roots

    def truth(self, literal: Literal, request: Request) -> Truth | None:
        """Return whether a part of a rule is true of a request; None for patterns, which only a rule can tell."""
        part, needed = literal.part, literal.needed
        if isinstance(part, Patterns):
            return None
        try:
            if isinstance(part, tuple):
                match = max((each.match(request, needed) for each in part), default=Match.NO)
            else:
                match = part.match(request, needed)
        except Exception:  # noqa: BLE001 -- law 2: a condition that cannot be evaluated is neither true nor false
            return Truth.UNKNOWN
        return Truth.TRUE if match >= needed else Truth.FALSE
