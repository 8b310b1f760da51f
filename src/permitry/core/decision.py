"""What a policy answers: verdicts, decisions, and decisions explained in full."""

import enum
import functools
from typing import NoReturn

import attrs

from permitry.core.action import Action

__all__ = ["ActionTrace", "Decision", "Explanation", "Phase", "RuleFailure", "RuleOutcome", "RuleTrace", "Verdict"]


@functools.total_ordering
class Verdict(enum.Enum):
    """What happens to a call; ordered by strictness, `ALLOW < CONFIRM < BLOCK`."""

    ALLOW = "allow"
    CONFIRM = "confirm"
    BLOCK = "block"

    @property
    def strictness(self) -> int:
        """0 for ALLOW, 1 for CONFIRM, 2 for BLOCK."""
        return ("allow", "confirm", "block").index(self.value)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Verdict):
            return NotImplemented
        return self.strictness < other.strictness


class Phase(enum.Enum):
    """The part of the evaluation in which a decision fell."""

    OVERRIDE = "override"
    RESTRICTION = "restriction"
    PERMISSION = "permission"
    DEFAULT = "default"
    INPUT = "input"
    """The call never reached the rules: it is not a valid call, or no registered tool."""


@attrs.frozen
class RuleFailure:
    """A rule that could not be evaluated, and why."""

    rule_id: str
    error: str

    def __str__(self) -> str:
        return f"{self.rule_id}: {self.error}"


@attrs.frozen
class Decision:
    """A verdict with its grounds. It names no call, so equal decisions can be one object.

    `rule_id` is None when no rule matched. `reason` is for the operator, `message` for the model: they never mix.
    `source` is the deciding rule's `file:line`, or `built-in`. `errors` lists every rule that failed on the way.
    """

    verdict: Verdict
    rule_id: str | None
    phase: Phase
    reason: str
    message: str | None = None
    errors: tuple[RuleFailure, ...] = ()
    source: str | None = None
    policy_version: str = ""

    @property
    def is_question_of_rule(self) -> bool:
        """Whether a rule asks, so that remembering the tool does not keep the next call from being asked about."""
        return self.verdict is Verdict.CONFIRM and self.phase is not Phase.DEFAULT

    def __bool__(self) -> NoReturn:
        raise TypeError("a Decision is not a yes or no; compare `decision.verdict` with a Verdict")


class RuleOutcome(enum.Enum):
    """How one rule answered one question."""

    MATCHED = "matched"
    NOT_MATCHED = "not matched"
    UNSURE = "unsure"
    COVERED = "covered in part"
    FAILED = "failed"


@attrs.frozen
class RuleTrace:
    """One rule's part in an explanation; `near_miss` completes "would have matched but for …"."""

    rule_id: str
    phase: Phase
    priority: int
    effect: Verdict
    outcome: RuleOutcome
    source: str | None
    reason: str
    deciding: bool = False
    near_miss: str | None = None
    error: str | None = None


@attrs.frozen
class ActionTrace:
    """One action of a call, and the decision it would get alone; what is not certain can only restrict."""

    action: Action
    decision: Decision
    is_certain: bool = True


@attrs.frozen
class Explanation:
    """A decision explained in full: every rule looked at, in the order of evaluation, and every action of the call.

    `agent` names the agent in whose context the decision fell: the caller, or one above it that may do less.
    """

    decision: Decision
    rules: tuple[RuleTrace, ...]
    actions: tuple[ActionTrace, ...] = ()
    agent: str = "main"

    @property
    def matches(self) -> tuple[RuleTrace, ...]:
        """The rules that matched or cover a part, and those that restrict or ask, and failed or are unsure."""
        return tuple(rule for rule in self.rules if _counts(rule))

    @property
    def near_misses(self) -> tuple[RuleTrace, ...]:
        """The rules that one fact kept from matching."""
        near = (rule for rule in self.rules if rule.outcome is RuleOutcome.NOT_MATCHED)
        return tuple(rule for rule in near if rule.near_miss is not None)


def _counts(rule: RuleTrace) -> bool:
    if rule.outcome in (RuleOutcome.FAILED, RuleOutcome.UNSURE):
        return rule.effect is not Verdict.ALLOW
    return rule.outcome in (RuleOutcome.MATCHED, RuleOutcome.COVERED)
