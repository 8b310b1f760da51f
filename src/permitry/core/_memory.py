"""Dependency-tracked memoisation of what a policy decides about one tool.

The ordinary evaluation is run once with stand-ins: a call of which only the tool is known, and a context that records
which of its fields are read. If this yields a decision, the decision holds for every call of the tool in every context
with the same values of these fields. If not, the rules that already answer False are left out, and only the others are
asked about each call.
"""

import contextlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from permitry.core._entry import Entry
from permitry.core._evaluate import Phases, decided
from permitry.core._known import Unresolved, key_of, known_call, noting, unread
from permitry.core._version import Version
from permitry.core.action import ActionReader
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, RuleFailure, Verdict
from permitry.core.facts import Fact
from permitry.core.finder import Finder
from permitry.core.rule import Question
from permitry.core.spec import ToolSpec

__all__ = ["Memory", "Reference"]

Reference: TypeAlias = Callable[[], ToolSpec | None]
"""A weak reference to the declaration of a tool, as its registry gave it."""

MOST_CONTEXTS = 1_024
"""The most contexts remembered for a tool; when there are more, all are forgotten and learned again."""

_FEW = 4
"""Up to this number, asking every rule is faster than looking up which can match."""


class _Left(NamedTuple):
    """The rules that have to be asked about each call: their numbers, and the rules by phase, in order."""

    numbers: frozenset[int]
    phases: Phases


class _Finders(NamedTuple):
    """What finds rules by the facts they need: by one set of each rule, and by a fact of any of its sets."""

    by_one_set: Finder
    by_any_set: Finder
    sure_by_needs: frozenset[int]

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> "_Finders":
        needs = [entry.needs() for entry in entries]
        sure = frozenset(at for at, sets in enumerate(needs) if sets and entries[at].is_sure_by_needs)
        together = ([frozenset[Fact]().union(*sets)] if sets else [] for sets in needs)
        return cls(Finder(needs), Finder(together), sure)


class _Learned(NamedTuple):
    """The context fields that were read so far, and the outcome for each combination of their values.

    An outcome is the decision itself, or the rules that have to be asked. `key` reads the fields of a context.
    """

    fields: frozenset[str]
    key: Callable[[AuthContext], Hashable]
    outcomes: dict[Hashable, Decision | _Left]


class Memory:
    """The rules that can match calls of one tool, in order of evaluation, and the outcomes learned. Thread-safe."""

    __slots__ = (
        "_always_asked", "_call", "_completed", "_contextual", "_entries", "_finders", "_known_tool",
        "_learned", "_likely", "_trial", "_version", "kind", "name", "spec",
    )  # fmt: skip

    def __init__(self, entries: Iterable[Entry], question: Question, spec: Reference, version: Version) -> None:
        call = question.call
        self.name: str = call.tool
        self.kind: PayloadKind = call.kind
        # The declaration as given (`question.own`) belongs to its registry, so `spec` is a weak
        # reference to it. What was made here to complete it is kept; None where nothing was added.
        self.spec = spec
        self._completed = None if question.spec is question.own else question.spec
        self._known_tool = None if question.tool is question.own else question.tool
        self._likely = question.likely
        self._version = version
        self._call = known_call(call)
        self._finders: _Finders | None = None
        trial = self._question(self._call, noting(None, self.name, set()), question.own, unread)
        tried = [(entry, _could_match(entry.for_trial, trial)) for entry in entries]
        left = [(entry, answer) for entry, answer in tried if answer is not False]
        self._entries = tuple(entry for entry, _ in left)
        self._trial = tuple(entry.for_trial for entry in self._entries)
        # Rules that only lacked the context are tried again in each new context; the others are asked about every call.
        self._contextual = frozenset(
            number for number, (_, answer) in enumerate(left) if answer is not True and answer.is_of_context
        )
        self._always_asked = frozenset(range(len(left))) - self._contextual
        self._learned = _Learned(frozenset(), key_of((), self.name), {})

    def decide(
        self, call: ToolCall, context: AuthContext, spec: ToolSpec | None, reader: ActionReader | None
    ) -> Decision:
        """Return the decision for a call of the tool, without regard to a parent context."""
        _, key, outcomes = self._learned
        outcome = outcomes.get(key(context))
        if outcome is None:
            outcome = self._learn(context, spec)
        if isinstance(outcome, Decision):
            return outcome
        return self._decide_by_rules(self._question(call, context, spec, reader), outcome)

    def blocks_all(self, context: AuthContext, spec: ToolSpec) -> bool:
        """Return whether every call of the tool is certain to be blocked in this context."""
        _, key, outcomes = self._learned
        outcome = outcomes.get(key(context))
        if outcome is None:
            outcome = self._learn(context, spec)
        if isinstance(outcome, Decision):
            return outcome.verdict is Verdict.BLOCK
        # Here the context is known in full, and of the call only the tool.
        question = self._question(self._call, context, spec, unread)
        for number in sorted(outcome.numbers):
            entry = self._trial[number]
            if entry.phase is Phase.OVERRIDE and _could_match(entry, question) is not False:
                return False
            if entry.effect is Verdict.BLOCK and _must_block(entry, question):
                return True
        return False

    def _learn(self, context: AuthContext, spec: ToolSpec | None) -> Decision | _Left:
        noted: set[str] = set()
        question = self._question(self._call, noting(context, self.name, noted), spec, unread)
        outcome: Decision | _Left
        try:
            outcome = decided(question, self._phases(self._trial))
        except Unresolved:
            left = (number for number in self._contextual if _could_match(self._trial[number], question) is not False)
            outcome = self._left(self._always_asked.union(left))
        fields, key, outcomes = self._learned
        if not noted <= fields or len(outcomes) >= MOST_CONTEXTS:
            # INVARIANT: a key may have too many fields, never too few. Outcomes under a key with fewer are discarded.
            fields = fields | noted
            key, outcomes = key_of(fields, self.name), {}
            self._learned = _Learned(fields, key, outcomes)
        outcomes[key(context)] = outcome
        return outcome

    def _decide_by_rules(self, question: Question, left: _Left) -> Decision:
        phases = left.phases
        if len(left.numbers) > _FEW:
            # Where facts cannot be computed, every rule is asked, and its failure kept.
            with contextlib.suppress(Exception):
                phases = self._candidates(question, left.numbers)
        return decided(question, phases)

    def _left(self, numbers: frozenset[int]) -> _Left:
        return _Left(numbers, self._phases(self._entries[number] for number in sorted(numbers)))

    def _candidates(self, question: Question, numbers: frozenset[int]) -> Phases:
        """Return those of the rules that may match the question, by their needs."""
        finders = self._finders
        if finders is None:
            self._finders = finders = _Finders.of(self._entries)
        facts = question.facts
        found = numbers.intersection(finders.by_one_set.find(facts))
        # Those that look at the actions anyway: for others, the actions are not read.
        unsure = found & finders.sure_by_needs
        if len(unsure) > _FEW and not question.likely and facts.of_actions.is_unread:
            unsure -= finders.by_any_set.find(facts, is_of_known=True)
        else:
            unsure = frozenset()
        entries = (self._entries[number] for number in sorted(found))
        return Phases.of(entries, self._version, frozenset(self._entries[number].rule_id for number in unsure))

    def _phases(self, entries: Iterable[Entry]) -> Phases:
        return Phases.of(entries, self._version)

    def _question(
        self, call: ToolCall, context: AuthContext, spec: ToolSpec | None, reader: ActionReader | None
    ) -> Question:
        """Return the question to the rules, with what is already known about the tool filled in."""
        declared = spec if self._completed is None else self._completed
        question = Question(call, context, declared, reader, own=spec, likely=self._likely)
        if self._known_tool is not None:
            object.__setattr__(question, "tool", self._known_tool)
        return question


def _must_block(entry: Entry, question: Question) -> bool:
    try:
        decision = entry.decides(question, [])
    except Unresolved:
        return False
    return decision is not None and decision.verdict is Verdict.BLOCK


def _could_match(entry: Entry, question: Question) -> bool | Unresolved:
    """Return False for a rule that cannot match, cover or fail, and otherwise True.

    If that depends on what a stand-in does not know, return the `Unresolved` that it raised.
    """
    failures: list[RuleFailure] = []
    try:
        cannot_match = entry.answer(question, failures) is False and not entry.covered(question, failures)
    except Unresolved as signal:
        return signal
    return bool(failures) or not cannot_match
