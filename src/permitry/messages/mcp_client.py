"""The client of an MCP server, for the gateway and for tools; the official SDK implements the protocol.

A server is a program of a third party: it gets no environment but what is named, and no answer to what it asks by
itself: no model, no user, no folders. The SDK comes with an extra, and is loaded on first use.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TextIO

from permitry.extras import load
from permitry.messages.mcp_lines import ENCODING
from permitry.messages.mcp_lists import tool_lists

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client.session import MessageHandlerFnT

__all__ = ["Reachable", "ignore_schemas", "new_client"]


class Reachable(Protocol):
    """A server: reached at `url`, with `headers`, or a program that is started in `folder`, with `env`."""

    @property
    def url(self) -> str | None:
        """The address; None for a program."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """What goes with every request to the address."""
        ...

    @property
    def env(self) -> Mapping[str, str]:
        """The variables of the program, besides the few that hold no secrets."""
        ...

    @property
    def folder(self) -> str | None:
        """Where the program starts; None for the current folder."""
        ...


async def new_client(
    stack: contextlib.AsyncExitStack,
    server: Reachable,
    words: Sequence[str],
    *,
    errlog: TextIO | None,
    heard: "MessageHandlerFnT",
    report: Callable[[list[str]], object],
) -> "Client":
    """Return a client of the SDK, to be entered; `stack` ends what it needs.

    `words` are those of the program, whose own ones go to `errlog`. `heard` gets the messages of the server, and
    `report` the names of tools that the protocol refuses, which are left out of their list.
    """
    if server.url is not None:
        new_http = load("mcp.shared._httpx_utils:create_mcp_http_client")
        http = await stack.enter_async_context(new_http(headers=dict(server.headers)))
        transport = load("mcp.client.streamable_http:streamable_http_client")(server.url, http_client=http)
    else:
        program, *args = words
        started = load("mcp:StdioServerParameters")(
            command=program,
            args=args,
            env=dict(server.env),
            cwd=server.folder,
            encoding=ENCODING,
            # A byte that is not UTF-8 would end the connection.
            encoding_error_handler="replace",
        )
        transport = load("mcp:stdio_client")(started, errlog=errlog)
    streams = tool_lists(transport, lambda: client.session.protocol_version, report)
    client: Client = load("mcp:Client")(streams, message_handler=heard, cache=None)
    return client


def ignore_schemas(client: "Client") -> None:
    """Have a client that was entered take results as they are.

    INVARIANT: no schema of a server is worked off here. Its patterns would run in Python's `re`, where a short text
    takes hours and holds up every thread. Whether a result fits is for who reads it to see.
    """
    client.session.validate_tool_result = _take_as_it_is  # type: ignore[method-assign]  # as said above


async def _take_as_it_is(name: str, result: object) -> None:
    """Replace the check of a result against the schema that its server gives."""
    del name, result
