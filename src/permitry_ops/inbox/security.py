"""What holds for each request, whatever the page: its host, its origin and size, and the headers of the response."""

from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

import attrs
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "Guarded", "Site", "read_form"]

_LARGEST = 1024 * 1024
_MOST_FIELDS = 20
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With `no-referrer`, browsers send forms with the origin `null`.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@attrs.frozen
class Site:
    """Where the inbox is reached: `origins` are all of its addresses, such as `http://127.0.0.1:8710`."""

    origins: tuple[str, ...]

    @classmethod
    def local(cls, port: int) -> "Site":
        """Return the site of a port of this machine."""
        return cls(tuple(f"http://{host}:{port}" for host in ("127.0.0.1", "localhost", "[::1]")))

    @property
    def hosts(self) -> frozenset[str]:
        """What a request may name as its host."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach it over TLS alone."""
        return all(origin.startswith("https://") for origin in self.origins)

    @property
    def cookie(self) -> str:
        """The name of the cookie; browsers take this prefix only over TLS and from this host."""
        if self.is_secure:
            return "__Host-permitry-inbox"
        return f"permitry-inbox-{urlsplit(self.origins[0]).port}"


@attrs.frozen
class Guarded:
    """The app behind the checks that need no session: a page of another site reaches nothing."""

    app: ASGIApp
    site: Site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        problem = self._problem(Request(scope))
        if problem:
            await PlainTextResponse(problem, 403)(scope, receive, with_headers)
        else:
            await self.app(scope, receive, with_headers)

    def _problem(self, request: Request) -> str:
        if request.headers.getlist("host") not in [[host] for host in self.site.hosts]:
            return "this is not a name of the inbox"
        origins = request.headers.getlist("origin")
        # Browsers name the origin with each form; what does not is none that has a session here.
        is_reading = request.method in ("GET", "HEAD")
        if (origins or not is_reading) and origins not in [[origin] for origin in self.site.origins]:
            return "this request comes from another site"
        return ""


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form. Raises: `HTTPException` for what is too large, or is none."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise HTTPException(415, "this is not a form")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST:
            raise HTTPException(413, "the form is too large")
    try:
        fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise HTTPException(400, "the form cannot be read") from error
    return _once(fields)


def _once(fields: Iterable[tuple[str, str]]) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in fields:
        if name in given:
            raise HTTPException(400, "a field of the form is there twice")
        given[name] = value
    return given
