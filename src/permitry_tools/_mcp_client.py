"""The client of one MCP server, in the thread of its connection; the official SDK implements the protocol."""

import asyncio
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs

from permitry.port import ToolError, ignore_schemas, new_client
from permitry_tools._mcp_server import McpServer
from permitry_tools._mcp_wire import Definition, Listing, read_tools

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["GRACE", "LastWords", "McpClient"]

# The SDK ends a server within seven seconds, by force if need be.
GRACE = 15.0
_CHANGED = "notifications/tools/list_changed"
_MOST_PAGES = 100
_MOST_TOOLS = 2_000
_LAST_WORDS = 4_000


class McpClient:
    """What runs in the event loop of a connection: the session with its server, and the tools that it lists.

    `listing` and `has_news` may be read from any thread. All methods are called in the loop.
    """

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.listing = Listing()
        self.has_news = False
        self.stderr = LastWords()
        self._end: asyncio.Event | None = None
        self._starting: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._relisting: asyncio.Lock | None = None
        self._refused: list[str] = []

    async def serve(self, ready: "concurrent.futures.Future[None]") -> None:
        """Connect, list the tools, and stay until `leave`; `ready` is done as soon as tools can be called."""
        self._end, self._relisting = asyncio.Event(), asyncio.Lock()
        self._starting = asyncio.current_task()
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(self.server.start_timeout):
                client = await stack.enter_async_context(await self._connect(stack))
                ignore_schemas(client)
                self.listing = await self._list(client)
            listening = asyncio.create_task(self._listen(client))
            self._client, self._starting = client, None
            ready.set_result(None)
            try:
                await self._end.wait()
            finally:
                self._client = None
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)

    def leave(self) -> None:
        """End the connection, also one that is just being made."""
        if self._end is not None:
            self._end.set()
        if self._starting is not None:
            self._starting.cancel()

    async def _connect(self, stack: contextlib.AsyncExitStack) -> "Client":
        server = self.server
        words = (server.command or "", *server.args)
        errlog = None if server.url is not None else stack.enter_context(self.stderr.listen())
        return await new_client(stack, server, words, errlog=errlog, heard=self._heard, report=self._refused.extend)

    async def _heard(self, message: object) -> None:
        self.has_news = self.has_news or getattr(message, "method", None) == _CHANGED

    async def _listen(self, client: "Client") -> None:
        """Take note of changes on servers of the newer protocol, which tell only clients that subscribe."""
        from mcp.client.subscriptions import SubscriptionLost  # noqa: PLC0415 -- an extra, loaded on first use

        while True:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        self.has_news = True
            except SubscriptionLost:
                # What was missed in between is not known.
                self.has_news = True
            except Exception:  # noqa: BLE001 -- an older server, or one that has ended: calls will tell
                return
            await asyncio.sleep(1)

    async def _list(self, client: "Client") -> Listing:
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        self._refused.clear()
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor, cache_mode="bypass")
            tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None or len(tools) > _MOST_TOOLS:
                break
        server = self.server
        listing = read_tools(
            server.name,
            tools[:_MOST_TOOLS],
            trust_annotations=server.trust_annotations,
            timeout=server.timeout + GRACE,
        )
        refused = dict.fromkeys(self._refused, "the protocol refuses what the server says of it")
        return attrs.evolve(listing, skipped={**listing.skipped, **refused})

    async def list_again(self) -> None:
        """List the tools again.

        Raises: `ToolError` when the server is not connected; what the SDK raises.
        """
        client, lock = self._client, self._relisting
        if client is None or lock is None:
            raise ToolError(f"The MCP server `{self.server.name}` is not connected.")
        async with lock:
            # Before the listing: a change while it is under way is news again.
            self.has_news = False
            try:
                async with asyncio.timeout(self.server.timeout):
                    self.listing = await self._list(client)
            except BaseException:
                self.has_news = True
                raise

    async def call_tool(self, definition: Definition, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a tool, if the server still defines it as in `definition`.

        Raises: `ToolError` when it does not, or is not connected; what the SDK raises.
        """
        if self.has_news:
            await self.list_again()
        name, server, client = definition.name, self.server, self._client
        current = self.listing.definitions.get(name)
        if client is None:
            raise ToolError(f"The MCP server `{server.name}` is not connected.")
        if current is None:
            raise ToolError(f"The MCP server `{server.name}` does not offer `{name}` any more.")
        if current.digest != definition.digest:
            raise ToolError(
                f"The MCP server `{server.name}` has changed what `{name}` is; it is off until it is registered again."
            )
        result = await client.call_tool(name, arguments, read_timeout_seconds=server.timeout)
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)


class LastWords:
    """Keeps the end of what a server writes on standard error, for an error that says why it is not there."""

    def __init__(self) -> None:
        self._kept = b""

    def text(self) -> str:
        """Return what was said last."""
        return self._kept.decode(errors="replace")

    @contextlib.contextmanager
    def listen(self) -> Iterator[Any]:
        """Yield the file for the server to write to; a thread reads what comes."""
        reading, writing = os.pipe()
        thread = threading.Thread(target=self._read, args=(reading,), daemon=True)
        thread.start()
        with os.fdopen(writing, "w") as file:
            yield file
        # A process that has left its parent may hold the other end for ever.
        thread.join(1)

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, "rb", 0) as pipe:
            while chunk := pipe.read(65_536):
                self._kept = (self._kept + chunk)[-_LAST_WORDS:]
