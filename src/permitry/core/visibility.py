"""What can be said of a tool before it is called: whether every call of it is certain to be blocked.

The rules are asked with stand-ins that are known in part: reading anything else of them raises `Unresolved`. What a
rule decides of a call of which only the tool is known, it decides for every call.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import ClassVar, NoReturn, TypeAlias, cast

import attrs

from permitry.core._evaluate import Evaluate, Phases
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.compiled_rule import CompiledRule
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import ActionReader, Request, Rule, Unsure
from permitry.core.spec import ToolSpec

__all__ = ["Unresolved", "Visibility", "call_of_tool", "raise_unresolved", "unknown_context"]

# Looked up once: that takes longer than to compare it.
_BLOCK = Verdict.BLOCK

_CERTAIN = (True, None)
"""The answers by which a restriction matches: law 2 counts one that fails as matched."""

Ask: TypeAlias = Callable[[AuthContext, ToolSpec, ActionReader], Request]
Answer: TypeAlias = bool | Unsure | None


class Unresolved(BaseException):
    """Raised when an answer depends on something a stand-in does not know; `is_of_context`: on the context only."""

    def __init__(self, *, is_of_context: bool = False) -> None:
        self.is_of_context = is_of_context


def raise_unresolved(*_: object, **__: object) -> NoReturn:
    """Raise `Unresolved`: as a reader of stand-ins, since actions depend on the whole call, or as a rule."""
    raise Unresolved


class _StandIn:
    """An object that refuses comparison, hashing, `repr` and its class: these depend on the whole real object."""

    __slots__ = ()
    _is_of_context: ClassVar[bool] = False

    def _refuse(self, *_: object) -> NoReturn:
        raise Unresolved(is_of_context=self._is_of_context)

    __getattr__ = __eq__ = __hash__ = __repr__ = _refuse
    __class__ = property(_refuse)


class _KnownCall(_StandIn):
    """A call of which only the tool is known."""

    __slots__ = ("kind", "name", "readings", "server", "tool")

    def __init__(self, call: ToolCall) -> None:
        self.name: str = call.name
        self.tool: str = call.tool
        self.server: str | None = call.server
        self.kind: PayloadKind = call.kind
        self.readings: frozenset[str] = call.readings


class _UnknownContext(_StandIn):
    """A context of which nothing is known."""

    __slots__ = ()
    _is_of_context = True


def unknown_context() -> AuthContext:
    """Return a stand-in for a context of which nothing is known."""
    return cast("AuthContext", _UnknownContext())


def call_of_tool(call: ToolCall) -> ToolCall:
    """Return a stand-in for a call of which only the tool is known: its names, server, kind and readings."""
    return cast("ToolCall", _KnownCall(call))


class Visibility:
    """Whether all calls of a tool are blocked; `ask` makes the request about one of which only that is known."""

    __slots__ = ("_ask", "_blocking", "_blocks_others", "_evaluate", "_phases")

    def __init__(self, spec: ToolSpec, phases: Phases, evaluate: Evaluate, ask: Ask) -> None:
        self._evaluate, self._ask = evaluate, ask
        self._phases = Phases.of(map(_for_trial, phases.every), phases.cache)
        self._blocks_others = phases.cache.unmatched is _BLOCK
        trial = ask(unknown_context(), spec, raise_unresolved)
        # Those that look at the call before the context are uncertain in every context.
        restrictions = self._phases.restrictions
        self._blocking = [rule for rule in restrictions if rule.effect is _BLOCK and _may_match(rule, trial)]

    def blocks_all(self, context: AuthContext, spec: ToolSpec) -> bool:
        """Return whether every call of the tool is certain to be blocked in this context."""
        if not (self._blocking or self._blocks_others):
            return False
        request = self._ask(context, spec, raise_unresolved)
        overrides = self._phases.overrides
        if overrides and any(_may_allow(rule, request) for rule in overrides):
            return False
        for rule in self._blocking:
            try:
                if rule.ask(request, []) in _CERTAIN:
                    return True
            except Unresolved:
                continue
        return self._blocks_others and self._blocks_unmatched(request)

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


_UNRESOLVED = cast("Rule", SimpleNamespace(matches=raise_unresolved, covers=raise_unresolved))


def _ask(rule: CompiledRule, request: Request) -> Answer | Unresolved:
    """Return what a rule answers for every call; the signal where that depends on what a stand-in does not know."""
    try:
        return rule.ask(request, [])
    except Unresolved as signal:
        return signal


def _may_allow(override: CompiledRule, request: Request) -> bool:
    """Return whether an override allows some call of the tool; in doubt, True."""
    answer = _ask(override, request)
    return answer is True or isinstance(answer, Unresolved)


def _may_match(rule: CompiledRule, trial: Request) -> bool:
    """Return whether a restriction may match every call in some context."""
    answer = _ask(rule, trial)
    return answer.is_of_context if isinstance(answer, Unresolved) else answer in _CERTAIN
