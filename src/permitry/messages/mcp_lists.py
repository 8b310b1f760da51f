"""Lists of the tools of MCP servers: one tool that the protocol refuses must not cost the others."""

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Self, TypeAlias

import attrs

__all__ = ["ToolLists", "tool_lists"]

Version: TypeAlias = Callable[[], str | None]
Report: TypeAlias = Callable[[list[str]], object]


@contextlib.asynccontextmanager
async def tool_lists(
    transport: AbstractAsyncContextManager[Any], version: Version, report: Report
) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams of a transport of the SDK, without the tools that it would refuse with their whole list.

    `version` returns that of the protocol, once it is agreed on; `report` takes the names of the tools.
    """
    async with transport as (read, write):
        yield ToolLists(read, version, report), write


@attrs.define(eq=False)
class ToolLists:
    """A stream of messages from a server, as the SDK reads one; see `tool_lists`."""

    stream: Any
    version: Version
    report: Report

    async def receive(self) -> Any:  # noqa: ANN401 -- a message of the SDK
        """Return the next message."""
        return self._check(await self.stream.receive())

    async def aclose(self) -> None:
        """Close the stream."""
        await self.stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:  # noqa: ANN401 -- as above
        return self._check(await self.stream.__anext__())

    async def __aenter__(self) -> Self:
        await self.stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> bool | None:
        left: bool | None = await self.stream.__aexit__(*error)
        return left

    @property
    def last_context(self) -> Any:  # noqa: ANN401 -- of the SDK
        """What the SDK wants to know of the sender."""
        return getattr(self.stream, "last_context", None)

    def _check(self, item: Any) -> Any:  # noqa: ANN401 -- as above
        result = getattr(getattr(item, "message", None), "result", None)
        unfit = _drop_unfit(result, self.version) if isinstance(result, dict) else []
        if unfit:
            self.report(unfit)
        return item


def _drop_unfit(result: dict[str, Any], agreed: Version) -> list[str]:
    """Take the tools that do not fit out of a result of `tools/list`, and return their names."""
    tools = result.get("tools")
    if not isinstance(tools, list):
        return []
    version = agreed()
    if _fits(result, version):
        return []
    fit = [tool for tool in tools if _fits({**result, "tools": [tool]}, version)]
    unfit = [tool for tool in tools if tool not in fit]
    if unfit and _fits({**result, "tools": fit}, version):
        result["tools"] = fit
    return [str(tool.get("name") if isinstance(tool, Mapping) else tool) for tool in unfit]


def _fits(result: Mapping[str, Any], version: str | None) -> bool:
    """Return whether the SDK takes a result of `tools/list`."""
    from mcp_types import ListToolsResult  # noqa: PLC0415 -- an extra, loaded by its users before
    from mcp_types.methods import validate_server_result  # noqa: PLC0415 -- as above
    from mcp_types.version import LATEST_HANDSHAKE_VERSION  # noqa: PLC0415 -- as above

    try:
        validate_server_result("tools/list", version or LATEST_HANDSHAKE_VERSION, result)
        ListToolsResult.model_validate(result, by_name=False)
    except ValueError:
        return False
    return True
