"""Recorded sessions, decided again call by call."""

import json
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
from permitry.guard.session import Session
from permitry.messages.results import RecordedResult
from permitry_ops.replay.tally import Replayed, Tally, Watch
from permitry_ops.replay.transcripts import Entry, entry_of

__all__ = ["Recording", "replay"]

_MOST_WAITING = 1_000


@attrs.frozen
class Recording:
    """A file of messages; the keys whose values name the session and task; a workspace for those without."""

    name: str = "-"
    session_key: str | None = None
    task_key: str | None = None
    folder: str | None = None

    def marks(self, message: object) -> dict[str, object]:
        """Return what a line has under the keys."""
        if not isinstance(message, Mapping):
            return {}
        values = {key: message.get(key) for key in (self.session_key, self.task_key) if key is not None}
        return {key: value for key, value in values.items() if value is not None}

    def task(self, marks: Mapping[str, object]) -> str:
        """Return the task that the marks name; else the session, in its file."""
        if self.task_key is not None and self.task_key in marks:
            return _text(marks[self.task_key])
        return " ".join([self.name, *map(_text, marks.values())])


def _text(mark: object) -> str:
    return mark if isinstance(mark, str) else json.dumps(mark)


def replay(
    lines: Iterable[tuple[int, str | CallError]],
    policy: AuthorizationPolicy,
    against: AuthorizationPolicy | None = None,
    *,
    recording: Recording = Recording(),
    session: Callable[[], Session] = Session,
    watch: Watch | None = None,
) -> Tally:
    """Return what a policy says of the calls in a file of messages, and what changed since `against`.

    A call that is asked about counts as approved, one that is blocked as not run. A line with another
    value under a key of the recording begins another session. `watch` is given each call.
    """
    tally, begun = Tally(), time.perf_counter()
    kept = _Kept(policy, against, session, watch, recording.folder)
    for number, message in _messages(lines, recording.name, tally):
        marks = recording.marks(message)
        if kept.differs(marks):
            tally.end(recording.task(kept.marks), kept.loss)
            kept = _Kept(policy, against, session, watch, recording.folder)
        kept.marks |= marks
        place = f"{recording.name}:{number}"
        try:
            kept.take(message, place, tally)
        except CallError as error:
            tally.refuse(place, str(error))
    tally.end(recording.task(kept.marks), kept.loss)
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
class _Kept(Replayed):
    """A session under both policies, and the calls whose results are still to come."""

    folder: str | None = None
    marks: dict[str, object] = attrs.field(factory=dict)
    _waiting: dict[str, tuple[ToolCall, list[Session]]] = attrs.field(factory=dict, init=False)

    def differs(self, marks: Mapping[str, object]) -> bool:
        """Return whether marks are those of another session; a key without a value so far differs from none."""
        return any(self.marks.get(key, mark) != mark for key, mark in marks.items())

    def take(self, message: object, place: str, tally: Tally) -> None:
        """Decide the calls of a message, and keep what the user wrote. Raises: `CallError`."""
        entry = entry_of(message)
        for _, session in self.pairs:
            self._follow(session, entry)
        for result in entry.results:
            self._keep(result)
        for call in entry.calls:
            if isinstance(call, CallError):
                tally.refuse(place, str(call))
                continue
            self._call(call, place, tally)

    def _follow(self, session: Session, entry: Entry) -> None:
        """Let a session hear the user, and be in the mode and folder that the host was in."""
        if entry.text is not None:
            session.heard(entry.text)
        if entry.is_unsure:
            session.missed()
        if session.workspace is None and (entry.folder or entry.calls):
            session.workspace = entry.folder or self.folder
        if entry.mode is not None and entry.mode != session.mode:
            try:
                session.switch_mode(entry.mode)
            except ValueError as error:
                raise CallError(str(error)) from error

    def _call(self, call: ToolCall, place: str, tally: Tally) -> None:
        self.show(place, call)
        new = _decide(self.policy, self.now, call)
        old = None if self.against is None else _decide(self.against, self.before, call)
        tally.count(call.tool, place, new, old)
        if new.verdict > (Verdict.ALLOW if old is None else old.verdict):
            self.lose(new.verdict, place)
        ran = [(self.now, new), *([] if old is None else [(self.before, old)])]
        while len(self._waiting) >= _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        key = call.call_id or call.name
        self._waiting[key] = call, [each for each, decision in ran if decision.verdict is not Verdict.BLOCK]

    def _keep(self, result: RecordedResult) -> None:
        call, sessions = self._waiting.pop(result.call_id or result.name or "", (None, []))
        if call is not None and result.ok:
            for each in sessions:
                each.returned(call, result.value)


def _decide(policy: AuthorizationPolicy, session: Session, call: ToolCall) -> Decision:
    context = AuthContext.from_state(session)
    decision = policy.decide(call, context)
    if decision.verdict is not Verdict.BLOCK:
        session.apply(call, policy.side_effects(call, context))
    return decision
