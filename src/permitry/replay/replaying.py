"""Recorded sessions, decided again call by call."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.json_values import parse_json
from permitry.core.policy import AuthorizationPolicy
from permitry.errors import CallError
from permitry.messages import calls_in
from permitry.messages.results import RecordedResult, results_in
from permitry.messages.said import user_text
from permitry.replay.tally import Tally
from permitry.session import Session

__all__ = ["replay"]

_MOST_WAITING = 1_000


def replay(
    lines: Iterable[tuple[int, str | CallError]],
    policy: AuthorizationPolicy,
    against: AuthorizationPolicy | None = None,
    *,
    name: str = "-",
    key: str | None = None,
    session: Callable[[], Session] = Session,
) -> Tally:
    """Return what a policy says of the calls in a file of messages, and what has changed `against` another one.

    The calls and results are those that were recorded: a call that is asked about counts as approved, one that is
    blocked as not run. `name` is that of the file; with `key`, a line whose value under it is another one begins
    another session.
    """
    tally, begun = Tally(), time.perf_counter()
    kept = _Kept(policy, against, session)
    for number, message in _messages(lines, name, tally):
        if key is not None and isinstance(message, Mapping) and kept.is_other(message.get(key)):
            tally.end(kept.worst)
            kept = _Kept(policy, against, session, message.get(key))
        place = f"{name}:{number}"
        try:
            kept.take(message, place, tally)
        except CallError as error:
            tally.refuse(place, str(error))
    tally.end(kept.worst)
    tally.seconds = time.perf_counter() - begun
    return tally


def _messages(lines: Iterable[tuple[int, str | CallError]], name: str, tally: Tally) -> Iterator[tuple[int, Any]]:
    for number, line in lines:
        try:
            if isinstance(line, CallError):
                raise line
            yield number, parse_json(line)
        except CallError as error:
            tally.refuse(f"{name}:{number}", str(error))


@attrs.define
class _Kept:
    """A session under both policies, and the calls whose results are still to come."""

    policy: AuthorizationPolicy
    against: AuthorizationPolicy | None
    make: Callable[[], Session]
    mark: object = None
    worst: Verdict | None = None
    _now: Session = attrs.field(init=False)
    _before: Session = attrs.field(init=False)
    _waiting: dict[str, tuple[ToolCall, list[Session]]] = attrs.field(factory=dict, init=False)

    @_now.default
    def _new(self) -> Session:
        return self.make()

    @_before.default
    def _old(self) -> Session:
        return self.make()

    def is_other(self, mark: object) -> bool:
        """Return whether a line belongs to another session; the first one says to which this belongs."""
        if self.mark is None:
            self.mark = mark
        return mark is not None and mark != self.mark

    def take(self, message: object, place: str, tally: Tally) -> None:
        """Decide the calls of a message, and keep what the user wrote and what tools returned.

        Raises: `CallError` for something that is not a message.
        """
        text = user_text(message)
        if text is not None:
            for each in (self._now, self._before):
                each.heard(text)
        for result in results_in(message):
            self._keep(result)
        for incoming in calls_in(message):
            if isinstance(incoming.call, CallError):
                tally.refuse(place, str(incoming.call))
                continue
            self._call(incoming.call, place, tally)

    def _call(self, call: ToolCall, place: str, tally: Tally) -> None:
        new = _decided(self.policy, self._now, call)
        old = None if self.against is None else _decided(self.against, self._before, call)
        tally.count(call.tool, place, new, old)
        if (old is None or new.verdict.strictness > old.verdict.strictness) and (
            self.worst is None or new.verdict.strictness > self.worst.strictness
        ):
            self.worst = new.verdict
        ran = [(self._now, new), *([] if old is None else [(self._before, old)])]
        while len(self._waiting) >= _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        key = call.call_id or call.name
        self._waiting[key] = call, [each for each, decision in ran if decision.verdict is not Verdict.BLOCK]

    def _keep(self, result: RecordedResult) -> None:
        call, sessions = self._waiting.pop(result.call_id or result.name or "", (None, []))
        if call is not None and result.ok:
            for each in sessions:
                each.returned(call, result.value)


def _decided(policy: AuthorizationPolicy, session: Session, call: ToolCall) -> Decision:
    context = AuthContext.from_state(session)
    decision = policy.decide(call, context)
    if decision.verdict is not Verdict.BLOCK:
        session.apply(call, policy.side_effects(call, context))
    return decision
