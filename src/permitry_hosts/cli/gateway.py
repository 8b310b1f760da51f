"""`permitry gateway`: be the MCP server in front of others, and decide each of their calls."""

import argparse
import contextlib
import logging
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from permitry.audit.record import StoredRecorder, user_name
from permitry.channels.ancestors import ancestors
from permitry.cli.inputs import add_rules_option, origins_from, refuse_list, tell
from permitry.cli.logs import show_logs
from permitry.cli.main import ExitCode
from permitry.cli.renewal import Renewal
from permitry.cli.stores import STORE, record_from, store_from
from permitry.cli.telemetry import add_otel_option, watched
from permitry.config.folders import user_state
from permitry.config.reload import PolicyReloader
from permitry.core.call import ToolCall
from permitry.errors import CallError, PermitryError
from permitry.extras import missing
from permitry.guard.guard import Guard
from permitry.guard.ledgers import counters_at, grants_at, ledger_at
from permitry.guard.session import Session
from permitry.guard.session_record import begin_session
from permitry.store.records import recorder_at, store_at
from permitry.undo.vault import Vault

if TYPE_CHECKING:
    from permitry.guard.stored_ledger import StoredLedger
    from permitry.store.chained_store import Store
    from permitry_hosts.gateway.upstream import Server
    from permitry_tools.mcp import McpServer

__all__ = ["configure"]

_APART = 0.2
_WAIT = 300.0
_NEAR = 2
"""So many processes above the gateway are those of its client: a launcher, perhaps, and the client itself."""
_LONGEST = 86_400.0
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9.\[\]:_-]+")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry gateway`."""
    add = parser.add_argument
    add("command", nargs="*", metavar="COMMAND", help="after --: the server, as the program that starts it")
    add("--name", metavar="NAME", help="the name of the server in rules: its tools are mcp:NAME/TOOL")
    add("--upstream", metavar="URL", help="the server, as the address at which it is reached")
    add("--tools", type=Path, metavar="FILE", help="a tools file: each of its tables [mcp.NAME] is one more server")
    trust = "believe what the server says in favour of its tools, such as that one only reads"
    add("--trust-annotations", action="store_true", help=trust)
    add_rules_option(parser, observes=True)
    add(
        "--workspace",
        default=".",
        metavar="DIR",
        help="the folder that relative patterns in rules are about, and where layers are looked for; default: this one",
    )
    add(
        "--listen",
        metavar="HOST:PORT",
        help="serve over HTTP at /mcp, on this machine; default: standard input and output",
    )
    held_in = (
        "the file with the token that HTTP clients must bring; made if it is not there; default: in your state folder"
    )
    add("--token-file", type=Path, metavar="FILE", help=held_in)
    origin = "a web page that may use the gateway over HTTP, such as http://localhost:6274; may be given again"
    add("--origin", action="append", default=[], metavar="ORIGIN", help=origin)
    asked = "ask through the client (the default), or wait for `permitry approve`; at most 300 seconds, or SECONDS"
    add("--ask", type=_seconds, default=0.0, metavar="client|wait[=SECONDS]", help=asked)
    add("--store", metavar="STORE", help=f"where records, questions and grants are: {STORE}")
    add("--record", metavar="FILE", help="a file to append the record to; default: it is in the store")
    add_otel_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Serve until the client leaves, or the process is ended."""
    import asyncio

    show_logs()
    # It logs each line that is not of the protocol, such as what `npx` says at first, each with a traceback.
    logging.getLogger("mcp.client.stdio").addFilter(_without_traceback)
    try:
        from permitry_hosts.gateway.definitions import Pins
        from permitry_hosts.gateway.gateway import Gateway
        from permitry_hosts.gateway.serve import Address, http_server, read_token, serve_http, serve_stdio
        from permitry_hosts.gateway.upstream import Upstream
    except ModuleNotFoundError as error:
        raise PermitryError(missing(error.name, "gateway")) from error
    servers = _servers(options)
    address = None if options.listen is None else Address.parse(options.listen)
    for origin in options.origin:
        _check_origin(origin)
    reloader = PolicyReloader(lambda: origins_from(options, options.workspace), apart=_APART)
    tell(reloader.loaded.rules.notices)
    session = Session(workspace=str(Path(options.workspace).resolve()))
    pins = Pins(user_state() / "gateway-pins")
    with contextlib.ExitStack() as stack:
        recorder, store = _open(options, session, stack)
        session.shared = counters_at(store)
        stack.callback(session.shared.close)
        guard = Guard(
            reloader.loaded.policy,
            session,
            recorder=recorder,
            undo=Vault(user_state() / "undo"),
            grants=grants_at(store, principal=user_name()),
        )
        renewal = Renewal(reloader, recorder, guard)
        gateway = Gateway(
            guard, tuple(map(Upstream, servers)), pins, wait=options.ask or _WAIT, before=renewal.require,
            ledger=_ledger(store, options.ask, is_local=address is None) if options.ask else None,
        )  # fmt: skip
        begin_session(guard, recorder, principal=user_name())
        if address is None:
            if sys.stdin.isatty():
                tell(["waiting for an MCP client on this terminal; clients start this command by themselves"])
            serving = serve_stdio(gateway)
        else:
            file = options.token_file or user_state() / "gateway-token"
            token = read_token(file)
            tell([f"serving at http://{address}/mcp; clients bring the token in {file}"])
            serving = serve_http(gateway, http_server(gateway, address, token, origins=options.origin))
        try:
            with watched(guard, is_on=options.otel):
                asyncio.run(serving)
        except asyncio.CancelledError:
            return ExitCode.INTERRUPTED
    return ExitCode.OK


def _open(options: argparse.Namespace, session: Session, stack: contextlib.ExitStack) -> "tuple[StoredRecorder, Store]":
    """Return what records the calls of a session, and the store, which may be the same; both are closed at the end."""
    place, record = store_from(options), record_from(options)
    store = store_at(place)
    stack.callback(store.close)
    if record == place:
        return StoredRecorder(store, session=session.id), store
    recorder = recorder_at(record, session=session.id)
    stack.callback(recorder.close)
    return recorder, store


def _ledger(store: "Store", seconds: float, *, is_local: bool) -> "StoredLedger":
    """Return where questions wait for `permitry approve`.

    `is_local`: the client has started this process, so that an agent in it must not answer.
    """
    above = tuple(ancestors(os.getpid()))[:_NEAR] if is_local else ()
    return attrs.evolve(ledger_at(store, lifetime=seconds), above=above)


def _without_traceback(record: logging.LogRecord) -> bool:
    record.exc_info = None
    return True


def _seconds(text: str) -> float:
    """Return how long a question waits for `permitry approve`; 0 where the client asks."""
    word, _, seconds = text.partition("=")
    if text == "client":
        return 0.0
    with contextlib.suppress(ValueError):
        if word == "wait" and 0 < (found := float(seconds or _WAIT)) <= _LONGEST:
            return found
    raise argparse.ArgumentTypeError(f"`{text}` is not `client`, `wait` or `wait=SECONDS`, at most {_LONGEST:.0f}")


def _servers(options: argparse.Namespace) -> "list[Server]":
    """Return the servers that the options name.

    Raises: `PermitryError` when they name none, or one in a way that is not understood.
    """
    from permitry_hosts.gateway.upstream import Server

    servers: list[Server] = []
    if options.command or options.upstream:
        if options.command and options.upstream:
            raise PermitryError("a server is either a COMMAND or at an `--upstream` address; name several with --tools")
        if not options.name:
            raise PermitryError("the server needs a name for rules; add --name NAME")
        is_trusted = options.trust_annotations
        servers.append(Server(options.name, tuple(options.command), url=options.upstream, is_trusted=is_trusted))
    elif options.name or options.trust_annotations:
        raise PermitryError("`--name` and `--trust-annotations` go with a COMMAND after --, or with `--upstream URL`")
    if options.tools is not None:
        from permitry_tools.settings import read_tools_file

        refuse_list(options.tools)
        servers += map(_from_file, read_tools_file(options.tools).servers())
    if not servers:
        raise PermitryError("there is no server; name one: permitry gateway --name NAME -- COMMAND...")
    for server in servers:
        _check(server)
    return servers


def _check_origin(origin: str) -> None:
    # Compared with what browsers send, so that any other text would never be met.
    if _ORIGIN.fullmatch(origin) is None:
        raise PermitryError(f"`{origin}` is not an origin, such as http://localhost:6274: no path, no slash at its end")


def _check(server: "Server") -> None:
    try:
        ToolCall("tool", server=server.name)
    except CallError as error:
        raise PermitryError(str(error)) from error
    if server.url is not None and not server.url.startswith(("http://", "https://")):
        raise PermitryError(f"the address of the MCP server `{server.name}` is not http or https")


def _from_file(server: "McpServer") -> "Server":
    from permitry_hosts.gateway.upstream import Server

    return Server(
        server.name,
        () if server.command is None else (server.command, *server.args),
        url=server.url,
        env=server.env,
        folder=server.folder,
        headers=server.headers,
        timeout=server.timeout,
        start_timeout=server.start_timeout,
        is_trusted=server.trust_annotations,
    )
