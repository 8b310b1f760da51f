"""Grants: approvals that a human gives beforehand, and those that count for the calls of a guard, as rules."""

import json
import logging
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING

import attrs

from permitry.channels.clock import Moment
from permitry.conditions.tool_digest import ToolDigestCondition
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request, Unsure
from permitry.errors import ConfigError, RuleError, StoreError, safe_str
from permitry.guard.session import Session
from permitry.rules.configured import ConfiguredRule
from permitry.store.store import Row
from permitry.undo.first import Asked

if TYPE_CHECKING:
    from permitry.store.grants import StoredGrants

__all__ = ["Grant", "Grants", "rule_of", "text_of"]

_LOG = logging.getLogger("permitry.grants")
_PRIORITY = 250
"""That of a permission in a rule file, which "always" at the prompt makes as well."""
_PREFIX = "grant-"
_TURN = "\n"
"""What is between a session and its turn in a store."""
_SHARED = ("id", "rule", "digest", "agent", "principal", "reason", "granted_by", "made_at", "uses_left", "revoked_at")


@attrs.frozen
class Grant:
    """A remembered approval.

    `rule` is what a rule file says of the calls: a table with `tools`, `when` and `unless`, in TOML. A grant of one
    call has its `digest`, and is for no other, whatever the rule says; of a tool that a registry declares, only where
    the rule has the `tool_digest` of that declaration. `agent`, `session` and `principal` say whose calls are meant,
    where they are not None. `request` is a `turn` of the session: the grant ends as soon as the user writes again.
    `deadline` and `uses_left` are None without a bound.

    Raises: `ValueError` for a `request` without a `session`, and for a `session` with a line break.
    """

    rule: str
    digest: str | None = None
    agent: str | None = None
    session: str | None = None
    principal: str | None = None
    request: str | None = attrs.field(default=None, kw_only=True)
    reason: str = ""
    granted_by: str = ""
    made_at: float = 0.0
    deadline: Moment | None = None
    uses_left: int | None = attrs.field(default=None, validator=attrs.validators.optional(attrs.validators.ge(0)))
    revoked_at: float | None = None
    id: str = attrs.field(factory=lambda: secrets.token_hex(4), kw_only=True)

    def __attrs_post_init__(self) -> None:
        # INVARIANT: law 6. Kept, it would be that of another session, for one of its turns.
        if self.session is not None and _TURN in self.session:
            raise ValueError("the name of a session in a grant has no line break")
        if self.request is not None and not self.session:
            raise ValueError("a grant for a request of the user is for a session")

    @classmethod
    def of_call(cls, tool: str, digest: str, tool_digest: str | None) -> "Grant":
        """Return a grant of the very call with this digest, while the tool declares itself as it did."""
        named = f"tools = [{json.dumps(tool, ensure_ascii=False)}]"
        return cls(named if tool_digest is None else f'{named}\nwhen.tool_digest = ["{tool_digest}"]', digest)

    @classmethod
    def of(cls, row: Row) -> "Grant":
        """Return the grant in a row."""
        deadline = None if row["deadline"] is None else Moment(row["deadline"], row["boot"], row["steady"])
        shared = {name: row[name] for name in _SHARED}
        session, request = row["session"], None
        if session is not None and _TURN in session:
            session, _, request = session.partition(_TURN)
        return cls(**shared, session=session, request=request, deadline=deadline)

    def row(self) -> Row:
        """Return the row of this grant."""
        wall, boot, steady = (None, "", 0.0) if self.deadline is None else self.deadline
        shared = {name: getattr(self, name) for name in _SHARED}
        session = self.session
        if self.request is not None:
            # An earlier version knows no session of this name, so that there it counts for none.
            session = f"{session}{_TURN}{self.request}"
        return {**shared, "session": session, "deadline": wall, "boot": boot, "steady": steady}

    def is_for(self, sessions: tuple[str, ...], principal: str | None, turn: str = "") -> bool:
        """Return whether a grant is for calls of one of these sessions, on behalf of a principal, in this turn."""
        # INVARIANT: where it is not known that the user has written, no such grant counts.
        is_now = self.request is None or (self.request == turn and turn != "")
        return is_now and self.session in (None, *sessions) and self.principal in (None, principal)


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
        """Return a policy with the grants that count for a session now, each as a rule `grant-…`."""
        found = tuple(attrs.evolve(each, uses_left=each.uses_left and 1) for each in self._in_force(session))
        kept = self._kept
        if kept is None or kept[0] is not policy or kept[1] != found:
            kept = self._kept = policy, found, _extend(policy, found)
        return kept[2]

    def decide(self, asked: Asked, session: Session, decision: Decision) -> Decision:
        """Return the decision about a call that would be asked about, with the grants; no use of any is taken."""
        granted = self.policy(asked.policy, session).decide(asked.call, asked.context, asked.spec)
        return granted if granted.verdict is Verdict.ALLOW else decision

    def take(self, asked: Asked, session: Session, decision: Decision) -> tuple[Decision, str | None]:
        """Return what `decide` does, and take a use of the grant that decides.

        With it comes the id of a grant of this very call that answers a question of a rule, or None.
        """
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
    """A grant that permits a whole call: of one call, or with a number of uses, so that it is known which one took one.

    With `is_undeclared` it is of one call of a tool that no registry declared then.
    """

    rule: ConfiguredRule
    is_undeclared: bool
    id: str
    reason: str
    source: str | None
    effect: Verdict = Verdict.ALLOW
    message: None = None

    def priority(self) -> int:
        """Return the place in the order."""
        return _PRIORITY

    def matches(self, request: Request) -> bool | Unsure:
        """Return whether the grant is for the whole call, and for the tool as it declares itself."""
        # INVARIANT: law 5. As an answer is, the grant of a call is for its tool as it was when a human was asked.
        return not (self.is_undeclared and request.own is not None) and self.rule.matches(request)

    def near_miss(self, request: Request) -> str | None:
        """Return what kept the grant from matching, or None."""
        if self.is_undeclared and request.own is not None:
            return "the grant is for a tool that no registry declares"
        return self.rule.near_miss(request)


def text_of(grant: Grant) -> str:
    """Return a grant as the rule file that it means."""
    agent = "" if grant.agent is None else f"when.agent = [{json.dumps(grant.agent, ensure_ascii=False)}]\n"
    digest = "" if grant.digest is None else f"when.digest = [{json.dumps(grant.digest)}]\n"
    by = f" ({grant.granted_by})" if grant.granted_by else ""
    reason = json.dumps(f"{grant.reason or 'granted'}{by}", ensure_ascii=False)
    head = f'schema = 1\n[[rule]]\nid = "{_PREFIX}{grant.id}"\neffect = "allow"\npriority = {_PRIORITY}\n'
    return f"{head}reason = {reason}\n{agent}{digest}{grant.rule}\n"


def rule_of(grant: Grant) -> ConfiguredRule:
    """Return the rule that a grant means.

    Raises: `ConfigError` for one that does not load; `RuleError` for one that is more than one permission.
    """
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
    try:
        return policy.with_rules(*_rules(grants)) if grants else policy
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
