"""Stand-ins for a call and a context that are known in part. An answer cannot depend on what it does not read.

Reading anything that a stand-in does not know raises `Unresolved`.
"""

import operator
from collections.abc import Callable, Hashable, Iterable
from types import NoneType
from typing import TYPE_CHECKING, ClassVar, cast

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.template import Template

if TYPE_CHECKING:
    from permitry.core.action import Actions
    from permitry.core.spec import ToolSpec

__all__ = ["Unresolved", "call_of_tool", "key_of", "note_fields", "read_nothing"]

_FIELDS = frozenset(
    {"active_template", "agent", "attended", "is_plan_mode", "labels", "mode", "modes", "workspace", "yolo_mode"}
)
_IGNORES = "ignores"
_TEMPLATES = (Template, NoneType)


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


class _NotingContext(_StandIn):
    """A context that records which of its fields are read; history, time and the like cannot be read."""

    __slots__ = ("_context", "_noted", "_tool")

    def __init__(self, context: AuthContext, tool: str, noted: set[str]) -> None:
        self._context, self._tool, self._noted = context, tool, noted

    def ignores(self, tool: str) -> bool:
        if tool != self._tool:
            raise Unresolved
        self._noted.add(_IGNORES)
        return self._context.ignores(tool)

    def __getattr__(self, name: str) -> object:
        if name not in _FIELDS:
            raise Unresolved
        self._noted.add(name)
        value: object = getattr(self._context, name)
        if name == "active_template" and type(value) not in _TEMPLATES:
            # An instance of another class may compare equal to a template that allows less.
            raise Unresolved
        return value


def call_of_tool(call: ToolCall) -> ToolCall:
    """Return a stand-in for a call of which only the tool is known: its names, server, kind and readings."""
    return cast("ToolCall", _KnownCall(call))


def note_fields(context: AuthContext | None, tool: str, noted: set[str]) -> AuthContext:
    """Return a stand-in that adds to `noted` each field read of a context; for None, one of which nothing is known."""
    return cast("AuthContext", _UnknownContext() if context is None else _NotingContext(context, tool, noted))


def read_nothing(call: ToolCall, context: AuthContext, spec: "ToolSpec | None") -> "Actions":  # noqa: ARG001 -- a reader
    """Raise `Unresolved`: the actions depend on the whole call. An action reader for stand-ins."""
    raise Unresolved


def key_of(fields: Iterable[str], tool: str) -> Callable[[AuthContext], Hashable]:
    """Return a function that reads the values of noted fields from a context; `tool` is the one of its ignore list."""
    names = sorted(fields)
    plain = operator.attrgetter(*(each for each in names if each != _IGNORES)) if set(names) - {_IGNORES} else _nothing
    if _IGNORES not in names:
        return plain
    return lambda context: (plain(context), context.ignores(tool))


def _nothing(_: AuthContext) -> None:
    return None
