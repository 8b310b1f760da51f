"""What a tool declares about itself."""

import enum
import functools
import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from permitry.core._json import JsonValue, canonical_json, freeze_object, thaw
from permitry.core.call import PayloadKind

__all__ = ["ArgumentRole", "ToolSpec", "ToolTraits"]


class ArgumentRole(enum.Enum):
    """What an argument is: shell text, an argument list, a path, an address, a patch, an agent, a working folder.

    `READ_TREE` is a folder that is read with all that lies below it; left out, it is the workspace. `INPUT` is typed
    into a program that runs; an empty one does nothing. `TEXT` is only words: it changes nothing about a call.
    """

    COMMAND = "command"
    ARGV = "argv"
    INPUT = "input"
    READ_PATH = "read_path"
    READ_TREE = "read_tree"
    WRITE_PATH = "write_path"
    DELETE_PATH = "delete_path"
    URL = "url"
    PATCH = "patch"
    AGENT = "agent"
    FOLDER = "folder"
    TEXT = "text"


# What is typed into a program may be a command as well; without it, the call of such a tool only looks.
_SHELL_ROLES = frozenset({ArgumentRole.COMMAND, ArgumentRole.ARGV, ArgumentRole.INPUT})
_READING_ROLES = frozenset(
    {ArgumentRole.READ_PATH, ArgumentRole.READ_TREE, ArgumentRole.URL, ArgumentRole.FOLDER, ArgumentRole.TEXT}
)


def _read_only(value: Mapping[str, ArgumentRole] | None) -> Mapping[str, ArgumentRole] | None:
    return None if value is None else MappingProxyType(dict(value))


def _set_of_kinds(kinds: Iterable[PayloadKind]) -> frozenset[PayloadKind]:
    return frozenset(kinds)


_optional_bool = attrs.field(
    default=None, kw_only=True, validator=attrs.validators.optional(attrs.validators.instance_of(bool))
)


@attrs.frozen
class ToolTraits:
    """What kind of thing a tool does. None means unknown, and unknown counts as the worse answer."""

    read_only: bool | None = _optional_bool
    destructive: bool | None = _optional_bool
    idempotent: bool | None = _optional_bool
    open_world: bool | None = _optional_bool
    spawns_agent: bool | None = _optional_bool

    @property
    def only_reads(self) -> bool:
        """Whether the tool is known to change nothing; a tool that also claims to destroy is not believed."""
        return self.read_only is True and self.destructive is not True


@attrs.frozen
class ToolSpec:
    """A tool's declaration: name, schema, traits, argument roles, the kinds of call it takes, and limits.

    `parameters` is a JSON Schema; `roles` says what arguments are; `timeout` is in seconds, None for no limit;
    `output_limit` is in characters. `name` is the name rules see (`mcp:server/tool` for MCP tools). Without `kinds` a
    tool takes function calls, and one of a server the calls of that server.

    A key of `roles` names an argument, `items[].path` those inside lists, `path|file_path` either; one that
    ends in `?` may be left out. None: nobody said what the arguments are; empty: none of them touches anything.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, JsonValue] = attrs.field(factory=dict, converter=freeze_object, kw_only=True, hash=False)
    traits: ToolTraits = attrs.field(factory=ToolTraits, kw_only=True)
    roles: Mapping[str, ArgumentRole] | None = attrs.field(default=None, kw_only=True, converter=_read_only, hash=False)
    version: str = attrs.field(default="1", kw_only=True)
    timeout: float | None = attrs.field(default=None, kw_only=True)
    output_limit: int = attrs.field(default=16_000, kw_only=True)
    kinds: frozenset[PayloadKind] = attrs.field(kw_only=True, converter=_set_of_kinds)

    @kinds.default
    def _kinds_of_name(self) -> tuple[PayloadKind, ...]:
        return (PayloadKind.MCP if self.name.startswith("mcp:") else PayloadKind.FUNCTION,)

    @functools.cached_property
    def digest(self) -> str:
        """The SHA-256 (hex) of what the tool declares about itself; limits are not part of it."""
        roles = None if self.roles is None else {name: role.value for name, role in self.roles.items()}
        told = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "traits": attrs.asdict(self.traits),
            "roles": roles,
            "kinds": tuple(sorted(kind.value for kind in self.kinds)),
            "version": self.version,
        }
        return hashlib.sha256(canonical_json(told).encode()).hexdigest()

    @property
    def is_shell(self) -> bool:
        """Whether an argument is a command, or typed into one, so that the call is judged by what that does."""
        return not _SHELL_ROLES.isdisjoint((self.roles or {}).values())

    @property
    def follows_urls(self) -> bool:
        """Whether an argument is an address, so that the call goes wherever it says."""
        return ArgumentRole.URL in (self.roles or {}).values()

    @property
    def only_reads(self) -> bool:
        """Whether the tool is known to change nothing, by its traits and by the roles of its arguments."""
        return self.traits.only_reads and _READING_ROLES.issuperset((self.roles or {}).values())

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {field.name: getattr(self, field.name) for field in attrs.fields(ToolSpec)}
        thawed = {"parameters": thaw(self.parameters), "roles": None if self.roles is None else dict(self.roles)}
        return functools.partial(ToolSpec, **{**fields, **thawed}), ()
