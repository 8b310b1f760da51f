"""An MCP server that the gateway is in front of: what names it, and the connection to it."""

import asyncio
import contextlib
import hashlib
import logging
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import attrs
import mcp_types as types
from mcp import Client, MCPError

from permitry.core.json_values import canonical_json
from permitry.core.texts import shorten, visible
from permitry.errors import AdapterError, CallError, ToolError, safe_str
from permitry.messages.mcp_client import ignore_schemas, new_client
from permitry.messages.mcp_restarts import Restarts
from permitry_hosts.gateway.definitions import Definition, read_definition

__all__ = ["FRESH", "Server", "Upstream"]

_LOG = logging.getLogger("permitry.gateway")
_CHANGED = "notifications/tools/list_changed"
_NO_ANSWER = {types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT}
_MOST_PAGES = 100
_MOST_ITEMS = 2_000
FRESH = 30.0
"""The seconds for which a list of tools is taken for the present one, unless the server says that it changed."""

Result = TypeVar("Result", types.CallToolResult, types.ReadResourceResult, types.GetPromptResult)
Page = TypeVar("Page", bound=types.PaginatedResult)
Item = TypeVar("Item")


@attrs.frozen
class Server:
    """An MCP server: a program with its arguments (`command`), or an address (`url`).

    A program gets the variables of `env`, and none that hold secrets. Times are in seconds. What one
    that `is_trusted` says in favour of its tools is believed.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str | None = attrs.field(default=None, kw_only=True)
    env: Mapping[str, str] = attrs.field(factory=dict, kw_only=True, repr=False)
    folder: str | None = attrs.field(default=None, kw_only=True)
    headers: Mapping[str, str] = attrs.field(factory=dict, kw_only=True, repr=False)
    timeout: float = attrs.field(default=60.0, kw_only=True)
    start_timeout: float = attrs.field(default=30.0, kw_only=True)
    is_trusted: bool = attrs.field(default=False, kw_only=True)

    @property
    def description(self) -> str:
        """The server for its user, with the program to try by hand; arguments and an address may hold secrets."""
        program = f", started by `{self.command[0]}`," if self.url is None else ""
        return f"the MCP server `{self.name}`{program}"

    @property
    def identity(self) -> str:
        """A digest of its name and of how and where it is started or reached: what pinned definitions belong to."""
        folder = str(Path(self.folder or "").resolve()) if self.url is None else None
        words = canonical_json((self.name, self.command, folder, self.url))
        return hashlib.sha256(words.encode()).hexdigest()


@attrs.define(eq=False)
class Upstream:
    """A connected server, its tools, and the `uris` that it listed last; of one event loop."""

    server: Server
    definitions: Mapping[str, Definition] = attrs.field(factory=dict, init=False)
    uris: frozenset[str] = attrs.field(default=frozenset(), init=False)
    _client: Client | None = attrs.field(default=None, init=False)
    _holder: asyncio.Task[None] | None = attrs.field(default=None, init=False, repr=False)
    _listed_at: float | None = attrs.field(default=None, init=False)
    _failure: tuple[float, ToolError] | None = attrs.field(default=None, init=False)
    _restarts: Restarts = attrs.field(factory=Restarts, init=False)
    _lock: asyncio.Lock = attrs.field(factory=asyncio.Lock, init=False, repr=False)

    async def connect(self, stack: contextlib.AsyncExitStack) -> None:
        """Start or reach the server, until `stack` ends. Raises: `AdapterError` if it is late."""
        stack.push_async_callback(self._close)
        try:
            async with asyncio.timeout(self.server.start_timeout):
                await self._open()
                await self.refresh()
        except TimeoutError as error:
            raise AdapterError(f"{self.server.description} was not ready in time") from error
        except Exception as error:
            raise AdapterError(f"{self.server.description} cannot be used: {_words(error)}") from error

    async def _open(self) -> None:
        await self._close()
        opened = asyncio.get_running_loop().create_future()
        self._holder = asyncio.create_task(self._hold(opened))
        await opened

    async def _close(self) -> None:
        holder, self._holder = self._holder, None
        if holder is not None:
            holder.cancel()
            await asyncio.wait([holder])

    async def _hold(self, opened: asyncio.Future[None]) -> None:
        """Hold a connection until it breaks, or this task is cancelled.

        INVARIANT: in a task of its own, as a transport that fails cancels the one that opened it.
        """
        try:
            async with contextlib.AsyncExitStack() as stack:
                client = await stack.enter_async_context(await self._new_client(stack))
                ignore_schemas(client)
                self._client = client
                opened.set_result(None)
                await asyncio.Event().wait()
        except Exception as error:  # noqa: BLE001 -- whatever a transport raises
            if not opened.done():
                opened.set_exception(error)
                return
            _LOG.warning("the connection to the MCP server `%s` has ended: %s", self.server.name, _words(error))
        finally:
            self._client = None

    async def _new_client(self, stack: contextlib.AsyncExitStack) -> Client:
        """Return a client that answers nothing a server asks for: no model, no user, no folders."""
        server, words = self.server, self.server.command
        # Its words go to standard error: standard output belongs to the protocol.
        return await new_client(stack, server, words, errlog=sys.stderr, heard=self._heard, report=self._report_unfit)

    def _report_unfit(self, names: list[str]) -> None:
        for name in names:
            shown = visible(shorten(name, 200))
            _LOG.warning("`%s` of `%s` is hidden: the protocol refuses what is said of it", shown, self.server.name)

    async def _heard(self, message: object) -> None:
        if getattr(message, "method", None) == _CHANGED:
            self._listed_at = None

    async def refresh(self, *, within: float = 0.0) -> None:
        """List the tools again, unless that was done within so many seconds and nothing is changed.

        Those that wait meanwhile share its failure. Raises: `ToolError` without an answer.
        """
        now = asyncio.get_running_loop().time
        arrived = now()
        async with self._lock:
            if self._failure is not None and arrived < self._failure[0]:
                raise ToolError(str(self._failure[1])) from self._failure[1]
            if self._listed_at is not None and arrived - self._listed_at < within:
                return
            # Before the listing: a change while it is under way leads to another one.
            self._listed_at = now()
            try:
                self.definitions = self._read(await self._fetch_tools())
            except BaseException as error:
                self._listed_at = None
                if isinstance(error, ToolError):
                    self._failure = now(), error
                raise

    async def _fetch_tools(self) -> list[types.Tool]:
        try:
            return await self._list()
        except ToolError as error:
            if not self._may_open_again(error.__cause__):
                raise
            try:
                async with asyncio.timeout(self.server.start_timeout):
                    await self._open()
            except Exception as another:
                raise ToolError(self._describe(another)) from another
            return await self._list()

    def _may_open_again(self, cause: BaseException | None) -> bool:
        """Return whether a new connection may help, after a list failed for `cause`."""
        if self.server.url is not None:
            # It may have been started again, and know nothing of this connection any more.
            return not isinstance(cause, TimeoutError)
        is_closed = isinstance(cause, MCPError) and cause.code == types.CONNECTION_CLOSED
        has_ended = is_closed or (self._client is None and self._holder is not None)
        if not has_ended or not self._restarts.take(asyncio.get_running_loop().time()):
            return False
        _LOG.warning("the MCP server `%s` has ended, and is started again", self.server.name)
        return True

    async def _list(self) -> list[types.Tool]:
        client = self._need_client()
        return await self._pages(lambda cursor: client.list_tools(cursor=cursor), lambda page: page.tools)

    def _read(self, tools: list[types.Tool]) -> dict[str, Definition]:
        found: dict[str, Definition] = {}
        names = Counter(tool.name for tool in tools)
        for tool in tools:
            try:
                definition = read_definition(self.server.name, tool, is_trusted=self.server.is_trusted)
            except CallError as error:
                _LOG.warning("a tool of `%s` is hidden: %s", self.server.name, error)
                continue
            if names[tool.name] == 1:
                found[tool.name] = definition
            else:
                # Of two tools with one name it is unknown which one a call would run.
                _LOG.warning("`%s` lists `%s` twice, so it is hidden", self.server.name, tool.name)
        return found

    async def call(self, name: str, arguments: dict[str, object]) -> types.CallToolResult:
        """Return the result of a tool. Raises: `ToolError` when there is none, or a question."""
        session = self._need_client().session
        return await self._answer(session.call_tool(name, arguments, allow_input_required=True))

    async def read(self, uri: str) -> types.ReadResourceResult:
        """Return the contents of a resource. Raises: `ToolError`, as `call` does."""
        return await self._answer(self._need_client().session.read_resource(uri, allow_input_required=True))

    async def prompt(self, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
        """Return a prompt. Raises: `ToolError`, as `call` does."""
        return await self._answer(self._need_client().session.get_prompt(name, arguments, allow_input_required=True))

    async def _answer(self, request: Awaitable[Result | types.InputRequiredResult]) -> Result:
        try:
            async with asyncio.timeout(self.server.timeout):
                result = await request
        except Exception as error:
            # What is wrong shows at the next list.
            self._listed_at = None
            # An error that the server gave is its answer; of others it is unknown what they came after.
            is_answer = isinstance(error, MCPError) and error.code not in _NO_ANSWER
            note = "" if is_answer else " Whether the call has run is not known."
            raise ToolError(f"{self._describe(error)}{note}") from error
        if isinstance(result, types.InputRequiredResult):
            # INVARIANT: a server never asks the user: its question would look like one of permitry's own.
            raise ToolError(f"The MCP server `{self.server.name}` asks for input, which is not passed on.")
        bare: Result = _bare(result)
        return bare

    def has(self, offer: Literal["resources", "prompts"]) -> bool:
        """Return whether the server says that it offers such; one that is not connected may."""
        return self._client is None or getattr(self._client.server_capabilities, offer) is not None

    async def resources(self) -> list[types.Resource]:
        """Return the resources that the server lists now, if any. Raises: `ToolError`."""
        client = self._need_client()
        if not self.has("resources"):
            return []
        found = await self._pages(lambda cursor: client.list_resources(cursor=cursor), lambda page: page.resources)
        self.uris = frozenset(each.uri for each in found)
        return found

    async def templates(self) -> list[types.ResourceTemplate]:
        """Return the templates of resources that the server lists now; otherwise like `resources`."""
        client = self._need_client()
        if not self.has("resources"):
            return []
        return await self._pages(
            lambda cursor: client.list_resource_templates(cursor=cursor), lambda page: page.resource_templates
        )

    async def prompts(self) -> list[types.Prompt]:
        """Return the prompts that the server lists now; otherwise like `resources`."""
        client = self._need_client()
        if not self.has("prompts"):
            return []
        return await self._pages(lambda cursor: client.list_prompts(cursor=cursor), lambda page: page.prompts)

    async def _pages(
        self, listed: Callable[[str | None], Awaitable[Page]], items: Callable[[Page], list[Item]]
    ) -> list[Item]:
        found: list[Item] = []
        cursor: str | None = None
        try:
            async with asyncio.timeout(self.server.timeout):
                for _ in range(_MOST_PAGES):
                    page = await listed(cursor)
                    found += items(_bare(page))
                    cursor = page.next_cursor
                    if len(found) > _MOST_ITEMS:
                        break
                    if cursor is None:
                        return found
        except Exception as error:
            raise ToolError(self._describe(error)) from error
        # INVARIANT: half a list is none. What is listed twice would be so in the other half.
        raise ToolError(f"The MCP server `{self.server.name}` lists more than {_MOST_ITEMS:,} items.")

    def _need_client(self) -> Client:
        if self._client is None:
            raise ToolError(f"The MCP server `{self.server.name}` is not connected.")
        return self._client

    def _describe(self, error: Exception) -> str:
        name = self.server.name
        match error.code if isinstance(error, MCPError) else None:
            case types.CONNECTION_CLOSED:
                return f"The MCP server `{name}` has ended."
            case code if code == types.REQUEST_TIMEOUT or isinstance(error, TimeoutError):
                return f"The MCP server `{name}` gave no answer within {self.server.timeout:g} seconds."
            case _:
                return f"The MCP server `{name}` failed: {_words(error).rstrip('.')}."


def _bare(value: Any) -> Any:  # noqa: ANN401 -- a message of the protocol, or a part of one
    """Return what a server sent without what it adds for its client, at any depth: that is not for ours."""
    if isinstance(value, list):
        return [_bare(each) for each in value]
    if not hasattr(value, "model_copy"):
        return value
    kept = {name: _bare(getattr(value, name)) for name in type(value).model_fields}
    return value.model_copy(update={**kept, **dict.fromkeys(kept.keys() & {"meta", "icons"})})


def _words(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return safe_str(error) or type(error).__name__
