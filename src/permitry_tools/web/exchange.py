"""One request and its answer over HTTP: to a checked address, within a time, up to a size."""

import contextlib
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Self

import attrs
import httpx

from permitry.port import Connect, ToolError, read_url
from permitry_tools.web.addresses import Resolve, find_addresses
from permitry_tools.web.settings import WEB_PORTS, WebSettings

__all__ = ["Answer", "Exchanger", "Request"]

_HEADERS = {"accept": "*/*", "accept-encoding": "gzip", "connection": "close", "user-agent": "permitry"}
# As zlib wants it: the largest window, and the header of gzip or zlib, whichever comes.
_WINDOW = 32 + zlib.MAX_WBITS
_WHOLE = "identity"


@attrs.frozen
class Request:
    """What to ask for; `may_be_private` when the host of the program itself names the address."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    content: bytes | None = attrs.field(default=None, repr=False)
    may_be_private: bool = False


@attrs.frozen
class Answer:
    """What came back: the status, the headers (names in lower case), and as much of the body as was read."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def location(self) -> str | None:
        """The absolute address the answer leads on to, None if to none."""
        target = self.headers.get("location")
        if self.status not in (301, 302, 303, 307, 308) or target is None:
            return None
        try:
            return str(httpx.URL(self.url).join(target).copy_with(fragment=None))
        except (httpx.InvalidURL, ValueError, TypeError) as error:
            raise ToolError("it redirects to what is not an address") from error


@attrs.define
class Exchanger:
    """Sends requests. A connection goes to the very address that was checked, and to no other.

    No redirect is followed, no cookie kept, and no proxy or password taken from the environment.
    """

    settings: WebSettings
    resolver: Resolve
    _trust: ssl.SSLContext | None = attrs.field(default=None, init=False, repr=False)

    def send(self, request: Request, deadline: float) -> Answer:
        """Return the answer to a request; `deadline` is a moment of `time.monotonic`.

        Raises: `ToolError` for an address that is refused, a failed connection, or a late answer.
        """
        connect = read_url(request.url)
        if not connect.is_certain or connect.scheme not in WEB_PORTS:
            raise ToolError(f"`{request.url}` is not a plain http or https address")
        url = _parse(request.url, connect)
        addresses = find_addresses(
            connect,
            self.resolver,
            allow_private=request.may_be_private or self.settings.allow_private,
            seconds=_seconds_until(deadline),
        )
        for address in addresses[:-1]:
            with contextlib.suppress(httpx.ConnectError, httpx.ConnectTimeout):
                return self._send(request, url, address, deadline)
        try:
            return self._send(request, url, addresses[-1], deadline)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise ToolError(f"no connection to `{connect.host}`: {error}") from error

    def _send(self, request: Request, url: httpx.URL, address: str, deadline: float) -> Answer:
        seconds = _seconds_until(deadline)
        with _Watchdog(seconds) as watchdog:
            extensions = {"timeout": httpx.Timeout(seconds).as_dict(), "trace": watchdog.trace}
            try:
                # For one request: nothing, such as an open connection, is left for the next one.
                with httpx.HTTPTransport(verify=self._trust_store(), trust_env=False) as transport:
                    answer = self._read(transport, _pin(request, url, address, extensions), request.url)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                watchdog.check()
                raise
            except (httpx.HTTPError, httpx.StreamError) as error:
                watchdog.check()
                raise ToolError(f"the connection failed: {str(error) or type(error).__name__}") from error
            watchdog.check()
        return answer

    def _trust_store(self) -> ssl.SSLContext:
        if self._trust is None:
            own = self.settings.ca_file
            self._trust = (
                httpx.create_ssl_context(trust_env=False) if own is None else ssl.create_default_context(cafile=own)
            )
        return self._trust

    def _read(self, transport: httpx.HTTPTransport, sent: httpx.Request, url: str) -> Answer:
        # A transport does what it is asked, no more: no redirects, no cookies, no passwords.
        response = transport.handle_request(sent)
        try:
            headers = {name.lower(): value for name, value in response.headers.items()}
            body = _body(response, self.settings.max_bytes) if response.is_success else b""
        finally:
            response.close()
        return Answer(url, response.status_code, headers, body)


def _seconds_until(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise ToolError("it took too long")
    return left


def _parse(text: str, connect: Connect) -> httpx.URL:
    """Return the address as it will be sent, which must be the one that was decided on."""
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError) as error:
        raise ToolError(f"`{text}` is not a plain http or https address") from error
    port = url.port or WEB_PORTS[url.scheme] if url.scheme in WEB_PORTS else None
    host = (connect.host or "").strip("[]")
    if (url.scheme, url.raw_host.decode("ascii"), port) != (connect.scheme, host, connect.port):
        raise ToolError(f"`{text}` is not a plain http or https address: it is read in more than one way")
    return url


def _pin(request: Request, url: httpx.URL, address: str, extensions: Mapping[str, Any]) -> httpx.Request:
    """Return a request that goes to `address`, whatever its host resolves to by now, and asks for its host there."""
    host = url.raw_host.decode("ascii")
    # The certificate must be the host's, not the address's.
    name = {} if host == address else {"sni_hostname": host}
    return httpx.Request(
        request.method,
        url.copy_with(host=address),
        headers={**_HEADERS, **request.headers, "host": url.netloc.decode("ascii")},
        content=request.content,
        extensions={**extensions, **name},
    )


def _body(response: httpx.Response, limit: int) -> bytes:
    """Return the body, unpacked, up to `limit` bytes; of what is packed no more is read either."""
    unpack = _unpacker(response.headers.get("content-encoding", _WHOLE).strip().lower())
    body, received = bytearray(), 0
    for chunk in response.iter_raw():
        received += len(chunk)
        body += unpack(chunk, limit - len(body))
        if max(len(body), received) >= limit:
            break
    return bytes(body)


def _unpacker(encoding: str) -> Callable[[bytes, int], bytes]:
    if encoding in (_WHOLE, ""):
        return lambda chunk, room: chunk[:room]
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise ToolError(f"the answer is packed as `{encoding}`, which was not asked for")
    inflater = zlib.decompressobj(_WINDOW)

    def unpack(chunk: bytes, room: int) -> bytes:
        try:
            return inflater.decompress(chunk, room)
        except zlib.error as error:
            raise ToolError("the answer is packed, but damaged") from error

    return unpack


class _Watchdog:
    """Cuts the connection when the time is over: a server that sends a byte now and then would hold it for ever."""

    def __init__(self, seconds: float) -> None:
        self._wire: socket.socket | None = None
        self._is_over = False
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()
        if self._wire is not None:
            self._wire.close()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take note of the connection as soon as there is one."""
        if event == "connection.connect_tcp.complete":
            # A handle of its own: encryption takes the first one away.
            self._wire = info["return_value"].get_extra_info("socket").dup()
            if self._is_over:
                self._cut()

    def check(self) -> None:
        """Say so if the time is over: a connection that was cut looks like an answer that has ended."""
        if self._is_over:
            raise ToolError("it took too long")

    def _cut(self) -> None:
        # INVARIANT: this is set before the wire is looked at, and `trace` sets the wire before it looks at this.
        self._is_over = True
        if self._wire is not None:
            with contextlib.suppress(OSError):
                self._wire.shutdown(socket.SHUT_RDWR)
