"""A rule as the policy keeps it: everything asked of it once, and its decisions made beforehand."""

import itertools
import re
from collections.abc import Callable, Iterable
from typing import TypeGuard

import attrs

from permitry.core.decision import Decision, Phase, RuleFailure, RuleOutcome, RuleTrace, Verdict
from permitry.core.pattern import Pattern
from permitry.core.rule import (
    AnyRule,
    AuthorizationRule,
    PermissionRule,
    Question,
    Rest,
    Selector,
    Unsure,
    own_method,
    phase_of,
)
from permitry.errors import RuleError, told

CONFIRM_MESSAGE = "This call needs the user's confirmation before it runs."
_BLOCK_MESSAGE = (
    "This call is not permitted and did not run. Do not retry it; go on without it or ask the user how to proceed."
)
_DEFAULT_MESSAGES = {Verdict.ALLOW: None, Verdict.CONFIRM: CONFIRM_MESSAGE, Verdict.BLOCK: _BLOCK_MESSAGE}


def failure_of(rule_id: str, error: Exception) -> RuleFailure:
    """Return the record of a rule that failed with an exception."""
    return RuleFailure(rule_id, f"{type(error).__name__}: {told(error)}")


def with_errors(decision: Decision, failures: Iterable[RuleFailure]) -> Decision:
    """Return the decision with the rules that failed on the way to it."""
    return Decision(
        decision.verdict,
        decision.rule_id,
        decision.phase,
        decision.reason,
        decision.message,
        tuple(failures),
        decision.source,
        decision.policy_version,
    )


@attrs.frozen
class Entry:
    """One rule of a policy.

    `covers` is there for a permission that speaks about actions: it returns the indices of those it permits.
    `always_matches` is there for a rule that may know its answer before a call has arguments. `selectors` and `residue`
    are there for one that says which tools it is about, and what is left to ask of it.
    """

    rule_id: str
    priority: int
    phase: Phase
    decision: Decision
    test: Callable[[Question], bool | Unsure] = attrs.field(repr=False)
    near_miss: Callable[[Question], str | None] = attrs.field(repr=False)
    covers: Callable[[Question], frozenset[int]] | None = attrs.field(default=None, repr=False)
    always_matches: Callable[[Question], bool | None] | None = attrs.field(default=None, repr=False)
    selectors: tuple[Selector, ...] | None = attrs.field(default=None, repr=False)
    residue: Callable[..., Rest | bool | None] | None = attrs.field(default=None, repr=False)

    def decides(self, question: Question, failures: list[RuleFailure]) -> Decision | None:
        """Return the rule's decision if it matches, or None; a failure is kept and counts against the call."""
        return self._decision(self._answer(question, failures))

    def covered(self, question: Question, failures: list[RuleFailure]) -> frozenset[int]:
        """Return the indices of the actions the rule permits; none where it fails."""
        try:
            return frozenset() if self.covers is None else frozenset(self.covers(question))
        except Exception as error:  # noqa: BLE001 -- a failing rule must never decide in the call's favour
            failures.append(failure_of(self.rule_id, error))
            return frozenset()

    def always(self, question: Question) -> bool | None:
        """Return the rule's answer to every call of the tool, whatever its arguments; None when it cannot tell."""
        try:
            answer = None if self.always_matches is None else self.always_matches(question)
        except Exception:  # noqa: BLE001 -- it only decides what is shown; what cannot be told is no answer
            return None
        return answer if answer is True or answer is False else None

    def trace(self, question: Question, deciding: str | None) -> RuleTrace:
        """Return the rule's part in the decision, for a human."""
        failures: list[RuleFailure] = []
        answer = self._answer(question, failures)
        outcome = self._outcome(question, answer, failures)
        doubt = answer.reason if isinstance(answer, Unsure) else None
        is_near = outcome in (RuleOutcome.NOT_MATCHED, RuleOutcome.COVERED)
        return RuleTrace(
            rule_id=self.rule_id,
            phase=self.phase,
            priority=self.priority,
            effect=self.decision.verdict,
            outcome=outcome,
            source=self.decision.source,
            reason=self.decision.reason,
            deciding=self.rule_id == deciding,
            near_miss=self._near_miss(question) if is_near else None,
            error=failures[0].error if failures else doubt,
        )

    def _answer(self, question: Question, failures: list[RuleFailure]) -> bool | Unsure | None:
        """Return the rule's answer; None for a failure, which is kept."""
        try:
            answer = self.test(question)
        except Exception as error:  # noqa: BLE001 -- a failing rule must never decide in the call's favour
            failures.append(failure_of(self.rule_id, error))
            return None
        if answer is True or answer is False or isinstance(answer, Unsure):
            return answer
        failures.append(RuleFailure(self.rule_id, f"answered {told(answer, repr)}, not True or False"))
        return None

    def _decision(self, answer: bool | Unsure | None) -> Decision | None:  # noqa: FBT001 -- it is the answer that is judged
        if isinstance(answer, Unsure):
            return self._unsure(answer)
        if answer is None:
            # INVARIANT: law 2. A restriction that fails counts as matched, a permission as not matched.
            return self.decision if self.phase is Phase.RESTRICTION else None
        return self.decision if answer else None

    def _unsure(self, answer: Unsure) -> Decision | None:
        # INVARIANT: law 3. What cannot be read makes a restriction ask, and a permission not match.
        if self.phase is not Phase.RESTRICTION:
            return None
        reason = f"not certain: {answer.reason} ({self.decision.reason})"
        return attrs.evolve(self.decision, verdict=Verdict.CONFIRM, reason=reason, message=CONFIRM_MESSAGE)

    def _outcome(
        self,
        question: Question,
        answer: bool | Unsure | None,  # noqa: FBT001 -- it is the answer that is judged
        failures: list[RuleFailure],
    ) -> RuleOutcome:
        if isinstance(answer, Unsure):
            return RuleOutcome.UNSURE
        if answer is True:
            return RuleOutcome.MATCHED
        covers_a_part = not failures and bool(self.covered(question, failures))
        if failures:
            return RuleOutcome.FAILED
        return RuleOutcome.COVERED if covers_a_part else RuleOutcome.NOT_MATCHED

    def _near_miss(self, question: Question) -> str | None:
        try:
            return self.near_miss(question)
        except Exception:  # noqa: BLE001 -- a near miss is a courtesy; it must not cost the explanation
            return None


def compiled(rules: Iterable[AnyRule], version: str) -> Iterable[Entry]:
    """Yield the entries of rules, in their order.

    Raises: `RuleError` for a rule without a usable id, priority or effect, and for a duplicate id.
    """
    seen: set[str] = set()
    for rule in rules:
        entry = _entry(rule, version) if _is_full(rule) else _permission_entry(rule, version, seen)
        if entry.rule_id in seen:
            raise RuleError(f"two rules have the id `{entry.rule_id}`")
        seen.add(entry.rule_id)
        yield entry


def _is_full(rule: AnyRule) -> TypeGuard[AuthorizationRule]:
    # Asked of the object, not of its class: a wrapper forwards what it wraps, and a restriction stays one.
    return hasattr(rule, "matches") or hasattr(rule, "effect")


def _entry(rule: AuthorizationRule, version: str) -> Entry:
    name = type(rule).__name__
    try:
        rule_id, effect, reason, message = rule.id, rule.effect, rule.reason, rule.message
        source, test, near_miss = rule.source, rule.matches, rule.near_miss
    except AttributeError as error:
        raise RuleError(f"`{name}` is no rule: {error}") from error
    if type(rule_id) is not str or not rule_id:
        raise RuleError(f"`{name}` has no id")
    if not isinstance(effect, Verdict):
        raise RuleError(f"rule `{rule_id}`: the effect must be a Verdict, not {effect!r}")
    priority = _checked_priority(rule, rule_id)
    phase = phase_of(priority)
    if phase is None or (effect is Verdict.ALLOW) is (phase is Phase.RESTRICTION):
        raise RuleError(
            f"rule `{rule_id}`: priority {priority} does not fit the effect {effect.value}; "
            "100 to 199 confirm or block, 0 to 99 and 200 to 399 allow"
        )
    told = _DEFAULT_MESSAGES[effect] if message is None else message
    decision = Decision(effect, rule_id, phase, reason, told, source=source, policy_version=version)
    covers = getattr(rule, "covers", None) if phase is Phase.PERMISSION else None
    always_matches = getattr(rule, "always_matches", None)
    selectors, residue = _selectors(rule), own_method(rule, "residue", "matches", "covers")
    return Entry(rule_id, priority, phase, decision, test, near_miss, covers, always_matches, selectors, residue)


def _selectors(rule: AuthorizationRule) -> tuple[Selector, ...] | None:
    """Return the selectors of the only tools the rule can be about; None for any tool."""
    method = own_method(rule, "selectors", "matches", "covers")
    try:
        selectors = None if method is None else method()
        if selectors is None or not all(isinstance(each.pattern, Pattern | None) for each in selectors):
            return None
        hash(selectors)
    except Exception:  # noqa: BLE001 -- a rule that cannot say what it is about is asked about every call
        return None
    return tuple(selectors) or None


def _permission_entry(rule: AnyRule, version: str, seen: set[str]) -> Entry:
    name = type(rule).__name__
    if not isinstance(rule, PermissionRule):
        raise RuleError(f"`{name}` is no rule: it has neither an effect nor `should_allow_without_confirmation`")
    kebab = re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
    numbered = (f"{kebab}-{number}" for number in itertools.count(2))
    rule_id = kebab if kebab not in seen else next(each for each in numbered if each not in seen)
    priority = _checked_priority(rule, rule_id)
    if phase_of(priority) is None:
        raise RuleError(f"rule `{rule_id}`: priority {priority} is outside 0 to 399")
    decision = Decision(Verdict.ALLOW, rule_id, Phase.PERMISSION, f"{name} permits it", policy_version=version)

    def test(question: Question) -> bool:
        return rule.should_allow_without_confirmation(question.call.tool, question.context)

    # INVARIANT: law 1. A two-method rule says only "allow", so whatever its priority it speaks after the restrictions.
    return Entry(rule_id, priority, Phase.PERMISSION, decision, test, lambda _: None)


def _checked_priority(rule: AnyRule, rule_id: str) -> int:
    priority = rule.priority()
    if type(priority) is not int:
        raise RuleError(f"rule `{rule_id}`: the priority must be a whole number, not {priority!r}")
    return priority
