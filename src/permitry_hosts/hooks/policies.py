"""The rules that a hook decides by, and their policy: made for one call, or kept by a process that answers many."""

import os
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Protocol

import attrs

from permitry.config.cache import RuleCache
from permitry.config.catalogue import PREFIX
from permitry.config.heard import Wanted, wishes_of
from permitry.config.origin import Origin
from permitry.config.ruleset import RuleSet
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec
from permitry.rules.configured import ConfiguredRule

__all__ = ["Policies", "is_of_user", "rules_for_host"]

_MOST = 64
_AFTER_YOLO = 300
"""From this priority on, rules are about what YOLO mode permits as well."""


def is_of_user(rule: ConfiguredRule) -> bool:
    """Return whether a rule is written in a file of the user, and in no shipped set."""
    return not (rule.source or "").startswith(PREFIX)


def rules_for_host(rules: RuleSet) -> tuple[ConfiguredRule, ...]:
    """Return the rules without the general questions of shipped sets, such as those about each command.

    A host asks about these in its own way. Where what no rule matches is blocked, all rules count, and so does
    a question with a permission behind it.
    """
    if rules.unmatched is not Verdict.CONFIRM:
        return rules.rules
    # INVARIANT: law 1. Without a question before it, a permission would permit what it does not permit elsewhere.
    last = max((rule.priority() for rule in rules.rules if rule.effect is Verdict.ALLOW), default=0)
    first = max(_AFTER_YOLO, last + 1)
    return tuple(rule for rule in rules.rules if is_of_user(rule) or not _is_question(rule, first))


def _for_host(rules: RuleSet, own: tuple[ConfiguredRule, ...], tools: Mapping[str, ToolSpec]) -> RuleSet:
    """Return the rules that count in a host, with own ones and with declarations of tools; of observed ones as well."""
    observed = None if rules.observed is None else _for_host(rules.observed, own, tools)
    # INVARIANT: whatever rules are named, an agent does not change the program that reads them.
    every = (*rules_for_host(rules), *own)
    return attrs.evolve(rules, rules=every, tools={**rules.tools, **tools}, observed=observed)


def _is_question(rule: ConfiguredRule, first: int) -> bool:
    return rule.effect is Verdict.CONFIRM and rule.priority() >= first


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
        policy = _for_host(rules, own, {} if spec is None else {tool: spec}).policy()
        self._made.append((wanted, policy))
        return policy

    def wanted(self, rules: RuleSet) -> Wanted:
        """Return what rules may ask for of what is heard."""
        for known, found in self._wanted:
            if known is rules:
                return found
        wanted = wishes_of(rules)
        self._wanted.append((rules, wanted))
        return wanted
