"""The inbox as a server: where it listens, at which address it is reached, and who may log in with which token."""

import re
import socket
import stat
from collections.abc import Iterable
from pathlib import Path

import attrs
import uvicorn
from starlette.types import ASGIApp

from permitry.errors import AdapterError
from permitry.files import open_regular
from permitry_ops.inbox.access import User
from permitry_ops.inbox.security import Site

__all__ = ["Address", "read_tokens", "serve"]

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_ORIGIN = re.compile(r"https://[a-z0-9.-]+(:[0-9]{1,5})?")
_ROLES = {"approver": True, "viewer": False}
_SHORTEST = 32
_LARGEST = 1024 * 1024


@attrs.frozen
class Address:
    """Where the inbox listens; `proxy` is the address at which a proxy with TLS in front of it is reached."""

    host: str
    port: int
    proxy: str | None = None

    @classmethod
    def parse(cls, text: str, proxy: str | None = None) -> "Address":
        """Return what `HOST:PORT` names. Raises: `AdapterError` if others reach it without TLS."""
        host, _, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (host and port.isascii() and port.isdigit() and 0 < int(port) < 2**16):
            raise AdapterError(f"`{text}` is not HOST:PORT, such as 127.0.0.1:8710")
        if proxy is not None and not _ORIGIN.fullmatch(proxy):
            raise AdapterError(f"`{proxy}` is not the address of a site with TLS, such as https://inbox.example.com")
        if host not in _LOOPBACK and proxy is None:
            hint = "use 127.0.0.1, or name the proxy with TLS in front of it with --behind-proxy"
            raise AdapterError(f"`{host}` is not an address of this machine alone; {hint}")
        return cls(host, int(port), proxy)

    @property
    def site(self) -> Site:
        """How browsers reach it."""
        return Site.local(self.port) if self.proxy is None else Site((self.proxy,))

    @property
    def origin(self) -> str:
        """What links begin with."""
        return self.site.origins[0]

    def listen(self) -> socket.socket:
        """Return a socket that listens. Raises: `AdapterError` where the port is taken."""
        try:
            found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
            return socket.create_server((self.host, self.port), family=found[0][0])
        except OSError as error:
            # Python repeats the address, after these words.
            why = str(error.strerror).partition(" (while attempting")[0]
            at = f"{self.host}:{self.port}"
            raise AdapterError(f"cannot listen at {at}: {why}; name another port with --listen") from error


def read_tokens(path: Path) -> list[tuple[User, str]]:
    """Return who may log in, by lines `NAME ROLE TOKEN` of a file. Raises: `AdapterError`."""
    try:
        with open_regular(path) as (stream, status):
            lines = stream.read(_LARGEST).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise AdapterError(f"cannot read the tokens in `{path}`: {why}") from error
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise AdapterError(f"others may read the tokens in `{path}`; close it with chmod 600")
    return list(_tokens(path, lines))


def _tokens(path: Path, lines: Iterable[str]) -> Iterable[tuple[User, str]]:
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        # What is wrong is not shown: it may be a token.
        if len(words) != len(("name", "role", "token")) or words[1] not in _ROLES:
            raise AdapterError(f"{path}:{number}: a line is NAME, then approver or viewer, then the token")
        if len(words[2]) < _SHORTEST:
            raise AdapterError(f"{path}:{number}: the token is shorter than {_SHORTEST} characters")
        yield User(words[0], _ROLES[words[1]]), words[2]


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve until the process is ended."""
    # A header says nothing of who is in front: all who come through a proxy are one address to the limit on logins.
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, proxy_headers=False, ws="none",
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])
