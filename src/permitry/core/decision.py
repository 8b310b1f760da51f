"""What a policy answers: verdicts and decisions, each made once under its version."""

import enum
import functools
from collections.abc import Callable, Sequence
from typing import NoReturn

import attrs

from permitry.errors import safe_str

__all__ = ["CONFIRM_MESSAGE", "Decision", "DecisionCache", "Phase", "RuleFailure", "Verdict"]

CONFIRM_MESSAGE = "This call needs the user's confirmation before it runs."
_UNMATCHED_MESSAGE = (
    "No rule permits this call, and it did not run. Do not retry it; go on without it or ask the user how to proceed."
)
_APPROVAL = "requires-approval"
_MOST = 16_384
"""So many decisions with failures are kept: texts may depend on what a model writes."""


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


@attrs.define(eq=False)
class DecisionCache:
    """The version of a policy, and the decisions made under it, by the ids of their rules.

    A thread that makes one takes what `setdefault` gives it, so that there is never a second one: whether a rule is
    sure is seen by its very decision. What is decided although rules failed is kept as well, up to a bound.
    """

    _make: Callable[[], str]
    unmatched: Verdict = Verdict.CONFIRM
    _source: str | None = None
    decisions: dict[str | None, Decision] = attrs.field(factory=dict, init=False)
    # By the rule that decided, and those that failed before it.
    _failed: dict[tuple[str | RuleFailure | None, ...], Decision] = attrs.field(factory=dict, init=False)

    @functools.cached_property
    def version(self) -> str:
        """The version of the policy; it is worked out late, as that takes longer than all else."""
        return self._make()

    @functools.cached_property
    def default(self) -> Decision:
        """The decision when no rule matched, made once."""
        message = CONFIRM_MESSAGE if self.unmatched is Verdict.CONFIRM else _UNMATCHED_MESSAGE
        made = Decision(
            self.unmatched,
            None,
            Phase.DEFAULT,
            "no rule matched",
            message,
            source=self._source,
            policy_version=self.version,
        )
        return self.decisions.setdefault(None, made)

    @functools.cached_property
    def approval(self) -> Decision:
        """The decision about a tool that its registry wants asked about, made once."""
        # Not among `decisions`: a rule may have its id.
        return Decision(
            Verdict.CONFIRM,
            _APPROVAL,
            Phase.RESTRICTION,
            "the tool is registered with `requires_approval`",
            CONFIRM_MESSAGE,
            source="built-in",
            policy_version=self.version,
        )

    def with_failures(self, decision: Decision, failures: Sequence[RuleFailure]) -> Decision:
        """Return the decision with the rules that failed on the way to it; the same object for the same of both."""
        if self.decisions.get(decision.rule_id) is not decision:
            # Made for one call, as the reason of a doubt is.
            return attrs.evolve(decision, errors=tuple(failures))
        key = (decision.rule_id, *failures)
        kept = self._failed.get(key)
        if kept is not None:
            return kept
        made = attrs.evolve(decision, errors=tuple(failures))
        if len(self._failed) >= _MOST:
            return made
        return self._failed.setdefault(key, made)

    def __eq__(self, other: object) -> bool:
        return self.version == other.version if isinstance(other, DecisionCache) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.version)
