"""The gateway on standard input and output, or on a port of this machine."""

import asyncio
import contextlib
import hashlib
import hmac
import secrets
import signal
import threading
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import attrs
import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel.server import Server as McpServer
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from permitry.errors import AdapterError
from permitry.files import open_regular, write_new
from permitry_hosts.gateway.contents import Contents
from permitry_hosts.gateway.gateway import Gateway

__all__ = ["Address", "http_server", "mcp_server", "read_token", "serve_http", "serve_stdio"]

_LARGEST = 4 * 1024 * 1024
_SHORTEST_TOKEN = 32
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@attrs.frozen
class Address:
    """Where clients find the gateway: a port of this machine, for no other one."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Return what `HOST:PORT` names. Raises: `AdapterError` for another machine."""
        host, _, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (host and port.isascii() and port.isdigit() and 0 < int(port) < 2**16):
            raise AdapterError(f"`{text}` is not HOST:PORT, such as 127.0.0.1:8931")
        if host not in _LOOPBACK:
            raise AdapterError(
                f"`{host}` is not an address of this machine alone; use 127.0.0.1, and TLS in front of it"
            )
        return cls(host, int(port))

    def __str__(self) -> str:
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


@attrs.frozen
class _OneToken:
    token: str = attrs.field(repr=False)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who brings a token; None for any other one."""
        given, known = (hashlib.sha256(each.encode("utf-8", "surrogatepass")).digest() for each in (token, self.token))
        return AccessToken(token="", client_id="client", scopes=[]) if hmac.compare_digest(given, known) else None


def read_token(file: Path) -> str:
    """Return the token in a private file, which is made if need be. Raises: `AdapterError`."""
    try:
        with contextlib.suppress(FileExistsError):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_new(file, f"{secrets.token_urlsafe(32)}\n".encode())
        with open_regular(file) as (stream, status):
            token = stream.read(4096).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise AdapterError(f"cannot use the token file `{file}`: {error}") from error
    if status.st_mode & 0o077:
        raise AdapterError(f"others may read the token file `{file}`; close it with chmod 600")
    if len(token) < _SHORTEST_TOKEN:
        raise AdapterError(f"the token in `{file}` is shorter than {_SHORTEST_TOKEN} characters")
    return token


def mcp_server(gateway: Gateway) -> McpServer[Any]:
    """Return the server of the SDK; it serves both eras of the protocol."""
    contents = Contents(gateway)
    server: McpServer[Any] = McpServer(
        "permitry",
        on_list_tools=gateway.list_tools,
        on_call_tool=gateway.call_tool,
        on_list_resources=contents.list_resources,
        on_list_resource_templates=contents.list_templates,
        on_read_resource=contents.read_resource,
        on_list_prompts=contents.list_prompts,
        on_get_prompt=contents.get_prompt,
        get_tool_input_schema=gateway.schema,
    )
    # INVARIANT: what a client sends back as the state of a question was sealed here for this tool, these arguments and
    # this principal. That it counts once is for the ledger of the guard to see.
    security = RequestStateSecurity.ephemeral(ttl=gateway.wait)
    server.middleware.append(RequestStateBoundary(security, default_audience="permitry"))
    return server


@contextlib.asynccontextmanager
async def _connect(gateway: Gateway) -> AsyncIterator[None]:
    async with contextlib.AsyncExitStack() as stack:
        for upstream in gateway.upstreams:
            await upstream.connect(stack)
        yield


def _end_with_sigterm() -> None:
    serving = asyncio.current_task()
    if serving is not None and threading.current_thread() is threading.main_thread():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)


async def serve_stdio(gateway: Gateway) -> None:
    """Serve the client on standard input and output, until it leaves; nothing but the protocol is written there.

    SIGTERM ends it like Ctrl-C: what runs is cancelled and recorded, and the servers end.

    Raises: `AdapterError` when a server is not there; `asyncio.CancelledError` for a signal.
    """
    _end_with_sigterm()
    server = mcp_server(gateway)
    async with _connect(gateway), stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def http_server(gateway: Gateway, address: Address, token: str, *, origins: Iterable[str] = ()) -> uvicorn.Server:
    """Return the server for clients with the token; pages in a browser are of `origins`."""
    own = {f"{host}:{address.port}" for host in ("127.0.0.1", "localhost", "[::1]")}
    pages = list(origins)
    app = mcp_server(gateway).streamable_http_app(
        max_request_body_size=_LARGEST,
        transport_security=TransportSecuritySettings(allowed_hosts=sorted(own), allowed_origins=pages),
        auth=AuthSettings(issuer_url=f"http://{address}", resource_server_url=None),
        token_verifier=_OneToken(token),
    )
    app.add_route("/health", _health, methods=["GET"])
    if pages:
        # A browser asks first, without the token, whether a page may send it and read the answer.
        exposed = ["mcp-session-id"]
        methods = ["GET", "POST", "DELETE"]
        app.add_middleware(
            CORSMiddleware, allow_origins=pages, allow_methods=methods, allow_headers=["*"], expose_headers=exposed
        )
    return uvicorn.Server(uvicorn.Config(app, address.host, address.port, log_level="warning", access_log=False))


async def _health(_: Request) -> Response:
    """Say that the gateway serves, and nothing else: it does so only while its servers are there."""
    return PlainTextResponse("ok")


async def serve_http(gateway: Gateway, server: uvicorn.Server) -> None:
    """Serve clients at `/mcp`, as `serve_stdio` does. Raises: `AdapterError`, also for a taken port."""
    # The signal reaches the loop as well as uvicorn, which would end the process before the servers have ended.
    _end_with_sigterm()
    async with _connect(gateway):
        try:
            await server.serve()
        except SystemExit as error:
            # By uvicorn, which has logged why.
            at = Address(server.config.host, server.config.port)
            raise AdapterError(f"cannot listen at {at}; free the port, or name another one with --listen") from error
