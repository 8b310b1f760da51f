"""The grants that count for the calls of a guard, as rules that permit them."""

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

import attrs

from permitry.channels.clock import Moment
from permitry.conditions.tool_digest import ToolDigestCondition
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request, Unsure
from permitry.errors import ConfigError, RuleError, StoreError, safe_str
from permitry.guard.grants import Grant, quote
from permitry.guard.session import Session
from permitry.rules.configured import ConfiguredRule
from permitry.undo.first import Asked

if TYPE_CHECKING:
    from permitry.store.grants import StoredGrants

__all__ = ["Grants", "rule_of", "text_of"]

_LOG = logging.getLogger("permitry.grants")
_PRIORITY = 250
"""That of a permission in a rule file, which "always" at the prompt makes as well."""
_PREFIX = "grant-"


@attrs.define
class Grants:
    """The grants in a store, for the calls of a `principal`. Thread-safe.

    They are asked only about calls that a human would be asked about, so that none lifts a block; where the store is
    away, none counts. What a rule asks about, a grant permits only where it is for that very call.
    """

    store: "StoredGrants"
    principal: str | None = None
    _kept: tuple[AuthorizationPolicy, tuple[Grant, ...], AuthorizationPolicy] | None = attrs.field(
        default=None, init=False, repr=False
    )

    def policy(self, policy: AuthorizationPolicy, session: Session) -> AuthorizationPolicy:
        """Return a policy with the grants that count for a session, each as a rule `grant-…`."""
        in_force = self._in_force(session)
        found = tuple(attrs.evolve(each, uses_left=each.uses_left and 1) for each in in_force)
        kept = self._kept
        if kept is None or kept[0] is not policy or kept[1] != found:
            kept = self._kept = policy, found, _extend(policy, found)
        return kept[2]

    def decide(self, asked: Asked, session: Session, decision: Decision) -> Decision:
        """Return the decision about a call that would be asked about, with the grants; no use of any is taken."""
        granted = self.policy(asked.policy, session).decide(asked.call, asked.context, asked.spec)
        return granted if granted.verdict is Verdict.ALLOW else decision

    def take(self, asked: Asked, session: Session, decision: Decision) -> tuple[Decision, str | None]:
        """Return what `decide` does, a use taken, and the grant of this very call that answers a rule."""
        granted = self.decide(asked, session, decision)
        if granted.verdict is Verdict.ALLOW:
            if self.take_use(granted.rule_id):
                return granted, None
            reason = f"the last use of `{granted.rule_id}` was taken meanwhile, or it was revoked"
            refused = attrs.evolve(granted, verdict=Verdict.CONFIRM, phase=Phase.HOST, reason=reason)
            return attrs.evolve(refused, rule_id=None, source=None), None
        for grant in self._in_force(session, is_answer=True):
            is_same = grant.digest == asked.call.digest
            if is_same and _matches(grant, asked) and self.take_use(_PREFIX + grant.id):
                return decision, grant.id
        return decision, None

    def take_use(self, rule_id: str | None) -> bool:
        """Return whether a grant still counts, and take a use of it; any other rule does."""
        name = str(rule_id)
        if not name.startswith(_PREFIX):
            return True
        try:
            return self.store.take(name.removeprefix(_PREFIX), Moment.now())
        except StoreError as error:
            _LOG.warning("no grant counts: %s", error)
            return False

    def _in_force(self, session: Session, *, is_answer: bool = False) -> list[Grant]:
        sessions: list[str] = []
        above: Session | None = session
        while above is not None:
            sessions.append(above.id)
            above = above.parent
        # INVARIANT: law 4. What is granted to the session of a sub-agent alone would permit it more than its parent; it
        # can only answer a question about that very call.
        sessions = sessions if is_answer else sessions[-1:]
        try:
            grants = map(Grant.of, self.store.in_force(Moment.now()))
            return [each for each in grants if each.is_for(tuple(sessions), self.principal, session.turn)]
        except StoreError as error:
            _LOG.warning("no grant counts: %s", error)
            return []


@attrs.frozen
class _Whole:
    """A grant for a whole call: of one call, or with a number of uses, so that it is known which one took one."""

    rule: ConfiguredRule
    # It is of one call of a tool that no registry declared then.
    is_undeclared: bool
    id: str
    reason: str
    source: str | None
    effect: Verdict = Verdict.ALLOW
    message: None = None

    def priority(self) -> int:
        return _PRIORITY

    def matches(self, request: Request) -> bool | Unsure:
        # INVARIANT: law 5. As an answer is, the grant of a call is for its tool as it was when a human was asked.
        return not (self.is_undeclared and request.own is not None) and self.rule.matches(request)

    def near_miss(self, request: Request) -> str | None:
        if self.is_undeclared and request.own is not None:
            return "the grant is for a tool that no registry declares"
        return self.rule.near_miss(request)


def text_of(grant: Grant) -> str:
    """Return a grant as the rule file that it means."""
    reason = grant.reason or "granted"
    if grant.granted_by:
        reason = f"{reason} ({grant.granted_by})"
    lines = ["schema = 1", "[[rule]]", f'id = "{_PREFIX}{grant.id}"', 'effect = "allow"']
    lines += [f"priority = {_PRIORITY}", f"reason = {quote(reason)}"]
    if grant.agent is not None:
        lines.append(f"when.agent = [{quote(grant.agent)}]")
    if grant.digest is not None:
        lines.append(f"when.digest = [{quote(grant.digest)}]")
    return "\n".join([*lines, grant.rule, ""])


def rule_of(grant: Grant) -> ConfiguredRule:
    """Return the rule that a grant means; `ConfigError` if it does not load, `RuleError` if it is more than one."""
    from permitry.config.load import load_rules  # noqa: PLC0415 -- which a hook without grants does not need

    rules = load_rules(text_of(grant))
    (rule, *others) = rules.rules
    more = (others, rules.flows, rules.tools, rules.templates, rules.lists, rules.unmatched_source)
    if any(more) or rule.effect is not Verdict.ALLOW:
        raise RuleError(f"the grant `{grant.id}` must be one permission, and nothing else")
    if (rule.id, rule.priority()) != (f"{_PREFIX}{grant.id}", _PRIORITY):
        raise RuleError(f"the grant `{grant.id}` must have its own id and priority")
    return rule


def _extend(policy: AuthorizationPolicy, grants: tuple[Grant, ...]) -> AuthorizationPolicy:
    if not grants:
        return policy
    try:
        return policy.with_rules(*_rules(grants))
    except RuleError as error:
        _LOG.warning("no grant counts: %s", error)
        return policy


def _rules(grants: Iterable[Grant]) -> Iterable[ConfiguredRule | _Whole]:
    for grant in grants:
        try:
            rule = rule_of(grant)
        except (ConfigError, RuleError) as error:
            _LOG.warning("the grant `%s` does not count: %s", grant.id, error)
        else:
            is_pinned = any(isinstance(each, ToolDigestCondition) for each in rule.scope.when.plain)
            is_whole = grant.digest is not None or grant.uses_left is not None
            is_undeclared = grant.digest is not None and not is_pinned
            yield _Whole(rule, is_undeclared, rule.id, rule.reason, rule.source) if is_whole else rule


def _matches(grant: Grant, asked: Asked) -> bool:
    """Return whether the rule of a grant is for a call; one that cannot be evaluated is not."""
    request = asked.policy.request(asked.call, asked.context, asked.spec)
    try:
        return any(rule.matches(request) is True for rule in _rules([grant]))
    except Exception as error:  # noqa: BLE001 -- law 2: a permission that fails in any way permits nothing
        _LOG.warning("the grant `%s` does not count: %s", grant.id, safe_str(error))
        return False
