"""What is counted of replayed sessions; the memory it takes depends on the rules and tools, not on the calls."""

from collections import Counter
from typing import Any, Self

import attrs

from permitry.core.decision import Decision, Verdict

__all__ = ["Tally"]


@attrs.define
class Tally:
    """Counts of calls and sessions.

    `changes` counts calls by the verdict of the policy that is compared with, that of the new one, the tool, and the
    id of the deciding rule; `places` has the first call of each kind, as `file:line`. `lost` counts sessions in which
    the new policy blocks a call, or asks about it, that the other one does not (without another one: at all).
    """

    calls: int = 0
    sessions: int = 0
    seconds: float = 0.0
    verdicts: Counter[str] = attrs.field(factory=Counter)
    tools: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    rules: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    changes: Counter[tuple[str, str, str, str]] = attrs.field(factory=Counter)
    places: dict[tuple[str, ...], str] = attrs.field(factory=dict)
    lost: Counter[str] = attrs.field(factory=Counter)
    bad: Counter[str] = attrs.field(factory=Counter)

    def count(self, tool: str, place: str, new: Decision, old: Decision | None) -> None:
        """Count one call."""
        verdict, rule = new.verdict.value, new.rule_id or "(no rule)"
        self.calls += 1
        self.verdicts[verdict] += 1
        self.tools[tool, verdict] += 1
        self.rules[rule, verdict] += 1
        self.places.setdefault((rule,), place)
        if old is not None and old.verdict is not new.verdict:
            change = (old.verdict.value, verdict, tool, rule)
            self.changes[change] += 1
            self.places.setdefault(change, place)

    def end(self, worst: Verdict | None) -> None:
        """Count a session; `worst` is the strictest verdict that is new in it."""
        self.sessions += 1
        if worst is not None and worst is not Verdict.ALLOW:
            self.lost[worst.value] += 1

    def refuse(self, place: str, error: str) -> None:
        """Count a line that could not be read."""
        self.bad[error] += 1
        self.places.setdefault(("bad", error), place)

    def add(self, other: Self) -> None:
        """Add the counts of another part."""
        self.calls += other.calls
        self.sessions += other.sessions
        self.seconds += other.seconds
        for name in ("verdicts", "tools", "rules", "changes", "lost", "bad"):
            getattr(self, name).update(getattr(other, name))
        for key, place in other.places.items():
            self.places.setdefault(key, place)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain JSON."""
        return {
            "calls": self.calls,
            "sessions": self.sessions,
            "seconds": round(self.seconds, 3),
            "verdicts": dict(self.verdicts),
            "tools": [
                {"tool": tool, "verdict": verdict, "calls": n} for (tool, verdict), n in self.tools.most_common()
            ],
            "rules": [
                {"rule": rule, "verdict": verdict, "calls": n, "first": self.places.get((rule,))}
                for (rule, verdict), n in self.rules.most_common()
            ],
            "changes": [
                {
                    "before": key[0], "now": key[1], "tool": key[2], "rule": key[3], "calls": n,
                    "first": self.places.get(key),
                }
                for key, n in self.changes.most_common()
            ],
            "sessions_with_a_loss": dict(self.lost),
            "bad_lines": [
                {"error": error, "lines": n, "first": self.places.get(("bad", error))}
                for error, n in self.bad.most_common()
            ],
        }  # fmt: skip
