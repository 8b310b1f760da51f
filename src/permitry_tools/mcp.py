"""The tools of MCP servers, as tools of a registry.

The official SDK implements the protocol; the extra `permitry[mcp]` installs it, and it is loaded on first use. A
server is a program of a third party: it gets no environment but what is named, and no answer to what it asks by itself.
"""

import asyncio
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import attrs

from permitry.port import AuthContext, CallError, RegistryError, ToolCall, ToolError, ToolRegistry, ToolResult
from permitry_tools._mcp_wire import Definition, Listing, read_result, read_tools

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["McpChanges", "McpConnection", "McpServer", "register"]

T = TypeVar("T")

_CHANGED = "notifications/tools/list_changed"
_MOST_PAGES = 100
_MOST_TOOLS = 2_000
_LAST_WORDS = 4_000
# The SDK ends a server within seven seconds, by force if need be.
_GRACE = 15.0
_CONNECTION_CLOSED = -32000
_REQUEST_TIMEOUT = -32001


def _read_only(value: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType(dict(value))


def _tuple_of_words(words: Iterable[str]) -> tuple[str, ...]:
    if isinstance(words, str):
        # One text would become its letters.
        raise RegistryError(f"`args` is a list of words, such as [{words!r}], not one text")
    return tuple(words)


def _checked_name(_: object, __: "attrs.Attribute[Any]", value: str) -> None:
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

    name: str = attrs.field(validator=_checked_name)
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


@attrs.frozen
class McpChanges:
    """What differs from what is registered: tools by name. Those added are registered by now; the others are off."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class McpConnection:
    """A connection to one MCP server, kept by a thread of its own; a context manager.

    Every method may be called from any thread.
    """

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self._listing = Listing()
        self._has_news = False
        self._stderr = _LastWords()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._starting: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._thread: threading.Thread | None = None
        self._relisting: asyncio.Lock | None = None

    @property
    def definitions(self) -> Mapping[str, Definition]:
        """The tools of the server by their own names, in its order, as it listed them last."""
        return self._listing.definitions

    @property
    def skipped(self) -> Mapping[str, str]:
        """The tools that are not offered, by name, and why: their names cannot be ruled on."""
        return self._listing.skipped

    @property
    def has_news(self) -> bool:
        """Whether the server has said that its tools changed, and they were not listed yet."""
        return self._has_news

    @property
    def is_open(self) -> bool:
        """Whether it was opened, and not closed since."""
        return self._thread is not None

    def open(self) -> Self:
        """Start the server or connect to it, list its tools, and return this connection.

        Raises: `RegistryError` when the SDK is missing, or the server is not there within `start_timeout`.
        """
        if self._thread is not None:
            raise RegistryError(f"the MCP server `{self.server.name}` is already connected")
        try:
            import mcp  # noqa: F401, PLC0415 -- an extra, loaded on first use
        except ImportError as error:
            raise RegistryError("the package mcp is missing; install `permitry[mcp]`") from error
        ready: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._run, args=(ready,), name=f"mcp {self.server.name}", daemon=True)
        self._thread.start()
        try:
            ready.result(self.server.start_timeout + _GRACE)
        except BaseException as error:
            # A caller that is interrupted leaves no server behind either.
            self.close()
            if isinstance(error, Exception):
                raise RegistryError(self._not_there(error)) from error
            raise
        return self

    def close(self) -> None:
        """End the connection, and the server if it was started here; safe to call again."""
        loop, thread = self._loop, self._thread
        if loop is not None and self._end is not None:
            # The loop may have ended by itself.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._leave)
        if thread is not None and thread is not threading.current_thread():
            thread.join(_GRACE)
        self._thread = None

    def __enter__(self) -> Self:
        return self if self._thread is not None else self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, definition: Definition, arguments: dict[str, Any]) -> ToolResult:
        """Return the result of a tool, if the server still defines it as in `definition`.

        Raises: `ToolError` when it does not, when the server has ended, or gives no answer in time.
        """
        return read_result(self._waited_for(self._called(definition, arguments)))

    def refresh(self, registry: ToolRegistry) -> McpChanges:
        """List the tools again, register those that were added, and return what differs.

        A tool whose definition changed stays off: the model knows the old one, and rules were written for it. To accept
        it, register the connection again, with `replace`.

        Raises: `ToolError` when the server does not list its tools.
        """
        self._waited_for(self._relisted())
        before = {spec.name: spec.version for spec in registry if spec.name.startswith(f"mcp:{self.server.name}/")}
        now = {each.spec.name: each for each in self.definitions.values()}
        added = [each for name, each in now.items() if name not in before]
        for each in added:
            self.add(each, registry)
        return McpChanges(
            tuple(each.spec.name for each in added),
            tuple(name for name, each in now.items() if before.get(name, each.spec.version) != each.spec.version),
            tuple(name for name in before if name not in now),
        )

    def add(self, definition: Definition, registry: ToolRegistry, *, replace: bool = False) -> None:
        """Register one tool, enabled as long as the server is known to define it so.

        Raises: `RegistryError` when the name is taken, unless it is to be replaced.
        """

        def is_current(_: AuthContext) -> bool:
            current = self.definitions.get(definition.name)
            return current is not None and current.digest == definition.digest

        def run(arguments: dict[str, Any]) -> ToolResult:
            return self.call(definition, arguments)

        registry.register(definition.spec, run, enabled=is_current, replace=replace)

    # In the thread ---------------------------------------------------------------------------------------------------

    def _run(self, ready: "concurrent.futures.Future[None]") -> None:
        try:
            asyncio.run(self._serve(ready))
        except BaseException as error:  # noqa: BLE001 -- the caller that waits must get it, whatever it is
            if not ready.done():
                ready.set_exception(_leaf(error))
        finally:
            self._client = None

    async def _serve(self, ready: "concurrent.futures.Future[None]") -> None:
        self._loop, self._end, self._relisting = asyncio.get_running_loop(), asyncio.Event(), asyncio.Lock()
        self._starting = asyncio.current_task()
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(self.server.start_timeout):
                client = await stack.enter_async_context(await self._connecting(stack))
                # INVARIANT: no schema of a server is worked off here. Its patterns would run in Python's `re`, where a
                # short text takes hours and holds up every thread. Whether a result fits is for who reads it to see.
                client.session.validate_tool_result = _taken_as_it_is  # type: ignore[method-assign]  # as said above
                self._client = client
                self._listing = await self._listed(client)
            listening = asyncio.create_task(self._listen(client))
            self._starting = None
            ready.set_result(None)
            try:
                await self._end.wait()
            finally:
                self._client = None
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)

    def _leave(self) -> None:
        if self._end is not None:
            self._end.set()
        if self._starting is not None:
            self._starting.cancel()

    async def _connecting(self, stack: contextlib.AsyncExitStack) -> "Client":
        """Return the client of the SDK. It answers nothing that a server asks for: no model, no user, no folders."""
        from mcp import Client, StdioServerParameters, stdio_client  # noqa: PLC0415 -- an extra, loaded on first use
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 -- as above
        from mcp.shared._httpx_utils import create_mcp_http_client  # noqa: PLC0415 -- as above

        server = self.server
        if server.url is not None:
            http = await stack.enter_async_context(create_mcp_http_client(headers=dict(server.headers)))
            return Client(streamable_http_client(server.url, http_client=http), message_handler=self._heard)
        parameters = StdioServerParameters(
            command=server.command or "", args=list(server.args), env=dict(server.env), cwd=server.folder
        )
        stderr = stack.enter_context(self._stderr.listening())
        return Client(stdio_client(parameters, errlog=stderr), message_handler=self._heard)

    async def _heard(self, message: object) -> None:
        self._has_news = self._has_news or getattr(message, "method", None) == _CHANGED

    async def _listen(self, client: "Client") -> None:
        """Take note of changes on servers of the newer protocol, which tell only clients that subscribe."""
        from mcp.client.subscriptions import SubscriptionLost  # noqa: PLC0415 -- an extra, loaded on first use

        while True:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        self._has_news = True
            except SubscriptionLost:
                # What was missed in between is not known.
                self._has_news = True
            except Exception:  # noqa: BLE001 -- an older server, or one that has ended: calls will tell
                return
            await asyncio.sleep(1)

    async def _listed(self, client: "Client") -> Listing:
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor, cache_mode="bypass")
            tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None or len(tools) > _MOST_TOOLS:
                break
        server = self.server
        return read_tools(
            server.name,
            tools[:_MOST_TOOLS],
            trust_annotations=server.trust_annotations,
            timeout=server.timeout + _GRACE,
        )

    async def _relisted(self) -> None:
        client, lock = self._client, self._relisting
        if client is None or lock is None:
            raise ToolError(f"The MCP server `{self.server.name}` is not connected.")
        async with lock:
            # Before the listing: a change while it is under way is news again.
            self._has_news = False
            try:
                async with asyncio.timeout(self.server.timeout):
                    self._listing = await self._listed(client)
            except BaseException:
                self._has_news = True
                raise

    async def _called(self, definition: Definition, arguments: dict[str, Any]) -> dict[str, Any]:
        if self._has_news:
            await self._relisted()
        name, server, client = definition.name, self.server, self._client
        current = self.definitions.get(name)
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

    # From other threads ----------------------------------------------------------------------------------------------

    def _waited_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what `work` gives in the thread of the connection; never waits for ever.

        Raises: `ToolError` for whatever goes wrong.
        """
        name, loop, thread = self.server.name, self._loop, self._thread
        if loop is None or thread is None or not thread.is_alive() or loop.is_closed():
            work.close()
            raise ToolError(f"The MCP server `{name}` is not connected.")
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result(2 * self.server.timeout + _GRACE)
        except ToolError:
            raise
        except TimeoutError as error:
            raise ToolError(f"The MCP server `{name}` gave no answer in time.") from error
        except concurrent.futures.CancelledError as error:
            raise ToolError(f"The connection to the MCP server `{name}` was closed.") from error
        except Exception as error:
            raise ToolError(self._message(error)) from error
        finally:
            # The caller that waits may be interrupted as well.
            future.cancel()

    def _message(self, error: Exception) -> str:
        """Return a failure of the protocol or the SDK in a sentence for the model."""
        name = self.server.name
        match getattr(error, "code", None):
            case code if code == _CONNECTION_CLOSED:
                return f"The MCP server `{name}` has ended."
            case code if code == _REQUEST_TIMEOUT:
                return f"The MCP server `{name}` gave no answer within {self.server.timeout:g} seconds."
            case _:
                found = _leaf(error)
                return f"The MCP server `{name}` failed: {str(found) or type(found).__name__}"

    def _not_there(self, error: Exception) -> str:
        """Return why the server did not start, with what it said last, for the host."""
        found = _leaf(error)
        late = f"it was not ready within {self.server.start_timeout:g} seconds"
        why = late if isinstance(found, TimeoutError) else str(found) or type(found).__name__
        words = self._stderr.text().strip()
        return f"the MCP server `{self.server.name}` cannot be used: {why}" + (f"\n{words}" if words else "")


def register(registry: ToolRegistry, connection: McpConnection, *, replace: bool = False) -> None:
    """Add every tool of an open connection to `registry`, as `mcp:SERVER/TOOL`; closing the registry closes it.

    The roles of their arguments are not known: nothing here declares them. A tool is enabled as long as the server
    defines it as it does now; with `replace` tools that are registered already are taken as they are now.

    Raises: `RegistryError` when a name is taken, or the connection is not open, and then no tool is added.
    """
    if not connection.is_open:
        raise RegistryError(f"the MCP server `{connection.server.name}` is not connected; open the connection first")
    definitions = list(connection.definitions.values())
    taken = next((each.spec.name for each in definitions if each.spec.name in registry), None)
    if taken is not None and not replace:
        raise RegistryError(f"the tool `{taken}` is already registered")
    registry.closing(connection.close)
    for each in definitions:
        connection.add(each, registry, replace=replace)


async def _taken_as_it_is(name: str, result: object) -> None:
    """Replace the check of a result against the schema that its server gives."""
    del name, result


def _leaf(error: BaseException) -> BaseException:
    """Return the first failure inside a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _LastWords:
    """Keeps the end of what a server writes on standard error, for an error that says why it is not there."""

    def __init__(self) -> None:
        self._kept = b""

    def text(self) -> str:
        """Return what was said last."""
        return self._kept.decode(errors="replace")

    @contextlib.contextmanager
    def listening(self) -> Iterator[Any]:
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
