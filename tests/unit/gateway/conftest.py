"""A fake MCP server in this process, and a gateway in front of it that a client of the official SDK uses."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import attrs
import mcp_types as types
from mcp import Client
from mcp.server.lowlevel.server import Server as McpServer

from permitry.gateway.upstream import Upstream

Work: TypeAlias = Callable[[dict[str, Any]], Awaitable[str]]


def tool(name: str, description: str = "", **rest: Any) -> types.Tool:  # noqa: ANN401 -- passed on
    """Return a definition, as a server gives one."""
    return types.Tool(name=name, description=description, input_schema={"type": "object"}, **rest)


async def nothing(arguments: dict[str, Any]) -> str:
    """Return at once."""
    return f"did it with {arguments}"


@attrs.define(eq=False)
class Fake:
    """An MCP server that notes what it ran."""

    name: str = "fs"
    tools: list[types.Tool] = attrs.field(factory=lambda: [tool("look"), tool("write"), tool("drop")])
    work: Work = nothing
    is_trusted: bool = False
    ran: list[tuple[str, dict[str, Any]]] = attrs.field(factory=list)

    def server(self) -> McpServer[Any]:
        """Return it for the SDK."""

        async def listed(_: object, __: object) -> types.ListToolsResult:
            return types.ListToolsResult(tools=list(self.tools))

        async def called(_: object, params: types.CallToolRequestParams) -> types.CallToolResult:
            arguments = params.arguments or {}
            self.ran.append((params.name, arguments))
            text = await self.work(arguments)
            return types.CallToolResult(content=[types.TextContent(text=text)])

        return McpServer(self.name, on_list_tools=listed, on_call_tool=called)


@attrs.define(eq=False)
class InProcess(Upstream):
    """An upstream whose server is a fake one."""

    fake: Fake = attrs.field(factory=Fake, kw_only=True)

    async def _new_client(self, stack: contextlib.AsyncExitStack) -> Client:
        del stack
        return Client(self.fake.server(), message_handler=self._heard, cache=None)
