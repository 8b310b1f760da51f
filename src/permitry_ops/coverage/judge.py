"""Tries each mistake in rules with calls and examples, and looks for a call where none notices it."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import attrs

from permitry.conditions.match import Match
from permitry.conditions.scope import Scope
from permitry.config.drafts import RuleDraft
from permitry.config.examples import READER, example_problems
from permitry.config.ruleset import RuleSet
from permitry.core.decision import Decision, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.errors import RuleError, UnevaluableError
from permitry.golden.deciders import same
from permitry.rules.configured import ConfiguredRule
from permitry_ops.coverage.examples import Example, list_calls, list_examples
from permitry_ops.coverage.mutants import Mutant
from permitry_ops.coverage.parts import ask
from permitry_ops.coverage.probes import Probe
from permitry_ops.coverage.score import Fate, Outcome
from permitry_ops.coverage.witness import look
from permitry_ops.diff.side import Line, Side

__all__ = ["WORKSPACE", "Judge"]

WORKSPACE = "/home/ann/project"
"""The folder in which the calls are made that would notice a mutant."""


_Answer: TypeAlias = tuple[object, ...]
_FALSE: _Answer = (False, frozenset())


@attrs.define
class Judge:
    """Tries mutants of the rules of a set with calls and examples; looks for a call no longer than `seconds` each."""

    rules: RuleSet
    probes: Sequence[Probe]
    drafts: Mapping[str, RuleDraft]
    seconds: float = 3.0
    _side: Side = attrs.field(init=False)
    _answers: dict[tuple[int, str], _Answer] = attrs.field(factory=dict, init=False)
    _examples: dict[str, Sequence[tuple[Example, _Answer]]] = attrs.field(factory=dict, init=False)
    _probes_of: dict[str, Sequence[Probe]] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self._side = Side.of(self.rules, WORKSPACE)

    def judge(self, mutant: Mutant) -> Outcome:
        """Return what becomes of a mutant."""
        by = self._find_example(mutant) or self._find_call(mutant)
        if by:
            return Outcome(mutant, Fate.NOTICED, by)
        try:
            drafts = filter(None, [self.drafts.get(mutant.rule.id)])
            likely = itertools.chain.from_iterable(map(list_calls, drafts))
            return look(mutant, self._side, self.seconds, likely)
        except RuleError as error:
            return Outcome(mutant, Fate.NOTICED, f"the rules do not load: {error}")

    def decide(self, line: Line) -> Decision:
        """Return what the rules decide of a call. Raises: `CallError`."""
        return self._side.decide(line)

    def _find_example(self, mutant: Mutant) -> str:
        """Return the place of an example that no longer holds; empty where all do, or the effect alone differs."""
        draft, scope = self.drafts.get(mutant.rule.id), mutant.scope
        if draft is None or scope is None:
            return ""
        is_permission = mutant.rule.effect is Verdict.ALLOW
        examples = self._examples_of(mutant.rule, draft)
        if all(_ask_example(scope, each, is_permission=is_permission) == before for each, before in examples):
            return ""
        reader = READER.with_records(self.rules.records)
        problems = example_problems(draft, scope, self.rules.templates, self.rules.tools, reader)
        found = next(problems, None)
        return "" if found is None else f"{found.path}:{found.line}"

    def _examples_of(self, rule: ConfiguredRule, draft: RuleDraft) -> Sequence[tuple[Example, _Answer]]:
        """Return the examples of a rule, and what it says of them."""
        if rule.id not in self._examples:
            is_permission = rule.effect is Verdict.ALLOW
            every = list_examples(draft, self.rules)
            asked = [(each, _ask_example(rule.scope, each, is_permission=is_permission)) for each in every]
            self._examples[rule.id] = asked
        return self._examples[rule.id]

    def _find_call(self, mutant: Mutant) -> str:
        """Return the name of a call that is decided otherwise than is wanted; empty where there is none."""
        policies: dict[int, AuthorizationPolicy] = {}
        for probe in self._list_probes(mutant.rule):
            decider = probe.decider
            if not self._may_matter(mutant, probe):
                continue
            if id(decider) not in policies:
                policies[id(decider)] = mutant.within(decider.rules).policy()
            if probe.differs(probe.decide(policies[id(decider)])):
                return probe.name
        return ""

    def _list_probes(self, rule: ConfiguredRule) -> Sequence[Probe]:
        """Return the calls of which a rule is among those that decide."""
        if rule.id not in self._probes_of:
            known_as = same(rule)
            self._probes_of[rule.id] = [each for each in self.probes if known_as in each.decider.identities]
        return self._probes_of[rule.id]

    def _may_matter(self, mutant: Mutant, probe: Probe) -> bool:
        """Return whether a call could be decided otherwise: the rule answers otherwise, or has another effect."""
        context = probe.context
        others = (context.parent, context.rules, context.lists)
        if any(each is not None for each in others) or _reads_twice(probe):
            # It is decided in more than one way.
            return True
        key = id(probe), mutant.rule.id
        if key not in self._answers:
            self._answers[key] = _answer(mutant.rule, probe.request)
        before, changed = self._answers[key], mutant.changed
        after = _FALSE if changed is None else _answer(changed, probe.request)
        has_effect = changed is not None and changed.effect is not mutant.rule.effect
        return before != after or (has_effect and before != _FALSE)


def _reads_twice(probe: Probe) -> bool:
    """Return whether the reader of its policy has another one, which reads what is not trusted."""
    return getattr(probe.decider.policy.reader, "doubtful", None) is not None


def _ask_example(scope: Scope, example: Example, *, is_permission: bool) -> _Answer:
    """Return what a scope says of an example: whether its tool is selected, and whether what is left of it holds."""
    narrowed, needed = example.narrow(scope), Match.YES if is_permission else Match.ALIKE
    return scope.selects(example.request, needed), ask(narrowed, example.request, is_certain=is_permission)


def _answer(rule: ConfiguredRule, request: Request) -> _Answer:
    """Return what a rule says of a call: whether it matches, and which actions it covers."""
    try:
        return rule.matches(request), rule.covers(request)
    except UnevaluableError as error:
        return (str(error),)
