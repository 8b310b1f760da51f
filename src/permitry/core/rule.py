"""What a rule is: the question it is asked, the protocol it follows, and the bands of priorities."""

import functools
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import attrs

from permitry.core.action import ActionReader, Actions, Unknown
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.pattern import Pattern
from permitry.core.spec import ToolSpec
from permitry.core.well_known import well_known
from permitry.errors import told

__all__ = [
    "AnyRule",
    "AuthorizationRule",
    "BuiltInRule",
    "PermissionRule",
    "Question",
    "Rest",
    "Selector",
    "Test",
    "Unsure",
    "may_speak",
    "own_method",
    "phase_of",
]

_FIRST_RESTRICTION = 100
_FIRST_PERMISSION = 200
_PAST_THE_LAST = 400


def phase_of(priority: int) -> Phase | None:
    """Return the phase whose band holds `priority`, or None outside 0 to 399.

    Source: seed 003, "Priority Ranges".
    """
    if not 0 <= priority < _PAST_THE_LAST:
        return None
    if priority < _FIRST_RESTRICTION:
        return Phase.OVERRIDE
    return Phase.RESTRICTION if priority < _FIRST_PERMISSION else Phase.PERMISSION


@attrs.frozen
class Question:
    """One question to the rules: whether this call may run in this context.

    `spec` is the tool's declaration, when a registry or the operator vouches for one; `own` is the part of it that does
    not come from a rule file, None where only a file does. `likely` says, for restrictions alone, what a tool
    may be by another reading of its name. `reader` tells what the call would do; it is asked once, and only when a
    rule looks at the actions.
    """

    call: ToolCall
    context: AuthContext
    spec: ToolSpec | None = None
    reader: ActionReader | None = attrs.field(default=None, repr=False, eq=False)
    own: ToolSpec | None = attrs.field(kw_only=True, repr=False)
    likely: tuple[ToolSpec, ...] = attrs.field(default=(), kw_only=True, repr=False)

    @own.default
    def _spec_as_given(self) -> ToolSpec | None:
        return self.spec

    @functools.cached_property
    def tool(self) -> ToolSpec | None:
        """What is known about the tool: its own declaration, completed by what its name is known for, or None."""
        known = well_known(self.call)
        if self.spec is None or self.spec.roles is not None or known is None:
            return known if self.spec is None else self.spec
        return attrs.evolve(self.spec, roles=known.roles)

    @functools.cached_property
    def actions(self) -> Actions:
        """What the call would do."""
        if self.reader is None:
            return _untold("nobody here reads what a call would do")
        try:
            actions: object = self.reader(self.call, self.context, self.tool)
        except Exception as error:  # noqa: BLE001 -- law 2: a reader that fails leaves everything unknown
            return _untold(f"what the call would do cannot be read: {type(error).__name__}: {told(error)}")
        return actions if isinstance(actions, Actions) else _untold("what the call would do was not told")

    @functools.cached_property
    def is_read_only(self) -> bool:
        """Whether the call is known to change nothing; an unknown tool counts as writing.

        A call of a shell only reads when every one of its actions does.
        """
        if self.tool is None or (self.spec is not None and self.spec.name != self.call.tool):
            return False
        if self.tool.is_shell:
            return self.actions.doubt is None
        return self.tool.only_reads

    @functools.cached_property
    def otherwise(self) -> "tuple[Question, ...]":
        """The same question about each tool that the name may mean instead."""
        return tuple(attrs.evolve(self, spec=spec, likely=()) for spec in self.likely)

    @property
    def targets(self) -> frozenset[str]:
        """What a budget of targets counts: what the call touches or meets, or the call itself when that is nothing."""
        return self.actions.targets or frozenset({f"call:{self.call.digest}"})

    @property
    def is_own_tool(self) -> bool:
        """Whether the call is a function call to a tool of the agent itself, not of an MCP server."""
        return self.call.server is None and self.call.kind is PayloadKind.FUNCTION


def _untold(reason: str) -> Actions:
    return Actions((Unknown("", reason),), doubt=reason)


@attrs.frozen
class Unsure:
    """What a rule answers when it cannot tell: what the call would do is not known well enough.

    A restriction that is unsure makes the call at least ask; a permission that is unsure does not match. `reason` is
    one phrase for a human: what is not known. `may` is what the call does if the rule applies. Of several that are
    unsure the one with the greatest `likeness` is named: how much that is known of the call looks like it.
    """

    reason: str
    may: str = ""
    likeness: int = attrs.field(default=0, eq=False)

    def __str__(self) -> str:
        return f"{self.reason}: it may {self.may}" if self.may else self.reason


Test: TypeAlias = Callable[[ToolCall, AuthContext], bool | str | None]
"""A question that needs no `Question`: True, False, why there is no answer, or None where only the rule can tell."""


@attrs.frozen
class Rest:
    """What is left to ask of a rule once the tool is known.

    Where `test` says False, the rule surely does not match, cannot fail, and covers no action. If the rest `is_final`,
    the rule matches where it says True, and fails as it fails; a text that it returns is that of the rule's own
    `UnevaluableError`. If not, the rule itself is asked; so it is where `test` says None. A rest that is not
    `is_about_call` answers by the context alone, always True or False; if it is not final either, the rule may know by
    `always_matches` what it answers to every call.
    """

    test: Test
    is_final: bool = attrs.field(default=True, kw_only=True)
    is_about_call: bool = attrs.field(default=False, kw_only=True)


class Selector(Protocol):
    """One word for the tools that a rule is about; selectors that are equal select the same."""

    @property
    def pattern(self) -> Pattern | None:
        """The pattern of names, when the name alone says whether a tool is meant."""
        ...

    def always_selects(self, question: Question, *, is_generous: bool) -> bool | None:
        """Return whether every call of the tool is meant, or none; None when it depends on the arguments."""
        ...


def own_method(thing: object, name: str, *of: str) -> Callable[..., Any] | None:
    """Return the method `name` of a thing if it can speak for the methods `of`, or None.

    It can where nobody changed one of them without it: not in a subclass, not on the object, not by a wrapper.
    """
    kind = type(thing)
    if kind.__dictoffset__ and not {name, *of}.isdisjoint(vars(thing)):
        return None
    method: Callable[..., Any] | None = getattr(thing, name) if may_speak(kind, name, *of) else None
    return method


def may_speak(kind: type, name: str, *of: str) -> bool:
    """Return whether a class has a method `name` and changes none of the methods `of`, or any, without it."""
    # `object` has a `__getattribute__`, so there is always one that says something.
    any_of = {name, "__getattribute__", *of}
    return name in next(each.__dict__ for each in kind.__mro__ if not any_of.isdisjoint(each.__dict__))


class AuthorizationRule(Protocol):
    """One authorization concern.

    `effect` is ALLOW for priorities 0 to 99 (overrides) and 200 to 399 (permissions), CONFIRM or BLOCK for 100
    to 199 (restrictions). `reason` is for the operator, `message` for the model, `source` is `file:line`.
    """

    @property
    def id(self) -> str:
        """The stable, kebab-case id."""
        ...

    @property
    def effect(self) -> Verdict:
        """What a match leads to."""
        ...

    @property
    def reason(self) -> str:
        """Why, for the operator."""
        ...

    @property
    def message(self) -> str | None:
        """What the model is told; None for a default text."""
        ...

    @property
    def source(self) -> str | None:
        """Where the rule stands, as `file:line`."""
        ...

    def priority(self) -> int:
        """Return the place in the order; lower numbers are asked first."""
        ...

    def matches(self, question: Question) -> bool | Unsure:
        """Return whether the rule applies: True, False or `Unsure`, free of side effects.

        A permission may also have `covers(question)`, which returns the indices of the certain actions it permits: a
        call runs when several permissions together cover all of them.

        A rule may also have `always_matches(question)`: what `matches` answers to every call of the tool in that
        context, whatever its arguments, and None when that depends on them. It only decides which tools are worth
        showing; who narrows `matches` has to narrow it too.

        A rule may also have `relies_on`, the `Marks` it needs the flows of its policy to keep: labels, and the ids of
        rules whose budgets are counted. A policy without such a flow is refused.

        A rule is asked about every call, unless it says more. `selectors()` returns the selectors of the tools it is
        about, None for any tool: whatever the call and the context, it matches no other tool, cannot fail for it, and
        covers none of its actions. `residue(question, is_selected=...)` returns what is left to ask about calls of one
        tool: True or False when the rule answers so to all of them, a `Rest`, or None for "ask me"; the question has no
        arguments and no context to look at, and `is_selected` means that a pattern among the selectors fits. Neither
        counts for a class that changes `matches` or `covers` without it.
        """
        ...

    def near_miss(self, question: Question) -> str | None:
        """Return the one fact that kept the rule from matching, or None."""
        ...


@runtime_checkable
class PermissionRule(Protocol):
    """The rule of the seed: two methods, and it can only permit.

    Source: seed 003, "AuthorizationRule (Protocol)".
    """

    def priority(self) -> int:
        """Return the place in the order; lower numbers are asked first."""
        ...

    def should_allow_without_confirmation(self, tool_name: str, context: AuthContext) -> bool:
        """Return whether the tool may run without asking."""
        ...


AnyRule: TypeAlias = AuthorizationRule | PermissionRule
"""What a policy takes for a rule."""


class BuiltInRule:
    """What the six built-in rules share: their source, and the two-method form of the seed."""

    __slots__ = ()
    effect: ClassVar[Verdict] = Verdict.ALLOW
    message: ClassVar[str | None] = None
    source: ClassVar[str | None] = "built-in"

    def matches(self, question: Question) -> bool:
        """Return whether the rule applies."""
        raise NotImplementedError

    def near_miss(self, question: Question) -> str | None:  # noqa: ARG002 -- most built-in rules have none
        """Return the one fact that kept the rule from matching, or None."""
        return None

    def should_allow_without_confirmation(self, tool_name: str, context: AuthContext) -> bool:
        """Return whether the rule by itself lets a bare tool name run; a restriction never does."""
        return self.effect is Verdict.ALLOW and self.matches(Question(ToolCall(tool_name), context))
