"""What observed rules would have changed, counted from a record."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

__all__ = ["Change", "ObservedStats"]

_EXAMPLES = 3
_SHOWN = ("number", "tool", "arguments")
_NO_RULE = "(no rule)"


@attrs.define
class Change:
    """The calls that are decided as `verdict`, and that an observed rule would decide as `would`.

    `examples` are the last few: their numbers in the record, tools and arguments.
    """

    rule: str
    verdict: str
    would: str
    calls: int = 0
    sessions: set[str] = attrs.field(factory=set)
    tools: Counter[str] = attrs.field(factory=Counter)
    examples: deque[Mapping[str, Any]] = attrs.field(factory=lambda: deque(maxlen=_EXAMPLES))

    @property
    def is_other(self) -> bool:
        """Whether anything would be different: another rule alone makes no difference for a call."""
        return self.verdict != self.would

    def add(self, record: Mapping[str, Any]) -> None:
        """Count a decision."""
        self.calls += 1
        self.sessions.add(str(record.get("session")))
        self.tools[str(record.get("tool"))] += 1
        self.examples.append({name: record.get(name) for name in _SHOWN})

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {
            "rule": self.rule,
            "verdict": self.verdict,
            "would": self.would,
            "calls": self.calls,
            "sessions": len(self.sessions),
            "tools": dict(self.tools),
            "examples": list(self.examples),
        }


@attrs.define
class ObservedStats:
    """Counts of decisions, and of what observed rules would have changed; `add` takes one event after the other."""

    calls: int = 0
    sessions: set[str] = attrs.field(factory=set)
    _changes: dict[tuple[str, str, str], Change] = attrs.field(factory=dict, init=False)

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one event."""
        if record.get("event") != "decided":
            return
        self.calls += 1
        self.sessions.add(str(record.get("session")))
        would = record.get("would")
        if isinstance(would, Mapping):
            key = str(would.get("rule") or _NO_RULE), str(record.get("verdict")), str(would.get("verdict"))
            self._changes.setdefault(key, Change(*key)).add(record)

    def changes(self, rule: str | None = None) -> Iterator[Change]:
        """Yield what would change, the most frequent first; with a rule only what that would."""
        for change in sorted(self._changes.values(), key=_place):
            if rule in (None, change.rule):
                yield change

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain JSON."""
        changes = [change.as_json() for change in self.changes()]
        return {"decisions": self.calls, "sessions": len(self.sessions), "observed": changes}


def _place(change: Change) -> tuple[bool, int]:
    return not change.is_other, -change.calls
