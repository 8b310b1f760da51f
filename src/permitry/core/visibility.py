"""What can be said of a tool before it is called: whether every call of it is certain to be blocked.

The rules are asked with a stand-in for the call, of which only the tool is known. What a rule decides without looking
at more than that, it decides for every call.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import NoReturn, TypeAlias, cast

import attrs

from permitry.core._evaluate import Evaluate, Phases
from permitry.core._known import Unresolved, unknown_context
from permitry.core.compiled_rule import CompiledRule
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import Request, Rule, Unsure
from permitry.core.spec import ToolSpec

__all__ = ["Visibility"]

# Looked up once: that takes longer than to compare it.
_BLOCK = Verdict.BLOCK

_CERTAIN = (True, None)
"""The answers by which a restriction matches: law 2 counts one that fails as matched."""

Ask: TypeAlias = Callable[[AuthContext, ToolSpec], Request]
Answer: TypeAlias = bool | Unsure | None


class Visibility:
    """Whether all calls of one tool are blocked, by context. Thread-safe.

    `ask` returns the request about a call of which only the tool is known.
    """

    __slots__ = ("_ask", "_blocking", "_evaluate", "_phases")

    def __init__(self, spec: ToolSpec, phases: Phases, evaluate: Evaluate, ask: Ask) -> None:
        self._evaluate, self._ask = evaluate, ask
        self._phases = Phases.of(map(_for_trial, phases.every), phases.cache)
        trial = ask(unknown_context(), spec)
        # Those that look at the call before the context are uncertain in every context.
        restrictions = self._phases.restrictions
        self._blocking = [rule for rule in restrictions if rule.effect is _BLOCK and _may_match(rule, trial)]

    def blocks_all(self, context: AuthContext, spec: ToolSpec) -> bool:
        """Return whether every call of the tool is certain to be blocked in this context."""
        blocks_others = self._phases.cache.unmatched is _BLOCK
        if not (self._blocking or blocks_others):
            return False
        request = self._ask(context, spec)
        if self._may_override(request):
            return False
        for rule in self._blocking:
            if _ask(rule, request) in _CERTAIN:
                return True
        return blocks_others and self._blocks_unmatched(request)

    def _may_override(self, request: Request) -> bool:
        """Return whether an override allows some call of the tool; in doubt, True."""
        for rule in self._phases.overrides:
            answer = _ask(rule, request)
            if answer is True or isinstance(answer, Unresolved):
                return True
        return False

    def _blocks_unmatched(self, request: Request) -> bool:
        """Return whether every call is certain to be blocked, as no rule permits any."""
        try:
            return self._evaluate(request, self._phases).verdict is _BLOCK
        except Unresolved:
            return False


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


def _ask(rule: CompiledRule, request: Request) -> Answer | Unresolved:
    """Return what a rule answers for every call; the signal where that depends on what a stand-in does not know."""
    try:
        return rule.ask(request, [])
    except Unresolved as signal:
        return signal


def _may_match(rule: CompiledRule, trial: Request) -> bool:
    """Return whether a restriction may match every call in some context."""
    answer = _ask(rule, trial)
    return answer.is_of_context if isinstance(answer, Unresolved) else answer in _CERTAIN
