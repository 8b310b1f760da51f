"""The calls in an audit record, decided again.

The record has no secrets, no results of tools, and not what the user wrote. A call whose
decision may depend on what is missing is counted apart, with the reason.
"""

import datetime as dt
import enum
import functools
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import attrs

from permitry.config.heard import wishes_in
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.explanation import RuleOutcome
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec
from permitry.core.template import Template
from permitry.errors import CallError, safe_str
from permitry.guard.session import Session
from permitry.rules.configured import ConfiguredRule
from permitry_ops.replay.tally import Replayed, Tally, Watch

__all__ = ["Circumstances", "Unjudged", "call_of", "replay_record"]

_MOST_SESSIONS = 1_000
_MOST_WAITING = 1_000
_OWN_RULE = "session-always-"
_Ran: TypeAlias = tuple[AuthorizationPolicy, Session, ToolCall]


class Unjudged(enum.StrEnum):
    """Why a decision cannot be compared."""

    SECRETS = "its arguments were recorded without secrets"
    HOST = "no rule decided: the call did not fit its tool, or the host asked"
    SESSION = "a rule of that session alone decided"
    HEARD = "rules ask what the user wrote or tools returned, which is not recorded"
    TOOL = "what its tool was declared as is not recorded"
    EARLIER = "labels and budgets may differ: an earlier call of the session was not judged"
    OTHER = "the rules are the same: files, lists or limits that are not recorded are not"


@attrs.frozen
class Circumstances:
    """What is known besides the record: templates and tools by name, a workspace where it has none, its own name."""

    workspace: str | None = None
    templates: Mapping[str, Template] = MappingProxyType({})
    tools: Mapping[str, ToolSpec] = MappingProxyType({})
    name: str = "-"

    def spec_of(self, record: Mapping[str, Any]) -> ToolSpec | None:
        """Return the declaration that the tool of a call had then, if it is known."""
        spec = self.tools.get(str(record.get("tool")))
        return spec if spec is not None and spec.digest == record.get("tool_digest") else None

    def session(self, began: Mapping[str, Any], clock: Callable[[], float] = time.time) -> Session:
        """Return a session like the one that began with a record; of another event, one of which nothing is known."""
        began = began if began.get("event") == "session" else {}
        session = Session(
            agent=str(began.get("agent") or "main"),
            workspace=began.get("workspace") or self.workspace,
            active_template=self.templates.get(str(began.get("template"))),
            attended=began.get("attended") is not False,
            clock=clock,
        )
        # INVARIANT: law 4. What was heard is not recorded, so that nothing is known to come from it.
        session.missed()
        return session


def call_of(record: Mapping[str, Any]) -> ToolCall | None:
    """Return the call that was decided, if the record has all of it: its digest says so."""
    arguments = record.get("arguments")
    if not isinstance(arguments, Mapping):
        return None
    for kind in PayloadKind:
        try:
            call = ToolCall(str(record.get("tool")), arguments, call_id=record.get("call_id"), kind=kind)
        except (CallError, TypeError):
            return None
        if call.digest == record.get("digest"):
            return call
    return None


def replay_record(
    records: Iterable[Mapping[str, Any]],
    policy: AuthorizationPolicy,
    against: AuthorizationPolicy | None = None,
    *,
    circumstances: Circumstances = Circumstances(),
    watch: Watch | None = None,
    make: Callable[[], Tally] = Tally,
) -> Tally:
    """Return what a policy says of recorded calls, and what differs from then, or from `against`.

    A call counts as having run where it was permitted then, and is not blocked now. `watch` is
    given each call, and `make` returns what counts.
    """
    tally, name, begun = make(), circumstances.name, time.perf_counter()
    sessions: OrderedDict[str, _Kept] = OrderedDict()
    for record in records:
        place, known = f"{name}:{record.get('number')}", str(record.get("session"))
        if record.get("event") == "unreadable":
            tally.refuse(place, "the line is not a record")
            continue
        if known not in sessions or record.get("event") == "session":
            _end(tally, name, known, sessions.pop(known, None))
            clock = _Clock()
            new = functools.partial(circumstances.session, record, clock)
            sessions[known] = _Kept(policy, against, new, watch, circumstances, clock)
        try:
            sessions[known].take(record, place, tally)
        except (ValueError, TypeError) as error:
            tally.refuse(place, f"the line is not a record: {safe_str(error)}")
        if len(sessions) > _MOST_SESSIONS:
            _end(tally, name, *sessions.popitem(last=False))
    for known, kept in sessions.items():
        _end(tally, name, known, kept)
    tally.seconds = time.perf_counter() - begun
    return tally


def _end(tally: Tally, name: str, session: str, kept: "_Kept | None") -> None:
    if kept is not None and kept.has_calls:
        tally.end(f"{name} {session}", kept.loss)


@attrs.define
class _Clock:
    at: float = 0.0

    def __call__(self) -> float:
        return self.at


@attrs.define
class _Kept(Replayed):
    """A recorded session under both policies, and the calls that were asked about."""

    circumstances: Circumstances
    clock: _Clock
    has_calls: bool = False
    _is_partial: bool = attrs.field(default=False, init=False)
    _asked: dict[tuple[object, object], list[_Ran]] = attrs.field(factory=dict, init=False)

    def take(self, record: Mapping[str, Any], place: str, tally: Tally) -> None:
        """Decide a call again, and note an approval."""
        self.clock.at = _seconds(record.get("at"))
        match record.get("event"):
            case "decided":
                self.has_calls = True
                self._count(record, place, tally)
            case "answered" if record.get("approved") is True and not record.get("edited"):
                for each in self._asked.pop(_key(record), []):
                    _apply(*each)

    def _count(self, record: Mapping[str, Any], place: str, tally: Tally) -> None:
        call = call_of(record)
        reason = _not_by_rules(record)
        if call is None or reason is not None:
            self._is_partial = True
            tally.skip(place, reason or Unjudged.SECRETS)
            return
        spec = self.circumstances.spec_of(record)
        new = self._decide(self.policy, self.now, call, record)
        self.show(place, call, spec)
        old = _read_decision(record) if self.against is None else self._decide(self.against, self.before, call, record)
        self._note(record, call, [(self.policy, self.now, new), (self.against, self.before, old)])
        reason = self._doubt(call, record, spec) if new.verdict is not old.verdict else None
        if reason is not None:
            tally.skip(place, reason)
            return
        tally.count(call.tool, place, new, old)
        if new.verdict > old.verdict:
            self.lose(new.verdict, place)

    def _decide(
        self, policy: AuthorizationPolicy, session: Session, call: ToolCall, record: Mapping[str, Any]
    ) -> Decision:
        if isinstance(record.get("mode"), str):
            session.switch_mode(record["mode"])
        if record.get("rule") == "ignore-list":
            session.ignore(call.tool)
        return policy.decide(call, AuthContext.from_state(session), self.circumstances.spec_of(record))

    def _note(
        self,
        record: Mapping[str, Any],
        call: ToolCall,
        decided: "list[tuple[AuthorizationPolicy | None, Session, Decision]]",
    ) -> None:
        """Apply what the call leaves behind where it ran, or keep it until it is approved."""
        ran = [
            (policy, session, call)
            for policy, session, decision in decided
            if policy is not None and decision.verdict is not Verdict.BLOCK
        ]
        if record.get("verdict") == "allow" or (record.get("edited") and record.get("verdict") == "confirm"):
            for each in ran:
                _apply(*each)
        elif record.get("verdict") == "confirm":
            while len(self._asked) >= _MOST_WAITING:
                del self._asked[next(iter(self._asked))]
            self._asked[_key(record)] = ran

    def _doubt(self, call: ToolCall, record: Mapping[str, Any], spec: ToolSpec | None) -> str | None:
        """Return why another decision may come from what is not recorded."""
        if any(_asks_what_was_heard(policy, session, call, spec) for policy, session in self.pairs):
            return Unjudged.HEARD
        if self.against is not None:
            return None
        if record.get("tool_digest") is not None and spec is None:
            return Unjudged.TOOL
        if self._is_partial and self.policy.flows:
            return Unjudged.EARLIER
        return Unjudged.OTHER if record.get("policy_version") == self.policy.version else None


def _asks_what_was_heard(policy: AuthorizationPolicy, session: Session, call: ToolCall, spec: ToolSpec | None) -> bool:
    """Return whether a rule that matched, or nearly did, looks at what the user wrote or tools returned."""
    explained = policy.explain(call, AuthContext.from_state(session), spec)
    near = {each.rule_id for each in explained.rules if each.outcome is not RuleOutcome.NOT_MATCHED}
    near |= {each.rule_id for each in explained.rules if each.near_miss is not None}
    scopes = (rule.scope for rule in policy.rules if isinstance(rule, ConfiguredRule) and rule.id in near)
    return bool(explained.origins) or bool(wishes_in(scopes))


def _not_by_rules(record: Mapping[str, Any]) -> str | None:
    if record.get("phase") in (Phase.INPUT.value, Phase.HOST.value):
        return Unjudged.HOST
    return Unjudged.SESSION if str(record.get("rule")).startswith(_OWN_RULE) else None


def _read_decision(record: Mapping[str, Any]) -> Decision:
    rule, source = record.get("rule"), str(record.get("source"))
    if str(rule).startswith("grant-") and source.startswith("<text "):
        # Of the rules alone, which are what is compared: a grant is looked at only where they ask.
        return Decision(Verdict.CONFIRM, None, Phase.DEFAULT, str(record.get("reason")))
    return Decision(Verdict(record.get("verdict")), rule, Phase.DEFAULT, str(record.get("reason")))


def _apply(policy: AuthorizationPolicy, session: Session, call: ToolCall) -> None:
    session.apply(call, policy.side_effects(call, AuthContext.from_state(session)))


def _key(record: Mapping[str, Any]) -> tuple[object, object]:
    return record.get("call_id"), record.get("digest")


def _seconds(at: object) -> float:
    try:
        return dt.datetime.fromisoformat(str(at)).timestamp()
    except ValueError:
        return 0.0
