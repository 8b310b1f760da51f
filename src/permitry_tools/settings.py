"""The tools file: which services, plugins and servers a session has besides the tools of its workspace."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, model_validator

from permitry.port import ConfigError, Problem, RegistryError
from permitry_tools.mcp import McpServer
from permitry_tools.shell.families import DEFAULT, check_families
from permitry_tools.web.settings import WebSettings

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

__all__ = ["McpTable", "ToolsFile", "WebTable", "read_tools_file"]


def _below(place: str, info: ValidationInfo) -> str:
    """Return a path relative to the file as an absolute one; the context is the folder of the file."""
    return str((info.context or Path()) / place)


Seconds: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Place: TypeAlias = Annotated[str, Field(min_length=1), AfterValidator(_below)]

_CONFIG = ConfigDict(extra="forbid", strict=True, frozen=True)
_MESSAGES: Mapping[str, str] = {
    "extra_forbidden": "unknown key",
    "missing": "is missing",
    "model_type": "must be a table",
    "dict_type": "must be a table",
    "list_type": "must be a list",
}


class WebTable(BaseModel):
    """The table `[web]`: see `WebSettings`."""

    model_config = _CONFIG

    search_endpoint: str | None = None
    search_shape: Literal["searxng", "exa"] = "searxng"
    search_key: str | None = None
    allow_private: bool = False
    timeout: Seconds = 20.0
    max_bytes: int = Field(2 * 1024 * 1024, ge=1)
    max_redirects: int = Field(5, ge=0)
    ca_file: Place | None = None

    def settings(self) -> WebSettings:
        """Return the settings of the web tools.

        Raises: `ValueError` for an endpoint that is not an address.
        """
        return WebSettings(**self.model_dump())


class McpTable(BaseModel):
    """A table `[mcp.NAME]`: see `McpServer`. `command` is the program with its arguments; it starts in `folder`."""

    model_config = _CONFIG

    command: Annotated[list[str], Field(min_length=1)] | None = None
    env: dict[str, str] = {}
    folder: Place | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    timeout: Seconds = 60.0
    start_timeout: Seconds = 30.0
    trust_annotations: bool = False

    @model_validator(mode="before")
    @classmethod
    def _start_next_to_the_file(cls, table: object) -> object:
        return {"folder": ".", **table} if isinstance(table, Mapping) and "command" in table else table

    def server(self, name: str) -> McpServer:
        """Return the server of this name.

        Raises: `RegistryError` unless there is either a command or an address.
        """
        words = [] if self.command is None else self.command
        return McpServer(name, next(iter(words), None), words[1:], **self.model_dump(exclude={"command"}))


class ToolsFile(BaseModel):
    """A tools file. Paths in it are relative to the file, and servers start in its folder unless `folder` is another.

    `plugins` are plugin folders, each of which must be trusted; `entry_points` loads the tools of installed packages;
    `corpus` is a store of documents that `permitry corpus` filled; `shell` are the families of shell tools.
    """

    model_config = _CONFIG

    version: int = Field(alias="schema", ge=1, le=1)
    plugins: list[Place] = []
    entry_points: bool = False
    corpus: Place | None = None
    artifacts: Place | None = None
    shell: list[str] = list(DEFAULT)
    web: WebTable | None = None
    mcp: dict[str, McpTable] = {}

    def servers(self) -> tuple[McpServer, ...]:
        """Return the MCP servers, in the order of the file."""
        return tuple(table.server(name) for name, table in self.mcp.items())


def read_tools_file(path: Path) -> ToolsFile:
    """Return a tools file, its paths made absolute.

    Raises: `ConfigError` with every mistake in it.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _error(path, f"cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise _error(path, f"is not TOML: {error}") from error
    try:
        tools = ToolsFile.model_validate(data, context=path.absolute().parent)
    except ValidationError as error:
        raise ConfigError([_problem(path, _as_text(each)) for each in error.errors()]) from error
    if problems := [_problem(path, each) for each in _contradictions(tools)]:
        raise ConfigError(problems)
    return tools


def _as_text(error: "ErrorDetails") -> str:
    return f"`{'.'.join(map(str, error['loc']))}`: {_MESSAGES.get(error['type'], error['msg'])}"


def _contradictions(tools: ToolsFile) -> Iterator[str]:
    """Yield what is wrong although each value is of the right kind."""
    try:
        check_families(tools.shell)
    except ValueError as error:
        yield f"`shell`: {error}"
    if tools.web is not None:
        try:
            tools.web.settings()
        except ValueError as error:
            yield f"`web.search_endpoint`: {error}"
    for name, table in tools.mcp.items():
        try:
            table.server(name)
        except RegistryError as error:
            yield f"`mcp.{name}`: {error}"


def _problem(path: Path, message: str) -> Problem:
    return Problem(str(path), 0, 0, 0, message, "docs/reference/tools-file.md lists what a tools file may hold")


def _error(path: Path, message: str) -> ConfigError:
    return ConfigError([_problem(path, message)])
