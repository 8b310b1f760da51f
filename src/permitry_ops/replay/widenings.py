"""What was really called of the ways in which rules permit more: recorded calls, decided by both."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec
from permitry.errors import UnevaluableError, count
from permitry.rules.configured import ConfiguredRule
from permitry_ops.diff.report import Finding
from permitry_ops.diff.sources import Loaded
from permitry_ops.replay.record import Circumstances, replay_record
from permitry_ops.replay.tally import Tally

__all__ = ["Called", "Calls", "replay_widenings"]

_FIRST = "at", "session", "number", "tool", "arguments"


@attrs.define
class Calls:
    """Calls that are decided less strictly now: how many, of which sessions, and the first record."""

    calls: int = 0
    sessions: set[str] = attrs.field(factory=set)
    first: Mapping[str, Any] = attrs.field(factory=dict)

    def add(self, record: Mapping[str, Any]) -> None:
        """Count the call of a record."""
        self.calls += 1
        self.sessions.add(str(record.get("session")))
        self.first = self.first or {name: record.get(name) for name in _FIRST}

    def __str__(self) -> str:
        if not self.calls:
            return "not called in the records"
        calls, sessions = count(self.calls, "call"), count(len(self.sessions), "session")
        at, session, _, tool, arguments = self.first.values()
        call = f"{tool} {json.dumps(arguments, ensure_ascii=False)}"
        return f"{calls} in {sessions}, first {at} in {session}: {call}"

    def to_dict(self) -> dict[str, Any]:
        """Return the count as a JSON object; `first` is null where there is none."""
        return {
            "calls": self.calls,
            "sessions": len(self.sessions),
            "first": self.first or None,
        }


@attrs.define
class Called(Tally):
    """Counts recorded calls as two policies decide them, and of each of some ways those that take it.

    `others` are calls that are decided less strictly, and take none of them.
    """

    ways: Sequence[Finding] = attrs.field(default=(), kw_only=True)
    policies: tuple[AuthorizationPolicy, ...] = attrs.field(default=(), kw_only=True, repr=False)
    others: Calls = attrs.field(factory=Calls, init=False)
    _by_way: list[Calls] = attrs.field(init=False)
    _record: Mapping[str, Any] = attrs.field(factory=dict, init=False)
    _asked: "tuple[ToolCall, AuthContext, ToolSpec | None] | None" = attrs.field(default=None, init=False)

    @_by_way.default
    def _none_so_far(self) -> list[Calls]:
        return [Calls() for _ in self.ways]

    def of(self, way: Finding) -> Calls:
        """Return the calls that take a way."""
        every = zip(self.ways, self._by_way, strict=True)
        return next(calls for each, calls in every if each is way)

    def summarize(self) -> dict[str, Any]:
        """Return what was found of all ways together, as a JSON object."""
        return {
            "calls": self.calls,
            "sessions": self.sessions,
            "looser": self.looser,
            "others": self.others.to_dict(),
            "unjudged": dict(self.unjudged),
        }

    def follow(self, records: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield records, and note which one is decided."""
        for self._record in records:
            yield self._record

    def watch(self, _: str, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> None:
        """Note the call that is counted next."""
        self._asked = call, context, spec

    def count(self, tool: str, place: str, new: Decision, old: Decision | None) -> None:
        """Count one call, and for each way that it takes."""
        super().count(tool, place, new, old)
        if old is None or not new.verdict < old.verdict:
            return
        rule_ids = {new.rule_id, old.rule_id}
        for each in self._find(rule_ids) or [self.others]:
            each.add(self._record)

    def _find(self, rule_ids: set[str | None]) -> list[Calls]:
        """Return the counts of the ways of some rules that the call takes; of all of these where it fits none."""
        every = zip(self.ways, self._by_way, strict=True)
        own = [(way.rule, calls) for way, calls in every if way.rule_id in rule_ids]
        fitting = [calls for rule, calls in own if rule is not None and self._fits(rule)]
        return fitting or [calls for _, calls in own]

    def _fits(self, rule: ConfiguredRule) -> bool:
        """Return whether a rule may match the call, or permits part of what it does."""
        if self._asked is None:
            return False
        call, context, spec = self._asked
        requests = [policy.request(call, context, spec) for policy in self.policies]
        try:
            return any(rule.covers(each) or rule.matches(each) is not False for each in requests)
        except UnevaluableError:
            return True


def replay_widenings(
    records: Iterable[Mapping[str, Any]],
    old: Loaded,
    new: Loaded,
    ways: Sequence[Finding],
    *,
    workspace: str,
) -> Called:
    """Return what recorded calls take of the ways in which `new` permits more than `old`.

    A template that both have is that of `new`. Where a record names no workspace it is the one given.
    """
    before, after = (each.rules.policy(has_disk=each.has_disk) for each in (old, new))
    templates = {**old.rules.templates, **new.rules.templates}
    called = Called(ways=ways, policies=(before, after))
    replay_record(
        called.follow(records),
        after,
        before,
        circumstances=Circumstances(workspace, templates),
        watch=called.watch,
        make=lambda: called,
    )
    return called
