"""A rule as a policy keeps it: what it says of itself is read once, its decision made once."""

import contextlib
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import TypeVar

import attrs

from permitry.core.decision import Decision, DecisionCache, Phase, RuleFailure, Verdict
from permitry.core.explanation import RuleOutcome, RuleTrace
from permitry.core.facts import Fact, Kind
from permitry.core.rule import Request, Rule, Unsure
from permitry.core.source import lists_in
from permitry.core.texts import one_line
from permitry.errors import safe_str

Said = TypeVar("Said")
_DOUBT_MESSAGE = (
    "This call needs the user's confirmation before it runs: what it would do is not certain ({uncertain}). {way_out}"
)
_WAY_OUT = "Plain arguments and single programs are asked about less often than expansions, scripts and patterns."
_OF_FOLDERS = "Name the folders it needs, or leave out what it may not reach, as `--exclude-dir=secrets` does."
# Looked up once: that takes longer than to compare it.
_ALLOW = Verdict.ALLOW


@attrs.define(eq=False, weakref_slot=False)
class CompiledRule:
    """One rule of a policy, as it was then. `can_cover`: it may permit some of the actions of a call."""

    rule: Rule
    rule_id: str
    priority: int
    phase: Phase
    effect: Verdict
    reason: str
    message: str | None
    source: str | None
    cache: DecisionCache
    keeps: bool = False
    can_cover: bool = attrs.field(init=False)

    @can_cover.default
    def _permits_actions(self) -> bool:
        covers = self.rule.covers
        covers_nothing = inspect.ismethod(covers) and covers.__func__ is Rule.covers
        return self.phase is Phase.PERMISSION and self.effect is _ALLOW and not covers_nothing

    @property
    def decision(self) -> Decision:
        """What the rule decides, made on first use."""
        decision = self.cache.decisions.get(self.rule_id)
        if decision is not None:
            return decision
        made = Decision(
            self.effect,
            self.rule_id,
            self.phase,
            self.reason,
            self.message,
            source=self.source,
            policy_version=self.cache.version,
            keeps=self.keeps,
        )
        return self.cache.decisions.setdefault(self.rule_id, made)

    @property
    def specificity(self) -> tuple[int, int]:
        """How narrow the rule is, by what it is written with; (0, 0) for one that does not say."""
        with contextlib.suppress(Exception):
            kind, words = self.rule.specificity
            return operator.index(kind), operator.index(words)
        return 0, 0

    def needs(self) -> Sequence[frozenset[Fact]]:
        """Return sets of facts of which the rule needs one each; none when it does not say."""
        try:
            sets = tuple(map(frozenset, self.rule.needs()))
        except Exception:  # noqa: BLE001 -- a rule that cannot say what it needs is asked about every call
            return ()
        return sets if all(each and all(map(_is_fact, each)) for each in sets) else ()

    def cover(self, request: Request, failures: list[RuleFailure]) -> frozenset[int]:
        """Return the indices of the actions the rule permits; none where it fails."""
        try:
            return frozenset(self.rule.covers(request)) if self.can_cover else frozenset()
        except Exception as error:  # noqa: BLE001 -- a failing rule must never decide in the call's favour
            failures.append(RuleFailure.of(self.rule_id, error))
            return frozenset()

    def trace(self, request: Request, deciding: str | None) -> RuleTrace:
        """Return the rule's part in the decision, for a human."""
        failures: list[RuleFailure] = []
        answer = self.ask(request, failures)
        outcome = self._outcome(request, answer, failures)
        doubt = str(answer) if isinstance(answer, Unsure) else None
        is_near = outcome in (RuleOutcome.NOT_MATCHED, RuleOutcome.COVERED)
        return RuleTrace(
            rule_id=self.rule_id,
            phase=self.phase,
            priority=self.priority,
            effect=self.effect,
            outcome=outcome,
            source=self.source,
            reason=self.reason,
            deciding=self.rule_id == deciding,
            near_miss=_tell(lambda: self.rule.near_miss(request), None) if is_near else None,
            unless=_tell(lambda: self.rule.not_lifted(request), None) if outcome is RuleOutcome.MATCHED else None,
            error=failures[0].error if failures else doubt,
            lists=tuple(sorted(lists_in(self.rule))),
            origins=_tell(lambda: tuple(self.rule.origins(request)), ()),
        )

    def ask(self, request: Request, failures: list[RuleFailure]) -> bool | Unsure | None:
        """Return the rule's answer; None for a failure, which is added to `failures`."""
        try:
            answer = self.rule.matches(request)
        except Exception as error:  # noqa: BLE001 -- a failing rule must never decide in the call's favour
            failures.append(RuleFailure.of(self.rule_id, error))
            return None
        if answer is True or answer is False or isinstance(answer, Unsure):
            return answer
        failures.append(RuleFailure(self.rule_id, f"answered {safe_str(answer, repr)}, not True or False"))
        return None

    def decision_for(self, answer: bool | Unsure | None) -> Decision | None:  # noqa: FBT001 -- the answer is the value itself
        """Return what an answer of the rule decides, or None."""
        if answer is True:
            return self.decision
        if answer is None:
            # INVARIANT: law 2. What restricts or asks counts as matched when it fails, what allows as not matched.
            return None if self.effect is _ALLOW else self.decision
        return self._unsure(answer) if isinstance(answer, Unsure) else None

    def _unsure(self, answer: Unsure) -> Decision | None:
        # INVARIANT: law 3. What cannot be read makes a restriction ask, and a permission not match.
        # The rule's own message would state as a fact what is only possible.
        if self.effect is _ALLOW:
            return None
        if answer.by and self._has_reason:
            reason = f"{self.reason}: {one_line(answer.by)}"
            return attrs.evolve(self.decision, verdict=Verdict.CONFIRM, reason=reason)
        # It may name what a model wrote; a host shows it in its terminal.
        uncertain = one_line(answer.reason)
        # What looks like nothing in particular may be what many rules are about.
        example = "" if answer.likeness else ", for example"
        possible = f"may {one_line(answer.may or 'do what a rule is about')}"
        if self._has_reason:
            possible = f"possibly {self.reason}"
        reason = f"{possible}{example} ({uncertain})"
        way_out = _OF_FOLDERS if " reaches all below " in uncertain else _WAY_OUT
        message = _DOUBT_MESSAGE.format(uncertain=uncertain, way_out=way_out)
        return attrs.evolve(self.decision, verdict=Verdict.CONFIRM, reason=reason, message=message)

    @property
    def _has_reason(self) -> bool:
        """Whether its reason is a phrase for the operator, and not its message for the model."""
        return bool(self.reason) and self.reason != self.message

    def _outcome(
        self,
        request: Request,
        answer: bool | Unsure | None,  # noqa: FBT001 -- the answer is the value itself
        failures: list[RuleFailure],
    ) -> RuleOutcome:
        if answer is True:
            return RuleOutcome.MATCHED
        covers_a_part = not failures and bool(self.cover(request, failures))
        if failures:
            return RuleOutcome.FAILED
        if covers_a_part:
            return RuleOutcome.COVERED
        return RuleOutcome.UNSURE if isinstance(answer, Unsure) else RuleOutcome.NOT_MATCHED


def _tell(say: Callable[[], Said], default: Said) -> Said:
    """Return what a rule says for people; a failure must not cost the explanation."""
    try:
        return say()
    except Exception:  # noqa: BLE001 -- as a rule of others may fail in any way
        return default


def _is_fact(fact: object) -> bool:
    """Return whether it can be looked up: a fact, and a name where its kind has names."""
    return type(fact) is Fact and (fact.kind not in (Kind.TOOL, Kind.PROGRAM) or type(fact.value) is str)
