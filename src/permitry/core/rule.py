"""What a rule is: the request it is asked about, its protocol, and the bands of priorities."""

import functools
from collections.abc import Iterable, Sequence
from typing import ClassVar, Protocol, Self, TypeAlias, runtime_checkable

import attrs

from permitry.core.action import Actions, Unknown
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.effects import Effects, guesses_of, parts_of
from permitry.core.facts import Fact, Facts
from permitry.core.origin import Origin
from permitry.core.shared import SideEffects
from permitry.core.source import Lists
from permitry.core.spec import TRAIT_SELECTORS, ToolSpec
from permitry.core.well_known import well_known
from permitry.errors import safe_str

__all__ = [
    "ActionReader",
    "AnyRule",
    "AuthorizationRule",
    "BuiltInRule",
    "PermissionRule",
    "Question",
    "Request",
    "Rule",
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


class ActionReader(Protocol):
    """Tells what a call would do; never raises for what a model wrote."""

    def __call__(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:
        """Return the actions of `call` in `context`."""


@attrs.frozen
class Request:
    """What rules are asked about: whether this call may run in this context.

    `spec` is the tool's declaration, when a registry or the operator vouches for one; `own` is the part of it that does
    not come from a rule file, None where only a file does. `likely` says, for restrictions alone, what a tool
    may be by another reading of its name, and `others` read the call in another way. `reader` tells what the call would
    do; it is asked once, and only when a rule looks at the actions.
    """

    call: ToolCall
    context: AuthContext
    spec: ToolSpec | None = None
    reader: ActionReader | None = attrs.field(default=None, repr=False, eq=False)
    own: ToolSpec | None = attrs.field(kw_only=True, repr=False)
    likely: tuple[ToolSpec, ...] = attrs.field(default=(), kw_only=True, repr=False)
    others: tuple[ActionReader, ...] = attrs.field(default=(), kw_only=True, repr=False, eq=False)

    @own.default
    def _spec_as_given(self) -> ToolSpec | None:
        return self.spec

    @functools.cached_property
    def tool(self) -> ToolSpec | None:
        """What is known about the tool: its declaration, completed by what its name is known for."""
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
    def parts(self) -> Effects:
        """What the call does and may do as well, with what its programs touch and connect to."""
        return self.actions.once(parts_of)

    @functools.cached_property
    def guesses(self) -> Effects:
        """What the call need not do."""
        return self.actions.once(guesses_of)

    @property
    def is_read_only(self) -> bool:
        """Whether the call, and of a shell every one of its actions, is known to change nothing."""
        tool = self.tool
        if tool is None or (self.spec is not None and self.spec.name != self.call.tool):
            return False
        return self.actions.doubt is None if tool.is_shell else tool.only_reads

    @functools.cached_property
    def otherwise(self) -> "tuple[Request, ...]":
        """The same request about each tool that the name may mean instead, and by each other reader."""
        meant = (attrs.evolve(self, spec=spec, likely=()) for spec in self.likely)
        return (*meant, *(attrs.evolve(self, reader=each, others=()) for each in self.others))

    @functools.cached_property
    def facts(self) -> Facts:
        """The facts by which rules are found, and their patterns."""
        readings = lambda: (self.actions, *(other.actions for other in self.otherwise))  # noqa: E731 -- one line
        return Facts(self.call, self._possible_traits(), readings)

    def _possible_traits(self) -> frozenset[str]:
        """Return the selectors of traits that may select the tool, for whatever rule."""
        tool = self.tool
        if self.likely:
            return frozenset(TRAIT_SELECTORS)
        if tool is None:
            return frozenset(TRAIT_SELECTORS) - {"@reads", "@shell"}
        found = {"@writes"}
        if tool.is_shell:
            # What a command does is not looked at.
            found = {"@shell", "@reads", "@writes"}
        elif self.is_read_only:
            found = {"@reads"}
        traits = {"@network": tool.traits.open_world, "@agent": tool.traits.spawns_agent}
        return frozenset(found.union(name for name, value in traits.items() if value is not False))

    @property
    def targets(self) -> frozenset[str]:
        """What a budget of targets counts: what the call touches or meets, or else the call itself."""
        return self.actions.targets or frozenset({f"call:{self.call.digest}"})

    @property
    def is_own_tool(self) -> bool:
        """Whether it is a function call to a tool of the agent itself, not of an MCP server."""
        return self.call.server is None and self.call.kind is PayloadKind.FUNCTION


Question = Request
"""The earlier name of `Request`, which stays."""


def _unreadable(reason: str) -> Actions:
    return Actions((Unknown("", reason),), doubt=reason)


@attrs.frozen
class Unsure:
    """What a rule answers when it cannot tell: what the call would do is not known well enough.

    A restriction that is unsure makes the call at least ask; a permission that is unsure does not match. `reason` is
    one phrase for a human: what is not known. `may` is what the call does if the rule applies. Of several that are
    unsure the one with the greatest `likeness` is named: how much that is known of the call looks like it. `by` is how
    programs of the call do together what the rule is about, where nothing but that makes it unsure.
    """

    reason: str
    may: str = ""
    likeness: int = attrs.field(default=0, eq=False)
    by: str = attrs.field(default="", eq=False)

    def __str__(self) -> str:
        return f"{self.reason}: it may {self.may}" if self.may else self.reason


class AuthorizationRule(Protocol):
    """One authorization concern.

    `effect` is ALLOW for priorities 0 to 99 (overrides), CONFIRM or BLOCK for 100 to 199 (restrictions), ALLOW or
    CONFIRM for 200 to 399 (permissions, and rules that ask among them). `reason` is for the operator, `message` for the
    model, `source` is `file:line`.
    """

    __slots__ = ()

    @property
    def id(self) -> str:
        """The stable, kebab-case id."""

    @property
    def effect(self) -> Verdict:
        """What a match leads to."""

    @property
    def reason(self) -> str:
        """Why, for the operator."""

    @property
    def message(self) -> str | None:
        """What the model is shown; None for a default text."""

    @property
    def source(self) -> str | None:
        """Where the rule is defined, as `file:line`."""

    def priority(self) -> int:
        """Return the place in the order; lower numbers are asked first."""

    def matches(self, request: Request) -> bool | Unsure:
        """Return whether the rule applies: True, False or `Unsure`, free of side effects."""

    def near_miss(self, request: Request) -> str | None:
        """Return the one fact that kept the rule from matching, or None; for explanations alone."""


class Rule(AuthorizationRule, Protocol):
    """An `AuthorizationRule` with all that a rule may say besides; each has a default.

    A rule is asked about every call unless its class itself has `needs`, and never with the stand-ins of
    `visibility.py` unless its class itself has `is_pure`: what holds for a class may not hold for those derived from
    it, and they say it again.
    """

    __slots__ = ()

    def needs(self) -> Sequence[frozenset[Fact]]:
        """Return sets of facts: without one of each set, it answers False, covers nothing and does not fail."""
        return ()

    @property
    def is_pure(self) -> bool:
        """Whether it answers by its request alone, by what it looks at of it, and swallows no `BaseException`."""
        return False

    def covers(self, _request: Request, /) -> frozenset[int]:
        """Return the indices of the certain actions it permits; several permit a call that they cover."""
        return frozenset()

    def lacks_roles(self, _request: Request, /) -> bool:
        """Return whether it might permit the call if its tool declared what the arguments are."""
        return False

    @property
    def keeps(self) -> bool:
        """Whether it permits only what can be undone, and is kept before it runs."""
        return False

    @property
    def specificity(self) -> tuple[int, int]:
        """How narrow it is: of restrictions that match with one priority, the narrowest is named."""
        return 0, 0

    @property
    def relies_on(self) -> SideEffects | None:
        """The labels and budgets that flows of its policy must record, or the policy is refused."""
        return None

    @property
    def lists(self) -> frozenset[str]:
        """The names of the lists in its conditions, which a session may add values to."""
        return frozenset()

    def with_lists(self, _added: Lists, /) -> Self:
        """Return the rule with more values in its lists, or raise `RuleError` for one that is not valid there."""
        return self

    def not_lifted(self, _request: Request, /) -> str | None:
        """Return why its exceptions do not apply to a call that it matches; for explanations alone."""
        return None

    @property
    def asks_origins(self) -> bool:
        """Whether it asks where a value comes from."""
        return False

    def origins(self, _request: Request, /) -> Iterable[Origin]:
        """Return where the values came from that it asks that of; for explanations alone."""
        return ()


@runtime_checkable
class PermissionRule(Protocol):
    """The rule of the seed: two methods, and it can only permit."""

    def priority(self) -> int:
        """Return the place in the order; lower numbers are asked first."""

    def should_allow_without_confirmation(self, tool_name: str, context: AuthContext) -> bool:
        """Return whether the tool may run without asking."""


AnyRule: TypeAlias = AuthorizationRule | PermissionRule
"""What a policy takes for a rule."""


@attrs.define(unsafe_hash=True)
class BuiltInRule:
    """What the built-in rules share: their source, their priority, and the two-method form of the seed."""

    id: ClassVar[str]
    reason: ClassVar[str]
    is_pure: ClassVar[bool]
    effect: ClassVar[Verdict] = Verdict.ALLOW
    message: ClassVar[str | None] = None
    source: ClassVar[str | None] = "built-in"
    priority_number: ClassVar[int]

    def priority(self) -> int:
        """Return the place in the order; lower numbers are asked first."""
        return self.priority_number

    def matches(self, request: Request) -> bool:
        """Return whether the rule applies."""
        raise NotImplementedError

    def near_miss(self, _request: Request, /) -> str | None:
        """Return the one fact that kept the rule from matching, or None."""
        return None

    def should_allow_without_confirmation(self, tool_name: str, context: AuthContext) -> bool:
        """Return whether the rule by itself lets a bare tool name run; a restriction never does."""
        return self.effect is Verdict.ALLOW and self.matches(Request(ToolCall(tool_name), context))
