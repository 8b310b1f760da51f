"""What can be said of a tool before it is called: whether every call of it is certain to be blocked.

The ordinary evaluation is run with stand-ins: a call of which only the tool is known, and a context that records which
of its fields are read. What comes of it holds in every context with the same values of these fields.
"""

from collections.abc import Callable, Hashable
from types import SimpleNamespace
from typing import NamedTuple, NoReturn, TypeAlias, cast

import attrs

from permitry.core._evaluate import Evaluate, Phases
from permitry.core._known import Unresolved, key_of, note_fields
from permitry.core.compiled_rule import CompiledRule
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, RuleFailure, Verdict
from permitry.core.rule import Request, Rule
from permitry.core.spec import ToolSpec

__all__ = ["Visibility"]

MOST_CONTEXTS = 1_024
"""The most contexts remembered for a tool; when there are more, all are forgotten and learned again."""

Ask: TypeAlias = Callable[[AuthContext, ToolSpec], Request]


class _Learned(NamedTuple):
    """The context fields that were read so far, and the outcome for each combination of their values.

    An outcome is whether every call is blocked, or the rules to ask. `key` reads the fields of a context.
    """

    fields: frozenset[str]
    key: Callable[[AuthContext], Hashable]
    outcomes: dict[Hashable, bool | tuple[CompiledRule, ...]]


class Visibility:
    """Whether all calls of one tool are blocked, by context. Thread-safe.

    `ask` returns the request about a call of which only the tool is known.
    """

    __slots__ = ("_ask", "_contextual", "_evaluate", "_learned", "_phases", "_rules", "_tool")

    def __init__(self, spec: ToolSpec, phases: Phases, evaluate: Evaluate, ask: Ask) -> None:
        self._tool, self._evaluate, self._ask = spec.name, evaluate, ask
        trial = ask(note_fields(None, spec.name, set()), spec)
        rules = map(_for_trial, phases.every)
        tried = [(rule, _could_match(rule, trial)) for rule in rules]
        left = [(rule, answer) for rule, answer in tried if answer is not False]
        self._rules = tuple(rule for rule, _ in left)
        self._phases = Phases.of(self._rules, phases.cache)
        # Rules that only lacked the context are tried again in each new context.
        self._contextual = frozenset(
            number for number, (_, answer) in enumerate(left) if answer is not True and answer.is_of_context
        )
        self._learned = _Learned(frozenset(), key_of((), spec.name), {})

    def blocks_all(self, context: AuthContext, spec: ToolSpec) -> bool:
        """Return whether every call of the tool is certain to be blocked in this context."""
        _, key, outcomes = self._learned
        outcome = outcomes.get(key(context))
        if outcome is None:
            outcome = self._learn(context, spec)
        if isinstance(outcome, bool):
            return outcome
        # Here the context is known in full, and of the call only the tool.
        request = self._ask(context, spec)
        for rule in outcome:
            if rule.phase is Phase.OVERRIDE and _could_match(rule, request) is not False:
                return False
            if rule.effect is Verdict.BLOCK and _must_block(rule, request):
                return True
        return False

    def _learn(self, context: AuthContext, spec: ToolSpec) -> bool | tuple[CompiledRule, ...]:
        noted: set[str] = set()
        request = self._ask(note_fields(context, self._tool, noted), spec)
        outcome: bool | tuple[CompiledRule, ...]
        try:
            outcome = self._evaluate(request, self._phases).verdict is Verdict.BLOCK
        except Unresolved:
            left = tuple(
                rule
                for number, rule in enumerate(self._rules)
                if number not in self._contextual or _could_match(rule, request) is not False
            )
            outcome = any(rule.effect is Verdict.BLOCK for rule in left) and left
        fields, key, outcomes = self._learned
        if not noted <= fields or len(outcomes) >= MOST_CONTEXTS:
            # INVARIANT: a key may have too many fields, never too few. Outcomes under a key with fewer are discarded.
            fields = fields | noted
            key, outcomes = key_of(fields, self._tool), {}
            self._learned = _Learned(fields, key, outcomes)
        outcomes[key(context)] = outcome
        return outcome


def _for_trial(rule: CompiledRule) -> CompiledRule:
    """Return the rule to ask with stand-ins; one that does not say that it is pure is not asked, and is unresolved."""
    try:
        is_pure: object = rule.rule.is_pure
    except Exception:  # noqa: BLE001 -- a rule that cannot say it does not count as saying it
        is_pure = False
    return rule if is_pure is True else attrs.evolve(rule, rule=_UNRESOLVED)


def _raise_unresolved(_: Request) -> NoReturn:
    raise Unresolved


_UNRESOLVED = cast("Rule", SimpleNamespace(matches=_raise_unresolved, covers=_raise_unresolved))


def _must_block(rule: CompiledRule, request: Request) -> bool:
    try:
        decision = rule.decision_for(rule.ask(request, []))
    except Unresolved:
        return False
    return decision is not None and decision.verdict is Verdict.BLOCK


def _could_match(rule: CompiledRule, request: Request) -> bool | Unresolved:
    """Return False for a rule that cannot match, cover or fail, and otherwise True.

    If that depends on what a stand-in does not know, return the `Unresolved` that it raised.
    """
    failures: list[RuleFailure] = []
    try:
        cannot_match = rule.ask(request, failures) is False and not rule.cover(request, failures)
    except Unresolved as signal:
        return signal
    return bool(failures) or not cannot_match
