"""What can be said of a tool before it is called: whether every call of it is certain to be blocked.

The rules are asked with stand-ins that are known in part: reading anything else of them raises `Unresolved`. What a
rule decides of a call of which only the tool is known, it decides for every call.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import NoReturn, TypeAlias, cast

import attrs

from permitry.core._evaluate import Evaluate, Phases
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.compiled_rule import CompiledRule
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import ActionReader, Request, Rule, Unsure
from permitry.core.spec import ToolSpec

__all__ = ["Unresolved", "Visibility", "call_of_tool", "raise_unresolved", "unknown_context"]

Ask: TypeAlias = Callable[[AuthContext, ToolSpec, ActionReader], Request]
Answer: TypeAlias = bool | Unsure | None


class Unresolved(BaseException):
    """Raised when an answer depends on something a stand-in does not know."""


class _OfContext(Unresolved):
    """Raised when it depends on the context only."""


def raise_unresolved(*_: object, **__: object) -> NoReturn:
    """Raise `Unresolved`: as a reader of stand-ins, since actions depend on the whole call, or as a rule."""
    raise Unresolved


class _KnownCall:
    """A call of which only the tool is known. What depends on the whole call, as its class does, is refused."""

    __slots__ = ("kind", "name", "readings", "server", "tool")

    def __init__(self, call: ToolCall) -> None:
        self.name: str = call.name
        self.tool: str = call.tool
        self.server: str | None = call.server
        self.kind: PayloadKind = call.kind
        self.readings: frozenset[str] = call.readings

    __getattr__ = __eq__ = __hash__ = __repr__ = raise_unresolved
    __class__ = property(raise_unresolved)


class _UnknownContext:
    __slots__ = ()

    def _refuse(self, *_: object) -> NoReturn:
        raise _OfContext

    __getattr__ = __eq__ = __hash__ = __repr__ = _refuse
    __class__ = property(_refuse)


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
        self._blocks_others = phases.cache.unmatched is Verdict.BLOCK
        trial = ask(unknown_context(), spec, raise_unresolved)
        # Those that look at the call before the context are uncertain in every context.
        restrictions = (rule for rule in self._phases.restrictions if rule.effect is Verdict.BLOCK)
        self._blocking = [rule for rule in restrictions if _ask(rule, trial, of_context=True) in (True, None)]

    def blocks_all(self, context: AuthContext, spec: ToolSpec) -> bool:
        """Return whether every call of the tool is certain to be blocked in this context."""
        if not (self._blocking or self._blocks_others):
            return False
        request = self._ask(context, spec, raise_unresolved)
        if any(_ask(rule, request, otherwise=True) is True for rule in self._phases.overrides):
            return False
        # Law 2 counts a restriction that fails as matched.
        if any(_ask(rule, request) in (True, None) for rule in self._blocking):
            return True
        try:
            return self._blocks_others and self._evaluate(request, self._phases).verdict is Verdict.BLOCK
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


def _ask(rule: CompiledRule, request: Request, *, otherwise: bool = False, of_context: bool = False) -> Answer:
    """Return what a rule answers for every call; `otherwise` and `of_context` where it depends on what is not known."""
    try:
        return rule.ask(request, [])
    except _OfContext:
        return of_context
    except Unresolved:
        return otherwise
