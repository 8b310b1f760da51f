"""What a tool declares about itself."""

import enum
import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from permitry.core._json import JsonValue, freeze_object, thaw

__all__ = ["DEFAULT_READ_ONLY_TOOLS", "ArgumentRole", "ToolSpec", "ToolTraits"]

DEFAULT_READ_ONLY_TOOLS = frozenset(
    {
        "exit_plan_mode",
        "glob",
        "grep",
        "list_dir",
        "list_files",
        "react",
        "read_file",
        "search_files",
        "think",
    }
)
"""Function tools that count as read-only when no `ToolSpec` speaks for them."""


class ArgumentRole(enum.Enum):
    """What an argument is."""

    COMMAND = "command"
    ARGV = "argv"
    READ_PATH = "read_path"
    WRITE_PATH = "write_path"
    URL = "url"
    PATCH = "patch"


def _read_only(value: Mapping[str, ArgumentRole]) -> Mapping[str, ArgumentRole]:
    return MappingProxyType(dict(value))


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
    """A tool's declaration: name, schema, traits, argument roles and limits.

    `parameters` is a JSON Schema; `roles` maps argument names to what they are; `timeout` is in seconds;
    `output_limit` is in characters. `name` is the name rules see (`mcp:server/tool` for MCP tools).
    """

    name: str
    description: str = ""
    parameters: Mapping[str, JsonValue] = attrs.field(factory=dict, converter=freeze_object, kw_only=True, hash=False)
    traits: ToolTraits = attrs.field(factory=ToolTraits, kw_only=True)
    roles: Mapping[str, ArgumentRole] = attrs.field(factory=dict, kw_only=True, converter=_read_only, hash=False)
    version: str = attrs.field(default="1", kw_only=True)
    timeout: float = attrs.field(default=60.0, kw_only=True)
    output_limit: int = attrs.field(default=16_000, kw_only=True)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {field.name: getattr(self, field.name) for field in attrs.fields(ToolSpec)}
        thawed = {"parameters": thaw(self.parameters), "roles": dict(self.roles)}
        return functools.partial(ToolSpec, **{**fields, **thawed}), ()
