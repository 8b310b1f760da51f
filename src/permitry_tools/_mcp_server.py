"""How an MCP server is started or reached, as a host describes it."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from permitry.port import CallError, RegistryError, ToolCall

__all__ = ["McpServer"]


def _read_only(value: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType(dict(value))


def _tuple_of_words(words: Iterable[str]) -> tuple[str, ...]:
    if isinstance(words, str):
        # One text would become its letters.
        raise RegistryError(f"`args` is a list of words, such as [{words!r}], not one text")
    return tuple(words)


def _check_name(_: object, __: "attrs.Attribute[Any]", value: str) -> None:
    try:
        ToolCall("tool", server=value)
    except CallError as error:
        raise RegistryError(str(error)) from error


@attrs.frozen
class McpServer:
    """An MCP server: a program that is started (`command`, `args`), or one that is reached at `url`.

    `name` is part of the names of its tools, `mcp:NAME/TOOL`. A program gets the variables of `env` and of the
    environment only PATH, HOME and a few more that hold no secrets; it starts in `folder`. `headers` go with every
    request to `url`. `timeout` is in seconds for one call, `start_timeout` until the server is there.
    `trust_annotations` believes what the server says in its tools' favour, such as that one only reads.

    Raises: `RegistryError` for a bad name, for `args` that are one text, or unless there is either a command or an
    address.
    """

    name: str = attrs.field(validator=_check_name)
    command: str | None = None
    args: tuple[str, ...] = attrs.field(default=(), converter=_tuple_of_words)
    env: Mapping[str, str] = attrs.field(factory=dict, converter=_read_only, repr=False, kw_only=True)
    folder: str | None = attrs.field(default=None, kw_only=True)
    url: str | None = attrs.field(default=None, kw_only=True)
    headers: Mapping[str, str] = attrs.field(factory=dict, converter=_read_only, repr=False, kw_only=True)
    timeout: float = attrs.field(default=60.0, kw_only=True)
    start_timeout: float = attrs.field(default=30.0, kw_only=True)
    trust_annotations: bool = attrs.field(default=False, kw_only=True, validator=attrs.validators.instance_of(bool))

    def __attrs_post_init__(self) -> None:
        if (self.command is None) == (self.url is None):
            raise RegistryError(f"the MCP server `{self.name}` needs either a command or an address; give one of them")
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise RegistryError(f"the address of the MCP server `{self.name}` is not http or https")
