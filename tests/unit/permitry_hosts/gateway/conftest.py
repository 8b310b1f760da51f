"""A fake MCP server in this process, and a gateway in front of it that a client of the official SDK uses."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import mcp_types as types
import pytest
from mcp import Client
from mcp.server.lowlevel.server import Server as McpServer

from permitry.audit.record import MemoryRecorder
from permitry.config.load import load_policy
from permitry.guard.guard import Guard
from permitry.guard.stored_ledger import StoredLedger
from permitry_hosts.gateway.definitions import Pins
from permitry_hosts.gateway.gateway import Gateway
from permitry_hosts.gateway.serve import mcp_server
from permitry_hosts.gateway.upstream import Server, Upstream

Answer: TypeAlias = Callable[[types.ElicitRequestFormParams], types.ElicitResult]
Work: TypeAlias = Callable[[dict[str, Any]], Awaitable[str]]

RULES = """
schema = 1
[[rule]]
id = "look"
effect = "allow"
tools = ["mcp:*/look"]
[[rule]]
id = "no-private"
effect = "block"
tools = ["mcp:*/look"]
when.args.path = { prefix = "/private" }
message = "Look elsewhere."
[[rule]]
id = "no-drop"
effect = "block"
tools = ["mcp:*/drop"]
"""


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
    on_list: Callable[[], Awaitable[object] | None] = lambda: None
    next_cursor: str | None = None
    content: list[types.ContentBlock] = attrs.field(factory=list)
    data: dict[str, Any] | None = None
    is_trusted: bool = False
    ran: list[tuple[str, dict[str, Any]]] = attrs.field(factory=list)

    def server(self) -> McpServer[Any]:
        """Return it for the SDK."""

        async def listed(_: object, __: object) -> types.ListToolsResult:
            waited_for = self.on_list()
            if waited_for is not None:
                await waited_for
            return types.ListToolsResult(tools=list(self.tools), next_cursor=self.next_cursor)

        async def called(_: object, params: types.CallToolRequestParams) -> types.CallToolResult:
            arguments = params.arguments or {}
            self.ran.append((params.name, arguments))
            text = await self.work(arguments)
            content = self.content or [types.TextContent(text=text)]
            return types.CallToolResult(content=content, structured_content=self.data)

        return McpServer(self.name, on_list_tools=listed, on_call_tool=called)


@attrs.define(eq=False)
class InProcess(Upstream):
    """An upstream whose server is a fake one."""

    fake: Fake = attrs.field(factory=Fake, kw_only=True)

    async def _new_client(self, stack: contextlib.AsyncExitStack) -> Client:
        del stack
        return Client(self.fake.server(), message_handler=self._heard, cache=None)


@attrs.define(eq=False)
class Scene:
    """A gateway in front of fakes, and the user of its client."""

    folder: Path
    rules: str = RULES
    fakes: tuple[Fake, ...] = attrs.field(factory=lambda: (Fake(),))
    answer: Answer | None = None
    mode: Literal["legacy", "auto"] = "legacy"
    wait: float = 5.0
    ledger: StoredLedger | None = None
    asked: list[str] = attrs.field(factory=list)
    recorder: MemoryRecorder = attrs.field(factory=MemoryRecorder)
    gateway: Gateway = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        """Make the gateway."""
        self.folder.mkdir(exist_ok=True)
        path = self.folder / "rules.toml"
        path.write_text(self.rules, encoding="utf-8")
        guard = Guard(load_policy(str(path)), recorder=self.recorder)
        upstreams = [
            InProcess(Server(each.name, ("none",), is_trusted=each.is_trusted, timeout=5.0), fake=each)
            for each in self.fakes
        ]
        pins = Pins(self.folder / "pins")
        self.gateway = Gateway(guard, tuple(upstreams), pins, wait=self.wait, ledger=self.ledger)

    @property
    def fake(self) -> Fake:
        """The first of the servers."""
        return self.fakes[0]

    @property
    def ran(self) -> list[tuple[str, dict[str, Any]]]:
        """What the first server ran."""
        return self.fake.ran

    @property
    def events(self) -> list[object]:
        """What was recorded, in order."""
        return [record["event"] for record in self.recorder.records]

    @contextlib.asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Yield a client of the gateway whose user answers with `answer`; without one, it cannot be asked."""

        async def elicited(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
            del context
            assert isinstance(params, types.ElicitRequestFormParams)
            assert self.answer is not None
            self.asked.append(params.message)
            return self.answer(params)

        async with contextlib.AsyncExitStack() as stack:
            for each in self.gateway.upstreams:
                await each.connect(stack)
            server = mcp_server(self.gateway)
            callback = None if self.answer is None else elicited
            yield await stack.enter_async_context(
                Client(server, mode=self.mode, elicitation_callback=callback, cache=None)
            )

    def call(self, name: str, arguments: dict[str, Any] | None = None) -> types.CallToolResult:
        """Return the result of one call, made by a client of its own."""
        given = {"path": "a"} if arguments is None else arguments
        result: types.CallToolResult = self.run(lambda client: client.call_tool(name, given))
        return result

    def run(self, work: Callable[[Client], Awaitable[Any]]) -> Any:  # noqa: ANN401 -- what the work gives
        """Return what `work` gives with a client."""

        async def main() -> object:
            async with self.client() as client:
                return await work(client)

        return asyncio.run(main())


def text_of(result: types.CallToolResult) -> str:
    """Return the text of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))


def answers(*, approve: object, action: Literal["accept", "decline", "cancel"] = "accept", **more: Any) -> Answer:  # noqa: ANN401
    """Return a user who always answers so."""
    content = None if approve is None else {"approve": approve, **more}
    return lambda _: types.ElicitResult.model_construct(action=action, content=content)


@pytest.fixture(params=["legacy", "auto"])
def mode(request: pytest.FixtureRequest) -> Literal["legacy", "auto"]:
    """Return each era of the protocol."""
    era: Literal["legacy", "auto"] = request.param
    return era
