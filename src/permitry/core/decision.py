"""What a policy answers: verdicts, decisions, and decisions told in full."""

import enum
import functools
from typing import NoReturn

import attrs

__all__ = ["Decision", "Explanation", "Phase", "RuleFailure", "RuleOutcome", "RuleTrace", "Verdict"]


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
    """The call never reached the rules: it is no valid call, or no registered tool."""


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

    `rule_id` is None when no rule spoke. `reason` is for the operator, `message` for the model: they never mix.
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

    def __bool__(self) -> NoReturn:
        raise TypeError("a Decision is not a yes or no; compare `decision.verdict` with a Verdict")


class RuleOutcome(enum.Enum):
    """How one rule answered one question."""

    MATCHED = "matched"
    NOT_MATCHED = "not matched"
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
class Explanation:
    """A decision told in full: every rule looked at, in the order of evaluation."""

    decision: Decision
    rules: tuple[RuleTrace, ...]

    @property
    def matches(self) -> tuple[RuleTrace, ...]:
        """The rules that matched, and the restrictions that failed and so count as matched."""
        return tuple(rule for rule in self.rules if _counts(rule))

    @property
    def near_misses(self) -> tuple[RuleTrace, ...]:
        """The rules that one fact kept from matching."""
        return tuple(rule for rule in self.rules if rule.near_miss is not None)


def _counts(rule: RuleTrace) -> bool:
    failed_restriction = rule.outcome is RuleOutcome.FAILED and rule.phase is Phase.RESTRICTION
    return failed_restriction or rule.outcome is RuleOutcome.MATCHED
