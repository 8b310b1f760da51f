"""What a rule is: the question it is asked, the protocol it follows, and the bands of priorities."""

from typing import ClassVar, Protocol, runtime_checkable

import attrs

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.spec import DEFAULT_READ_ONLY_TOOLS, ToolSpec

__all__ = ["AuthorizationRule", "BuiltInRule", "PermissionRule", "Question", "phase_of"]

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

    `spec` is the tool's own declaration, when a registry or the operator vouches for one.
    """

    call: ToolCall
    context: AuthContext
    spec: ToolSpec | None = None

    @property
    def is_read_only(self) -> bool:
        """Whether the call is known to change nothing; an unknown tool counts as writing."""
        if self.spec is not None:
            return self.spec.name == self.call.tool and self.spec.traits.only_reads
        # A server may name its tools as it likes; the default names speak for function tools only.
        return self.is_own_tool and self.call.name in DEFAULT_READ_ONLY_TOOLS

    @property
    def is_own_tool(self) -> bool:
        """Whether the call is a function call to a tool of the agent itself, not of an MCP server."""
        return self.call.server is None and self.call.kind is PayloadKind.FUNCTION


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

    def matches(self, question: Question) -> bool:
        """Return whether the rule applies; must be True or False, and free of side effects."""
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
