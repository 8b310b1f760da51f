"""The rules that a hook decides by, and their policy: made for one call, or kept by a process that answers many."""

import os
from collections import deque
from collections.abc import Sequence
from typing import Protocol

import attrs

from permitry.config.cache import RuleCache
from permitry.config.heard import Wanted, wanted_by
from permitry.config.origin import Origin
from permitry.config.ruleset import RuleSet
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec
from permitry.rules.configured import ConfiguredRule

__all__ = ["Policies"]

_MOST = 64


class _Loads(Protocol):
    def load(self, origins: Sequence[Origin], tool: str | None = None) -> RuleSet: ...


@attrs.frozen
class _Made:
    rules: RuleSet
    own: tuple[ConfiguredRule, ...]
    tool: str
    spec: ToolSpec | None
    home: str | None
    """What `~` means in patterns."""


@attrs.define
class Policies:
    """Makes policies, and finds what rules ask for; both are kept for the very same rule sets, those made last."""

    rules: _Loads = attrs.field(factory=RuleCache)
    _made: "deque[tuple[_Made, AuthorizationPolicy]]" = attrs.field(factory=lambda: deque(maxlen=_MOST), init=False)
    _wanted: "deque[tuple[RuleSet, Wanted]]" = attrs.field(factory=lambda: deque(maxlen=_MOST), init=False)

    def policy(
        self, rules: RuleSet, own: tuple[ConfiguredRule, ...], tool: str, spec: ToolSpec | None
    ) -> AuthorizationPolicy:
        """Return the policy of rules and own ones, where a tool has this declaration if there is one."""
        wanted = _Made(rules, own, tool, spec, os.environ.get("HOME"))
        for made, policy in self._made:
            if made.rules is rules and made == wanted:
                return policy
        tools = rules.tools if spec is None else {**rules.tools, tool: spec}
        # INVARIANT: whatever rules are named, an agent does not change the program that reads them.
        policy = attrs.evolve(rules, rules=(*rules.rules, *own), tools=tools).policy()
        self._made.append((wanted, policy))
        return policy

    def wanted(self, rules: RuleSet) -> Wanted:
        """Return what rules may ask for of what is heard."""
        for known, found in self._wanted:
            if known is rules:
                return found
        wanted = wanted_by(rules)
        self._wanted.append((rules, wanted))
        return wanted
