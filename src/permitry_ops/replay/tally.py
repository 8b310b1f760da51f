"""What is counted of replayed sessions; the memory it takes depends on the rules and tools, not on the calls."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Self, TypeAlias

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec
from permitry.guard.session import Session

__all__ = ["Loss", "Replayed", "Tally", "Watch"]

Watch: TypeAlias = Callable[[str, ToolCall, AuthContext, ToolSpec | None], None]
"""What is given each call: its place, the call, the context, and the declaration of its tool."""

_MOST_TASKS = 10_000
_LONGEST_NAME = 200
_CHANGE = ("before", "now", "tool", "rule")


@attrs.define
class Loss:
    """What a session or a task would lose: the strictest verdict, the first call, how many, in how many sessions."""

    verdict: Verdict
    first: str
    calls: int = 1
    sessions: int = 1

    def add(self, other: Self, *, sessions: int = 0) -> None:
        """Add what was lost later, in so many other sessions."""
        self.verdict = max(self.verdict, other.verdict)
        self.calls += other.calls
        self.sessions += sessions

    def to_dict(self, task: str) -> dict[str, Any]:
        """Return what a task loses as plain JSON."""
        return {
            "task": task,
            "verdict": self.verdict.value,
            "calls": self.calls,
            "sessions": self.sessions,
            "first": self.first,
        }


@attrs.define
class Replayed:
    """A session as it is under a policy, and under the one that is compared with; and what it loses."""

    policy: AuthorizationPolicy
    against: AuthorizationPolicy | None
    make: Callable[[], Session]
    watch: Watch | None
    now: Session = attrs.field(init=False)
    before: Session = attrs.field(init=False)
    loss: Loss | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        """Begin both sessions."""
        self.now, self.before = self.make(), self.make()

    @property
    def pairs(self) -> list[tuple[AuthorizationPolicy, Session]]:
        """The policies that decide, each with its session."""
        return [(self.policy, self.now), *([] if self.against is None else [(self.against, self.before)])]

    def show(self, place: str, call: ToolCall, spec: ToolSpec | None = None) -> None:
        """Pass on a call, in the context in which the policy is asked about it."""
        if self.watch is not None:
            self.watch(place, call, AuthContext.from_state(self.now), spec)

    def lose(self, verdict: Verdict, place: str) -> None:
        """Count a call that is decided more strictly now."""
        if self.loss is None:
            self.loss = Loss(verdict, place)
        else:
            self.loss.add(Loss(verdict, place))


@attrs.define
class Tally:
    """Counts of calls and sessions.

    `changes` counts calls by both verdicts, the tool and the id of the deciding rule; `places` has the
    first call of each kind. `lost` counts sessions in which the new policy is stricter with a call;
    `tasks` has what the first 10,000 that lose one lose, `unlisted` counts the sessions of others.
    `unjudged` counts, by the reason, calls that are in no other count.
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
    tasks: dict[str, Loss] = attrs.field(factory=dict)
    unlisted: int = 0
    bad: Counter[str] = attrs.field(factory=Counter)
    unjudged: Counter[str] = attrs.field(factory=Counter)

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

    def end(self, task: str, loss: Loss | None) -> None:
        """Count a session of a task, and what it loses."""
        self.sessions += 1
        if loss is not None:
            self.lost[loss.verdict.value] += 1
            self._lose(task[:_LONGEST_NAME], loss)

    def _lose(self, task: str, loss: Loss) -> None:
        if task in self.tasks:
            self.tasks[task].add(loss, sessions=loss.sessions)
        elif len(self.tasks) < _MOST_TASKS:
            self.tasks[task] = loss
        else:
            self.unlisted += loss.sessions

    def most_lost(self) -> list[tuple[str, Loss]]:
        """Return the tasks that lose a call, those that lose most first."""
        return sorted(self.tasks.items(), key=lambda item: (-item[1].verdict.strictness, -item[1].calls, item[0]))

    def refuse(self, place: str, error: str) -> None:
        """Count a line that could not be read."""
        self.bad[error] += 1
        self.places.setdefault(("bad", error), place)

    def skip(self, place: str, reason: str) -> None:
        """Count a call that could not be judged."""
        self.unjudged[reason] += 1
        self.places.setdefault(("unjudged", reason), place)

    def add(self, other: Self) -> None:
        """Add the counts of another part."""
        self.calls += other.calls
        self.sessions += other.sessions
        self.seconds += other.seconds
        for name in ("verdicts", "tools", "rules", "changes", "lost", "bad", "unjudged"):
            getattr(self, name).update(getattr(other, name))
        self.unlisted += other.unlisted
        for task, loss in other.tasks.items():
            self._lose(task, loss)
        for key, place in other.places.items():
            self.places.setdefault(key, place)

    @property
    def looser(self) -> int:
        """How many calls are decided less strictly now."""
        return sum(n for (old, new, *_), n in self.changes.items() if Verdict(new) < Verdict(old))

    @property
    def stricter(self) -> int:
        """How many calls are decided more strictly now."""
        return self.changes.total() - self.looser

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
                {**dict(zip(_CHANGE, key, strict=True)), "calls": n, "first": self.places.get(key)}
                for key, n in self.changes.most_common()
            ],
            "looser": self.looser,
            "stricter": self.stricter,
            "sessions_with_a_loss": dict(self.lost),
            "tasks_with_a_loss": [loss.to_dict(task) for task, loss in self.most_lost()],
            "sessions_of_unlisted_tasks": self.unlisted,
            "unjudged": [
                {"reason": reason, "calls": n, "first": self.places.get(("unjudged", reason))}
                for reason, n in self.unjudged.most_common()
            ],
            "bad_lines": [
                {"error": error, "lines": n, "first": self.places.get(("bad", error))}
                for error, n in self.bad.most_common()
            ],
        }  # fmt: skip
