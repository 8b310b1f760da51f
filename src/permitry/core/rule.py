"""What a rule is: the question it is asked, the protocol it follows, and the bands of priorities."""

import functools
from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

import attrs

from permitry.core.action import ActionReader, Actions, Unknown
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.facts import Facts
from permitry.core.parts import Parts, guesses_of, parts_of
from permitry.core.pattern import Pattern
from permitry.core.spec import ToolSpec
from permitry.core.well_known import well_known
from permitry.errors import safe_str

__all__ = [
    "AnyRule",
    "AuthorizationRule",
    "BuiltInRule",
    "PermissionRule",
    "Question",
    "Selector",
    "Unsure",
    "phase_of",
]

_FIRST_RESTRICTION = 100
_FIRST_PERMISSION = 200
_PAST_THE_LAST = 400


def phase_of(priority: int) -> Phase | None:
    """Return the phase whose band holds `priority`, or None outside 0 to 399."""
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
            return _unreadable("nothing here reads what a call would do")
        try:
            actions: object = self.reader(self.call, self.context, self.tool)
        except Exception as error:  # noqa: BLE001 -- law 2: a reader that fails leaves everything unknown
            return _unreadable(f"what the call would do cannot be read: {type(error).__name__}: {safe_str(error)}")
        return actions if isinstance(actions, Actions) else _unreadable("the reader gave no actions")

    @functools.cached_property
    def parts(self) -> Parts:
        """What the call does and may do as well, with what its programs touch and connect to."""
        return self.actions.once(_parts_of)

    @functools.cached_property
    def guesses(self) -> Parts:
        """What the call need not do."""
        return self.actions.once(_guesses_of)

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

    @functools.cached_property
    def facts(self) -> Facts:
        """The facts by which rules are found, and their patterns."""
        return Facts(self.call.arguments, lambda: (self.actions, *(other.actions for other in self.otherwise)))

    @property
    def targets(self) -> frozenset[str]:
        """What a budget of targets counts: what the call touches or meets, or the call itself when that is nothing."""
        return self.actions.targets or frozenset({f"call:{self.call.digest}"})

    @property
    def is_own_tool(self) -> bool:
        """Whether the call is a function call to a tool of the agent itself, not of an MCP server."""
        return self.call.server is None and self.call.kind is PayloadKind.FUNCTION


def _parts_of(actions: Actions) -> Parts:
    return Parts(tuple(parts_of((*actions.certain, *actions.possible))))


def _guesses_of(actions: Actions) -> Parts:
    return Parts(tuple(guesses_of(actions)))


def _unreadable(reason: str) -> Actions:
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


class Selector(Protocol):
    """One word for the tools that a rule is about; selectors that are equal select the same."""

    @property
    def pattern(self) -> Pattern | None:
        """The pattern of names, when the name alone says whether a tool is meant."""
        ...

    def selects(self, question: Question, *, over_approximate: bool) -> bool:
        """Return whether the call's tool is meant; where that is not known, what `over_approximate` says."""
        ...


class AuthorizationRule(Protocol):
    """One authorization concern.

    `effect` is ALLOW for priorities 0 to 99 (overrides), CONFIRM or BLOCK for 100 to 199 (restrictions), ALLOW or
    CONFIRM for 200 to 399 (permissions, and questions among them). `reason` is for the operator, `message` for the
    model, `source` is `file:line`.
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
        """What the model is shown; None for a default text."""
        ...

    @property
    def source(self) -> str | None:
        """Where the rule is defined, as `file:line`."""
        ...

    def priority(self) -> int:
        """Return the place in the order; lower numbers are asked first."""
        ...

    def matches(self, question: Question) -> bool | Unsure:
        """Return whether the rule applies: True, False or `Unsure`, free of side effects.

        A permission may also have `covers(question)`, which returns the indices of the certain actions it permits: a
        call runs when several permissions together cover all of them.

        A rule may also have `relies_on`, the `SideEffects` it needs the flows of its policy to keep: labels, and the
        ids of rules whose budgets are counted. A policy without such a flow is refused.

        A rule is asked about every call, unless its class says more in its own body; a subclass says it again.
        `selectors()` returns the selectors of the tools it is about, None for any tool: it matches no other tool,
        cannot fail for it, and covers none of its actions. `needs()` returns sets of facts (`permitry.core.facts`):
        unless the question has one of each set, the rule answers False, and covers nothing. `is_pure`, True or
        a property, says that the rule answers by its question alone, and swallows no `BaseException`: what it did not
        look at cannot change what it says, so that its answer may be remembered. `is_sure_by_needs`, True or a
        property, says of a restriction: of a call with an action of which nothing is known, unless another one
        has a fact of one of the sets, it answers False or `Unsure` without likeness, and does not fail. Of several
        such rules the first that is unsure is asked alone.
        """
        ...

    def near_miss(self, question: Question) -> str | None:
        """Return the one fact that kept the rule from matching, or None.

        A restriction may also have `not_lifted(question)`, which returns why its exceptions do not apply to a call that
        it matches, or None; both are for explanations alone.
        """
        ...


@runtime_checkable
class PermissionRule(Protocol):
    """The rule of the seed: two methods, and it can only permit."""

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
