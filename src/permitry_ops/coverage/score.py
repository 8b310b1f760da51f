"""Which mutants of rules some calls notice, and for each of the others a call that would."""

import enum
import itertools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from permitry.actions.extract import ReadActions
from permitry.conditions.match import Match
from permitry.conditions.scope import Conditions, Scope
from permitry.config.drafts import RuleDraft
from permitry.config.examples import READER, Example, example_problems, list_examples
from permitry.config.ruleset import RuleSet
from permitry.core.decision import Decision, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.errors import CallError, RuleError
from permitry.rules.configured import ConfiguredRule
from permitry_ops.coverage.mutants import Mutant
from permitry_ops.coverage.parts import ask
from permitry_ops.coverage.probes import Probe, same
from permitry_ops.diff.openings import openings
from permitry_ops.diff.search import Search
from permitry_ops.diff.side import Line, Side
from permitry_ops.diff.solve import Solver
from permitry_ops.diff.ways import Way, ways_to_match, ways_to_miss

__all__ = ["WORKSPACE", "Fate", "Judge", "Outcome", "Score"]

WORKSPACE = "/home/ann/project"
"""The folder in which the calls are made that would notice a mutant."""


class Fate(enum.Enum):
    """What became of a mutant."""

    NOTICED = "noticed"
    EQUAL = "equal"
    """No call is decided otherwise: that is proven."""
    MISSED = "missed"
    UNPROVEN = "not proven"
    """Nothing noticed it, and no call was found that would; there may be one."""


@attrs.frozen(eq=False)
class Outcome:
    """What became of a mutant: `by` what it was noticed, the call that would, or `why` none is known."""

    mutant: Mutant
    fate: Fate
    by: str = ""
    line: Line | None = None
    why: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        rule = self.mutant.rule
        return {
            "rule": rule.id,
            "source": rule.source,
            "mutant": self.mutant.what,
            "fate": self.fate.value,
            "by": self.by or None,
            "call": self.line,
            "why": list(self.why),
        }


@attrs.frozen
class Score:
    """What became of all mutants; those that change no decision do not count."""

    outcomes: tuple[Outcome, ...]

    def among(self, *fates: Fate) -> tuple[Outcome, ...]:
        """Return the outcomes with one of some fates."""
        return tuple(each for each in self.outcomes if each.fate in fates)

    @property
    def counted(self) -> int:
        """How many mutants count."""
        return len(self.outcomes) - len(self.among(Fate.EQUAL))

    @property
    def percent(self) -> float:
        """How many of a hundred mutants that count were noticed; 100 where none count."""
        return 100 * len(self.among(Fate.NOTICED)) / self.counted if self.counted else 100.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        counts = {fate.name.lower(): len(self.among(fate)) for fate in Fate}
        mutants = [each.to_dict() for each in self.outcomes]
        return {**counts, "percent": round(self.percent, 1), "mutants": mutants}


_Answer: TypeAlias = tuple[object, ...]
_FALSE: _Answer = (False, frozenset())


@attrs.define
class Judge:
    """Tries mutants of the rules of a set with calls and examples; looks for a call no longer than `seconds` each."""

    rules: RuleSet
    probes: Sequence[Probe]
    drafts: Mapping[str, RuleDraft]
    seconds: float = 2.0
    _side: Side = attrs.field(init=False)
    _answers: dict[tuple[int, str], _Answer] = attrs.field(factory=dict, init=False)
    _examples: dict[str, Sequence[tuple[Example, _Answer]]] = attrs.field(factory=dict, init=False)
    _probes_of: dict[str, Sequence[Probe]] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self._side = Side.of(self.rules, WORKSPACE)

    def judge(self, mutant: Mutant) -> Outcome:
        """Return what becomes of a mutant."""
        by = self._noticed_by_example(mutant) or self._noticed_by_call(mutant)
        return Outcome(mutant, Fate.NOTICED, by) if by else self._look(mutant)

    def decide(self, line: Line) -> Decision:
        """Return what the rules decide of a call. Raises: `CallError`."""
        return self._side.decide(line)

    def _noticed_by_example(self, mutant: Mutant) -> str:
        """Return the place of an example that no longer holds; empty where all do, or nothing but the effect differs."""
        draft, scope = self.drafts.get(mutant.rule.id), mutant.scope
        if draft is None or scope is None:
            return ""
        is_permission = mutant.rule.effect is Verdict.ALLOW
        examples = self._examples_of(mutant.rule, draft)
        if all(_ask_example(scope, each, is_permission=is_permission) == before for each, before in examples):
            return ""
        problems = example_problems(draft, scope, self.rules.templates, self.rules.tools, self._reader)
        found = next(problems, None)
        return "" if found is None else f"{found.path}:{found.line}"

    def _examples_of(self, rule: ConfiguredRule, draft: RuleDraft) -> Sequence[tuple[Example, _Answer]]:
        """Return the examples of a rule, and what it says of them."""
        if rule.id not in self._examples:
            every = list_examples(draft, self.rules.templates, self.rules.tools, self._reader)
            is_permission = rule.effect is Verdict.ALLOW
            asked = [(each, _ask_example(rule.scope, each, is_permission=is_permission)) for each in every]
            self._examples[rule.id] = asked
        return self._examples[rule.id]

    @property
    def _reader(self) -> ReadActions:
        return READER.with_records(self.rules.records)

    def _noticed_by_call(self, mutant: Mutant) -> str:
        """Return the name of a call that is decided otherwise than is wanted; empty where there is none."""
        policies: dict[int, AuthorizationPolicy] = {}
        for probe in self._decided_by(mutant.rule):
            tested = probe.tested
            if not self._may_matter(mutant, probe):
                continue
            if id(tested) not in policies:
                policies[id(tested)] = mutant.within(tested.rules).policy()
            if probe.differs(probe.decide(policies[id(tested)])):
                return probe.name
        return ""

    def _decided_by(self, rule: ConfiguredRule) -> Sequence[Probe]:
        """Return the calls of which a rule is among those that decide."""
        if rule.id not in self._probes_of:
            known_as = same(rule)
            self._probes_of[rule.id] = [each for each in self.probes if known_as in each.tested.known]
        return self._probes_of[rule.id]

    def _may_matter(self, mutant: Mutant, probe: Probe) -> bool:
        """Return whether a call could be decided otherwise: the rule answers otherwise, or its effect is another one."""
        context = probe.context
        if context.parent is not None or context.rules is not None or _reads_twice(probe):
            # It is decided in more than one way.
            return True
        key = id(probe), mutant.rule.id
        if key not in self._answers:
            self._answers[key] = _answer(mutant.rule, probe.request)
        before, changed = self._answers[key], mutant.changed
        after = _FALSE if changed is None else _answer(changed, probe.request)
        has_effect = changed is not None and changed.effect is not mutant.rule.effect
        return before != after or (has_effect and before != _FALSE)

    def _look(self, mutant: Mutant) -> Outcome:
        """Return the call that would notice a mutant, that there is none, or why neither is known."""
        try:
            other = Side.of(mutant.within(self.rules), WORKSPACE)
        except RuleError:
            return Outcome(mutant, Fate.NOTICED, "the rules, which do not load with it")
        line = self._guess(mutant, other)
        if line is not None:
            return Outcome(mutant, Fate.MISSED, line=self._move_home(line, other))
        deadline = time.monotonic() + self.seconds
        why: dict[str, None] = {}
        for old, new in ((self._side, other), (other, self._side)):
            search = Search(old, new, deadline=deadline)
            for opening in openings(old, new):
                answer = search.answer(opening)
                if answer.witness is not None:
                    return Outcome(mutant, Fate.MISSED, line=self._move_home(answer.witness.line, other))
                why |= dict.fromkeys(answer.why)
        return Outcome(mutant, Fate.UNPROVEN if why else Fate.EQUAL, why=tuple(why))

    def _guess(self, mutant: Mutant, other: Side) -> Line | None:
        """Return a call that is likely to be decided otherwise and is; a search asks more, and takes longer."""
        solver = Solver(self._side, other)
        for line in itertools.chain.from_iterable(solver.solve(way).lines for way in _likely_ways(mutant)):
            # What is asked about in any case shows in YOLO mode that a rule asks.
            for each in (line, {**line, "context": {**line.get("context", {}), "yolo_mode": True}}):
                if self._shows(each, other):
                    return each
        return None

    def _move_home(self, line: Line, other: Side) -> Line:
        """Return a call without the home folder of this machine in it, if it still shows the difference."""
        text = json.dumps(line)
        for home in self._side.roots.home:
            text = text.replace(f"{home}/", "~/")
        moved: Line = json.loads(text)
        return moved if self._shows(moved, other) else line

    def _shows(self, line: Line, other: Side) -> bool:
        """Return whether the rules and a mutant come to different verdicts about a call."""
        try:
            return self.decide(line).verdict is not other.decide(line).verdict
        except CallError:
            return False


def _likely_ways(mutant: Mutant) -> Iterator[Way]:
    """Yield what must be true of the likely calls: that the rule matches, or that its exception applies as well."""
    likely = attrs.evolve(mutant.rule, scope=attrs.evolve(mutant.likely, unless=()))
    for way in ways_to_match(likely):
        if mutant.likely.unless == mutant.rule.scope.unless:
            yield way
        for miss in ways_to_miss(attrs.evolve(mutant.rule, scope=attrs.evolve(mutant.likely, when=Conditions()))):
            if miss[0].is_wanted:
                yield (*way, *miss)


def _reads_twice(probe: Probe) -> bool:
    """Return whether the reader of its policy has another one, which reads what is not trusted."""
    return getattr(probe.tested.policy.reader, "doubtful", None) is not None


def _ask_example(scope: Scope, example: Example, *, is_permission: bool) -> _Answer:
    """Return what a scope says of an example: whether its tool is selected, and whether what is left of it holds."""
    narrowed, needed = example.narrow(scope), Match.YES if is_permission else Match.ALIKE
    return scope.selects(example.request, needed), ask(narrowed, example.request, is_certain=is_permission)


def _answer(rule: ConfiguredRule, request: Request) -> _Answer:
    """Return what a rule says of a call: whether it matches, and which actions it covers."""
    try:
        return rule.matches(request), rule.covers(request)
    except Exception as error:  # noqa: BLE001 -- law 2: that a rule fails is an answer as well
        return (repr(error),)
