"""What a policy answers: verdicts and decisions."""

import enum
import functools
from typing import NoReturn

import attrs

from permitry.errors import safe_str

__all__ = ["Decision", "Phase", "RuleFailure", "Verdict"]


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
    HOST = "host"
    """The rules would allow the call, but the host has asked about it before."""


@attrs.frozen
class RuleFailure:
    """A rule that could not be evaluated, and why."""

    rule_id: str
    error: str

    @classmethod
    def of(cls, rule_id: str, error: Exception) -> "RuleFailure":
        """Return the record of a rule that failed with an exception."""
        return cls(rule_id, f"{type(error).__name__}: {safe_str(error)}")

    def __str__(self) -> str:
        return f"{self.rule_id}: {self.error}"


@attrs.frozen
class Decision:
    """A verdict with its grounds. It names no call, so equal decisions can be one object.

    `rule_id` is None when no rule matched. `reason` is for the operator, `message` for the model: they never mix.
    `source` is the deciding rule's `file:line`, or `built-in`. `errors` lists every rule that failed on the way.
    `keeps`: a permission has a part in it that permits only what can be undone, so what changes is to be kept first.
    """

    verdict: Verdict
    rule_id: str | None
    phase: Phase
    reason: str
    message: str | None = None
    errors: tuple[RuleFailure, ...] = ()
    source: str | None = None
    policy_version: str = ""
    keeps: bool = False

    @property
    def is_question_of_rule(self) -> bool:
        """Whether a rule asks, and not the lack of one: it asks again, even where the tool is remembered."""
        return self.verdict is Verdict.CONFIRM and self.phase is not Phase.DEFAULT

    def __bool__(self) -> NoReturn:
        raise TypeError("a Decision is not a yes or no; compare `decision.verdict` with a Verdict")
