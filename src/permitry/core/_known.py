"""Stand-ins for a call and a context that are known in part. An answer cannot depend on what it does not read.

Reading anything that a stand-in does not know raises `Unresolved`.
"""

from typing import TYPE_CHECKING, ClassVar, cast

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext

if TYPE_CHECKING:
    from permitry.core.action import Actions
    from permitry.core.spec import ToolSpec


class Unresolved(BaseException):
    """Raised when an answer depends on something a stand-in does not know; `is_of_context`: on the context only."""

    def __init__(self, *, is_of_context: bool = False) -> None:
        self.is_of_context = is_of_context


class _StandIn:
    """An object that refuses comparison, hashing, `repr` and its class: these depend on the whole real object."""

    __slots__ = ()
    _is_of_context: ClassVar[bool] = False

    def __getattribute__(self, name: str) -> object:
        if name == "__class__":
            self.__getattr__(name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> object:
        raise Unresolved(is_of_context=self._is_of_context)

    def __eq__(self, other: object) -> bool:
        raise Unresolved(is_of_context=self._is_of_context)

    def __hash__(self) -> int:
        raise Unresolved(is_of_context=self._is_of_context)

    def __repr__(self) -> str:
        raise Unresolved(is_of_context=self._is_of_context)


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


def call_of_tool(call: ToolCall) -> ToolCall:
    """Return a stand-in for a call of which only the tool is known: its names, server, kind and readings."""
    return cast("ToolCall", _KnownCall(call))


def unknown_context() -> AuthContext:
    """Return a stand-in for a context of which nothing is known."""
    return cast("AuthContext", _UnknownContext())


def read_nothing(call: ToolCall, context: AuthContext, spec: "ToolSpec | None") -> "Actions":  # noqa: ARG001 -- a reader
    """Raise `Unresolved`: the actions depend on the whole call. An action reader for stand-ins."""
    raise Unresolved
