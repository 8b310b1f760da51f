"""A tool call: what a model asked for, checked, frozen, and named by a digest."""

import enum
import functools
import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NoReturn

import attrs

from permitry.core.json_values import (
    MAX_BYTES,
    JsonValue,
    canonical_json,
    canonical_text,
    freeze_bounded,
    mutable,
    parse_json,
)
from permitry.core.names import readings
from permitry.errors import CallError

__all__ = ["PayloadKind", "ToolCall", "check_tool_name"]

_MAX_NAME = 256
_NO_ARGUMENTS: Mapping[str, Any] = MappingProxyType({})


class PayloadKind(enum.Enum):
    """The shape in which a call's payload arrived."""

    FUNCTION = "function"
    CUSTOM = "custom"
    LOCAL_SHELL = "local_shell"
    UNIFIED_EXEC = "unified_exec"
    MCP = "mcp"


def _check_name(word: str, value: object) -> None:
    # Not a subclass of str: its comparisons could say anything.
    if type(value) is not str or not value:
        raise CallError(f"the {word} must be a non-empty string")
    if len(value) > _MAX_NAME:
        raise CallError(f"the {word} is longer than {_MAX_NAME} characters")
    # Of all blanks only a space is printable.
    if not value.isprintable() or value.strip(" ") != value:
        raise CallError(f"the {word} {value!r} holds blanks at an end, or invisible characters")
    if word == "server" and "/" in value:
        raise CallError(f"the server {value!r} holds a slash, which separates server and tool")


def _refuse_types(kind: object, repaired: object) -> NoReturn:
    if type(kind) is not PayloadKind:
        raise TypeError(f"the `kind` of a call is a PayloadKind, not {kind!r}")
    raise TypeError(f"`repaired` is a bool, not {repaired!r}")


def check_tool_name(name: str) -> None:
    """Raise `CallError` for a name that no tool can be called by."""
    _check_name("name", name)
    _server_and_name(name)


def _server_and_name(name: str) -> tuple[str | None, str]:
    """Return what `mcp:server/tool` means; any other name has no server."""
    if not name.startswith("mcp:"):
        return None, name
    server, slash, tool = name.removeprefix("mcp:").partition("/")
    if not (server and slash and tool):
        raise CallError(f"the tool name {name!r} must read `mcp:server/tool`")
    for word, part in (("server", server), ("name", tool)):
        _check_name(word, part)
    return server, tool


@attrs.frozen(eq=False, init=False)
class ToolCall:
    """A tool call as a model made it; immutable all the way down.

    `arguments` is a read-only JSON object; `to_dict()` gives a tool its own copy. `call_id` is the provider's id,
    or None. `server` names the MCP server of the tool; the name `mcp:server/tool` means the same. `repaired` says that
    the text of the call had to be repaired before it could be read. `shown` is the name by which the model knows the
    tool, where that is another one; it appears in texts only. Neither is part of the digest.

    Raises: `CallError` for a bad name, non-JSON values, NaN, non-string keys, depth over 64, size over 1 MiB.
    """

    name: str
    arguments: Mapping[str, JsonValue] = attrs.field(factory=dict)
    call_id: str | None = attrs.field(default=None, kw_only=True)
    kind: PayloadKind = attrs.field(default=PayloadKind.FUNCTION, kw_only=True)
    server: str | None = attrs.field(default=None, kw_only=True)
    origin: str | None = attrs.field(default=None, kw_only=True)
    repaired: bool = attrs.field(default=False, kw_only=True)
    shown: str | None = attrs.field(default=None, kw_only=True)
    tool: str = attrs.field(init=False, repr=False)
    """The name rules see: `name`, or `mcp:server/name` for the tool of an MCP server."""
    # Empty until first used. Every call needs both, and a `cached_property` would take as long as to work them out.
    _canonical: str = attrs.field(init=False, repr=False)
    _digest: str = attrs.field(init=False, repr=False)

    # Not the one that attrs writes, with converters and validators: there is one call for every request, and a host
    # can switch validators off.
    def __init__(  # noqa: PLR0913 -- the fields of a call
        self,
        name: str,
        arguments: Mapping[str, Any] = _NO_ARGUMENTS,
        *,
        call_id: str | None = None,
        kind: PayloadKind = PayloadKind.FUNCTION,
        server: str | None = None,
        origin: str | None = None,
        repaired: bool = False,
        shown: str | None = None,
    ) -> None:
        _check_name("name", name)
        if call_id is not None:
            _check_name("call id", call_id)
        if server is not None:
            _check_name("server", server)
        if origin is not None:
            _check_name("origin", origin)
        if shown is not None:
            _check_name("shown name", shown)
        if type(kind) is not PayloadKind or type(repaired) is not bool:
            _refuse_types(kind, repaired)
        frozen, longest = freeze_bounded(arguments)
        if longest > MAX_BYTES and len(canonical_json(frozen)) > MAX_BYTES:
            raise CallError(f"the arguments are larger than {MAX_BYTES} bytes")
        tool = name
        # One tool has one identity: `mcp:docs/search` and (docs, search) must meet the same rules.
        if server is None and name.startswith("mcp:"):
            server, name = _server_and_name(name)
        if server is not None:
            tool = f"mcp:{server}/{name}"
            if kind is PayloadKind.FUNCTION:
                kind = PayloadKind.MCP
        put = object.__setattr__
        put(self, "name", name)
        put(self, "arguments", frozen)
        put(self, "call_id", call_id)
        put(self, "kind", kind)
        put(self, "server", server)
        put(self, "origin", origin)
        put(self, "repaired", repaired)
        put(self, "shown", shown)
        put(self, "tool", tool)
        put(self, "_canonical", "")
        put(self, "_digest", "")

    @classmethod
    def from_json(cls, name: str, text: str, **rest: Any) -> "ToolCall":  # noqa: ANN401 -- passed on to __init__
        """Return the call whose arguments are JSON `text`, read as `parse_json` does."""
        return cls(name, parse_json(text), **rest)

    @property
    def canonical(self) -> str:
        """The one text of the arguments, in ASCII; see `canonical_json`."""
        if not self._canonical:
            object.__setattr__(self, "_canonical", canonical_json(self.arguments))
        return self._canonical

    @property
    def digest(self) -> str:
        """The SHA-256 (hex) of kind, server, name and canonical arguments; the call id is not part of it."""
        if not self._digest:
            # The canonical form of the list [kind, server, name].
            server = "null" if self.server is None else canonical_text(self.server)
            head = f'["{self.kind._value_}",{server},{canonical_text(self.name)}]'
            digest = hashlib.sha256(f"{head}{self.canonical}".encode()).hexdigest()
            object.__setattr__(self, "_digest", digest)
        return self._digest

    @functools.cached_property
    def readings(self) -> frozenset[str]:
        """Every name that `tool` may mean: what a restriction compares."""
        return readings(self.tool)

    def with_id(self, call_id: str) -> "ToolCall":
        """Return the same call with another id, or raise `CallError` for one that no call can have."""
        _check_name("call id", call_id)
        made = object.__new__(ToolCall)
        for name in _FIELDS:
            object.__setattr__(made, name, getattr(self, name))
        object.__setattr__(made, "call_id", call_id)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return a fresh, mutable copy of the arguments."""
        copy: dict[str, Any] = mutable(self.arguments)
        return copy

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolCall):
            return NotImplemented
        return self is other or self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __reduce__(self) -> tuple[Any, ...]:
        rest = {name: getattr(self, name) for name in ("call_id", "kind", "server", "origin", "repaired", "shown")}
        return functools.partial(ToolCall, self.name, self.to_dict(), **rest), ()

    @property
    def _identity(self) -> tuple[Any, ...]:
        return self.digest, self.call_id, self.origin, self.repaired


_FIELDS = tuple(field.name for field in attrs.fields(ToolCall))
