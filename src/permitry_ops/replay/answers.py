"""What humans said to the questions in audit records: the calls they approved, and those that must not run."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase
from permitry.core.spec import ToolSpec
from permitry.errors import CallError
from permitry.guard.session import Session
from permitry_ops.replay.record import Circumstances, call_of

__all__ = ["Answered", "Asked", "read_answers"]

_MOST_OPEN = 10_000
_NOT_BY_RULES = (Phase.INPUT.value, Phase.HOST.value)


@attrs.frozen(eq=False)
class Asked:
    """A call as it was decided on, and where the record says so."""

    call: ToolCall
    context: AuthContext
    spec: ToolSpec | None
    place: str

    @property
    def key(self) -> tuple[object, ...]:
        """The same for calls that are decided alike."""
        known = self.context
        return self.call.digest, known.mode, known.agent, known.workspace, known.attended


@attrs.define
class Answered:
    """Calls that were approved, or must not run; `unread` approvals were edited, or have secrets."""

    approved: list[Asked] = attrs.field(factory=list)
    refused: dict[tuple[object, ...], Asked] = attrs.field(factory=dict)
    unread: int = 0

    def refuse(self, asked: Asked) -> None:
        """Keep a call that must not run."""
        self.refused.setdefault(asked.key, asked)


def read_answers(
    records: Iterable[Mapping[str, Any]], answered: Answered, *, name: str, circumstances: Circumstances
) -> None:
    """Add what a record says to what is known; of a line that is not a record nothing is taken."""
    reading = _Reading(answered, name, circumstances)
    for record in records:
        reading.take(record)


@attrs.define
class _Reading:
    answered: Answered
    name: str
    circumstances: Circumstances
    _sessions: dict[object, Session] = attrs.field(factory=dict)
    _open: dict[tuple[object, ...], tuple[Asked, bool]] = attrs.field(factory=dict)

    def take(self, record: Mapping[str, Any]) -> None:
        key = record.get("session"), record.get("call_id"), record.get("digest")
        match record.get("event"):
            case "session":
                self._sessions[record.get("session")] = self.circumstances.session(record)
            case "decided" if record.get("phase") not in _NOT_BY_RULES:
                asked = self._read_asked(record)
                if asked is None:
                    return
                if record.get("verdict") == "block":
                    self.answered.refuse(asked)
                elif record.get("verdict") == "confirm" and "mode" in record:
                    while len(self._open) >= _MOST_OPEN:
                        del self._open[next(iter(self._open))]
                    self._open[key] = asked, asked.call.digest == record.get("digest")
            case "answered" if key in self._open:
                asked, is_whole = self._open.pop(key)
                if record.get("approved") is not True:
                    self.answered.refuse(asked)
                elif is_whole and not record.get("edited"):
                    self.answered.approved.append(asked)
                else:
                    self.answered.unread += 1

    def _read_asked(self, record: Mapping[str, Any]) -> Asked | None:
        """Return a call; what was recorded without secrets is like the call that was made, and must not run either."""
        session = self._sessions.setdefault(record.get("session"), self.circumstances.session({}))
        try:
            call = call_of(record) or ToolCall(str(record.get("tool")), record.get("arguments") or {})
            session.switch_mode(str(record.get("mode") or session.mode))
        except (CallError, TypeError, ValueError):
            return None
        place = f"{self.name}:{record.get('number')}"
        return Asked(call, AuthContext.from_state(session), self.circumstances.spec_of(record), place)
