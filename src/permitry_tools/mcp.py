"""The tools of MCP servers, as tools of a registry.

The official SDK implements the protocol; the extra `permitry[mcp]` installs it, and it is loaded on first use. A
server is a program of a third party: it gets no environment but what is named, and no answer to what it asks by itself.
"""

import asyncio
import concurrent.futures
import contextlib
import threading
import time
from collections.abc import Coroutine, Mapping
from typing import Any, Self, TypeVar

import attrs

from permitry.port import (
    AuthContext,
    RegistryError,
    Restarts,
    ToolError,
    ToolRegistry,
    ToolResult,
    current_cancellation,
)
from permitry_tools._mcp_client import GRACE, McpClient
from permitry_tools._mcp_server import McpServer
from permitry_tools._mcp_wire import Definition, read_result

__all__ = ["McpChanges", "McpConnection", "McpServer", "register"]

T = TypeVar("T")

_CONNECTION_CLOSED = -32000
_REQUEST_TIMEOUT = -32001


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
        self._client = McpClient(server)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._opening = threading.RLock()
        self._restarts = Restarts()
        self._has_ended = False

    @property
    def definitions(self) -> Mapping[str, Definition]:
        """The tools of the server by their own names, in its order, as it listed them last."""
        return self._client.listing.definitions

    @property
    def skipped(self) -> Mapping[str, str]:
        """The tools that are not offered, by name, and why: their names cannot be ruled on."""
        return self._client.listing.skipped

    @property
    def has_news(self) -> bool:
        """Whether the server has said that its tools changed, and they were not listed yet."""
        return self._client.has_news

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
            ready.result(self.server.start_timeout + GRACE)
        except BaseException as error:
            # A caller that is interrupted leaves no server behind either.
            self.close()
            if isinstance(error, Exception):
                raise RegistryError(self._not_there(error)) from error
            raise
        return self

    def close(self) -> None:
        """End the connection, and the server if it was started here; safe to call again."""
        self._end()
        # INVARIANT: what was being started again meanwhile is ended as well.
        with self._opening:
            self._end()

    def _end(self) -> None:
        self._has_ended = False
        loop, thread = self._loop, self._thread
        if loop is not None:
            # The loop may have ended by itself.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._client.leave)
        if thread is not None and thread is not threading.current_thread():
            thread.join(GRACE)
        self._thread = None

    def __enter__(self) -> Self:
        return self if self._thread is not None else self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, definition: Definition, arguments: dict[str, Any]) -> ToolResult:
        """Return the result of a tool, if the server still defines it as in `definition`.

        A program that ended in an earlier call is started again, at most five times in ten minutes.

        Raises: `ToolError` when it does not, when the server has ended, or gives no answer in time.
        """
        self._start_again()
        return read_result(self._wait_for(self._client.call_tool(definition, arguments)))

    def refresh(self, registry: ToolRegistry) -> McpChanges:
        """List the tools again, register those that were added, and return what differs.

        A tool whose definition changed stays off: the model knows the old one, and rules were written for it. To accept
        it, register the connection again, with `replace`.

        Raises: `ToolError` when the server does not list its tools.
        """
        self._wait_for(self._client.list_again())
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
            with asyncio.Runner() as runner:
                self._loop = runner.get_loop()
                runner.run(self._client.serve(ready))
        except BaseException as error:  # noqa: BLE001 -- the caller that waits must get it, whatever it is
            if not ready.done():
                ready.set_exception(_leaf(error))

    def _start_again(self) -> None:
        with self._opening:
            if not self._has_ended or not self._restarts.take(time.monotonic()):
                return
            self.close()
            try:
                self.open()
            except RegistryError as error:
                self._has_ended = True
                raise ToolError(str(error)) from error

    # From other threads ----------------------------------------------------------------------------------------------

    def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what `work` gives in the thread of the connection, or raise a `ToolError`; never wait for ever."""
        name, loop, thread = self.server.name, self._loop, self._thread
        if loop is None or thread is None or not thread.is_alive() or loop.is_closed():
            work.close()
            raise ToolError(f"The MCP server `{name}` is not connected.")
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            # INVARIANT: who cancels the call cancels the request as well, and the server is sent that.
            with current_cancellation().calling(future.cancel):
                return future.result(2 * self.server.timeout + GRACE)
        except ToolError:
            raise
        except TimeoutError as error:
            raise ToolError(f"The MCP server `{name}` gave no answer in time.") from error
        except concurrent.futures.CancelledError as error:
            if current_cancellation().is_cancelled:
                raise ToolError(f"The call was cancelled, and the MCP server `{name}` was sent that.") from error
            raise ToolError(f"The connection to the MCP server `{name}` was closed.") from error
        except Exception as error:
            is_program = self.server.command is not None
            if is_program and self._loop is loop and getattr(error, "code", None) == _CONNECTION_CLOSED:
                self._has_ended = True
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
        words = self._client.stderr.text().strip()
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


def _leaf(error: BaseException) -> BaseException:
    """Return the first failure inside a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
