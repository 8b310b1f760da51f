"""What is counted of a record, in memory that grows with tools, rules and hours, not with records."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from permitry.cli.approvers import Approvers

__all__ = ["Stats"]

Table: TypeAlias = tuple[str, tuple[str, ...], Sequence[tuple[str, ...]]]

_HOUR = len("2026-11-23T10")
_BAR = 40
_NO_RULE = "(no rule)"


@attrs.define
class _Times:
    """How often a tool ran, and how many seconds that took."""

    runs: int = 0
    total: float = 0.0
    longest: float = 0.0

    def add(self, seconds: float) -> None:
        """Add a run."""
        self.runs += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)

    def row(self, tool: str) -> tuple[str, ...]:
        """Return the row of a table."""
        mean = self.total / self.runs
        return (
            tool,
            f"{self.runs:,}",
            f"{mean:.3f}",
            f"{self.longest:.3f}",
        )


@attrs.define
class Stats:
    """Counts of the events in a record, which `add` takes one after the other."""

    calls: int = 0
    sessions: set[str] = attrs.field(factory=set)
    verdicts: Counter[str] = attrs.field(factory=Counter)
    tools: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    rules: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    questions: Counter[str] = attrs.field(factory=Counter)
    answers: Counter[str] = attrs.field(factory=Counter)
    outcomes: Counter[str] = attrs.field(factory=Counter)
    times: dict[str, _Times] = attrs.field(factory=dict)
    approvers: Approvers = attrs.field(factory=Approvers)

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one event."""
        if "session" in record:
            self.sessions.add(str(record["session"]))
        match record.get("event"):
            case "decided":
                tool, verdict = str(record.get("tool")), str(record.get("verdict"))
                self.calls += 1
                self.verdicts[verdict] += 1
                self.tools[tool, verdict] += 1
                self.rules[str(record.get("rule") or _NO_RULE), verdict] += 1
            case "asked":
                self.approvers.ask(record)
                self.questions[str(record.get("at"))[:_HOUR]] += 1
            case "answered":
                self.approvers.answer(record)
                self.answers["approved" if record.get("approved") else "not approved"] += 1
            case "finished":
                self.outcomes[str(record.get("outcome"))] += 1
                self._add_run(record)

    def _add_run(self, record: Mapping[str, Any]) -> None:
        times = self.times.setdefault(str(record.get("tool")), _Times())
        times.add(float(record.get("seconds") or 0))

    def find_unused(self, rules: Iterable[str]) -> list[str]:
        """Return those of the ids of rules that have decided nothing."""
        used = {rule for rule, _ in self.rules}
        return [rule for rule in rules if rule not in used]

    def tables(self, most: int) -> list[Table]:
        """Return tables for people: title, columns and rows, of which the `most` frequent or longest."""
        return [
            (
                "by tool",
                ("tool", "verdict", "calls"),
                _rows(self.tools.most_common(most)),
            ),
            (
                "by rule",
                ("rule", "verdict", "calls"),
                _rows(self.rules.most_common(most)),
            ),
            ("questions by hour (UTC)", ("hour", "calls", ""), self._by_hour(most)),
            ("answers", ("answer", "calls"), _rows(self.answers.most_common())),
            self.approvers.table(),
            ("how runs ended", ("outcome", "calls"), _rows(self.outcomes.most_common())),
            (
                "slowest tools, in seconds",
                ("tool", "calls", "mean", "longest"),
                self._slowest(most),
            ),
        ]

    def _by_hour(self, most: int) -> list[tuple[str, ...]]:
        highest = max(self.questions.values(), default=1)
        return [
            (f"{hour.replace('T', ' ')}h", f"{n:,}", "█" * max(1, n * _BAR // highest))
            for hour, n in sorted(self.questions.items())[-most:]
        ]

    def _slowest(self, most: int) -> list[tuple[str, ...]]:
        slow = sorted(self.times.items(), key=lambda item: -item[1].longest)
        return [times.row(tool) for tool, times in slow[:most]]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain JSON."""
        return {
            "decisions": self.calls,
            "sessions": len(self.sessions),
            "verdicts": dict(self.verdicts),
            "tools": _dicts("tool", self.tools),
            "rules": _dicts("rule", self.rules),
            "questions_by_hour": dict(sorted(self.questions.items())),
            "answers": dict(self.answers),
            "approvers": self.approvers.to_dict(),
            "outcomes": dict(self.outcomes),
            "seconds": {tool: attrs.asdict(times) for tool, times in self.times.items()},
        }


def _dicts(name: str, counts: Counter[tuple[str, str]]) -> list[dict[str, object]]:
    return [{name: key, "verdict": verdict, "calls": n} for (key, verdict), n in counts.most_common()]


def _rows(counts: Iterable[tuple[str | tuple[str, ...], int]]) -> list[tuple[str, ...]]:
    return [(*((key,) if isinstance(key, str) else key), f"{n:,}") for key, n in counts]
