"""A small web server on this machine, and what fetches from it."""

import contextlib
import http.server
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs
import pytest

from permitry_tools.web.addresses import Resolve
from permitry_tools.web.exchange import Exchanger
from permitry_tools.web.fetching import Fetcher, MayConnect
from permitry_tools.web.settings import WebSettings

Reply: TypeAlias = Callable[[http.server.BaseHTTPRequestHandler], None]


@attrs.frozen
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as the site says, and writes nothing on standard error."""

    server: "Server"

    def do_GET(self) -> None:
        """Answer a request."""
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.site.seen.append(Seen(self.command, self.path, headers, body))
        # The one who asks may hang up in the middle of an answer.
        with contextlib.suppress(OSError):
            self.server.site.replies.get(self.path.partition("?")[0], missing)(self)

    do_POST = do_GET  # noqa: N815 -- the name http.server looks for

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    """A server that knows its site."""

    site: "Site"

    def __init__(self, address: tuple[str, int]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, Handler)

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


@attrs.define
class Site:
    """What the server answers, by path, and what it was asked."""

    port: int
    host: str = "127.0.0.1"
    replies: dict[str, Reply] = attrs.field(factory=dict)
    seen: list[Seen] = attrs.field(factory=list)
    is_over: threading.Event = attrs.field(factory=threading.Event)

    def url(self, path: str = "/", host: str | None = None) -> str:
        """Return the address of a path."""
        return f"http://{host or self.host}:{self.port}{path}"

    def page(self, path: str, body: bytes | str, content_type: str = "text/html", **headers: str) -> None:
        """Have a path answer with a body."""
        data = body.encode() if isinstance(body, str) else body

        def reply(handler: http.server.BaseHTTPRequestHandler) -> None:
            start(handler, 200, {"Content-Type": content_type, "Content-Length": str(len(data)), **headers})
            handler.wfile.write(data)

        self.replies[path] = reply

    def redirect(self, path: str, target: str, status: int = 302) -> None:
        """Have a path lead on."""
        self.replies[path] = lambda handler: start(handler, status, {"Location": target, "Content-Length": "0"})

    def status(self, path: str, status: int) -> None:
        """Have a path answer with nothing but a status."""
        self.replies[path] = lambda handler: start(handler, status, {"Content-Length": "0"})

    def drip(self, path: str, pieces: bytes, *, seconds: float, headers: bytes = b"") -> None:
        """Have a path send `headers`, then `pieces` again and again, until the test is over or time has passed."""

        def reply(handler: http.server.BaseHTTPRequestHandler) -> None:
            handler.wfile.write(headers)
            # The end is for a tool that does not end by itself: a test must fail, not hang.
            end = time.monotonic() + 20
            while not self.is_over.wait(seconds) and time.monotonic() < end:
                handler.wfile.write(pieces)

        self.replies[path] = reply


def start(handler: http.server.BaseHTTPRequestHandler, status: int, headers: Mapping[str, str]) -> None:
    """Send a status and headers."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()


def missing(handler: http.server.BaseHTTPRequestHandler) -> None:
    """Answer that there is nothing."""
    start(handler, 404, {"Content-Length": "0"})


@contextlib.contextmanager
def serving(host: str, port: int = 0, wrap: Callable[[Any], Any] | None = None) -> Iterator[Site]:
    """Yield a site that is being served on `host`."""
    server = Server((host, port))
    if wrap is not None:
        server.socket = wrap(server.socket)
    site = server.site = Site(server.server_port, host)
    # The default looks only every half second whether it should end.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield site
    finally:
        site.is_over.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def site() -> Iterator[Site]:
    """Yield a site on 127.0.0.1."""
    with serving("127.0.0.1") as site:
        yield site


@pytest.fixture
def serve() -> Callable[..., contextlib.AbstractContextManager[Site]]:
    """Return the function that serves a site: on another address, on a port, or behind TLS."""
    return serving


@pytest.fixture
def fetcher() -> Callable[..., Fetcher]:
    """Return a maker of fetchers: `fetcher(may_connect, resolver, timeout=1)`; private addresses are allowed."""

    def make(may_connect: MayConnect | None = None, resolver: Resolve | None = None, **rest: Any) -> Fetcher:  # noqa: ANN401 -- the settings' own
        settings = WebSettings(**{"allow_private": True, "timeout": 10, **rest})
        return Fetcher(Exchanger(settings, resolver or (lambda _, __: ["127.0.0.1"])), may_connect)

    return make
