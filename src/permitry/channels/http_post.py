"""JSON posted to a web address: over TLS, or to this machine, without following it elsewhere."""

from collections.abc import Iterable, Mapping
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

import attrs

__all__ = ["Reply", "host_of", "is_address", "post"]

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _NoRedirects(HTTPRedirectHandler):
    """A redirect of a POST becomes a GET, which brings nothing."""

    def redirect_request(self, *_: object) -> None:
        """Refuse every redirect, so that it is an error."""


@attrs.frozen
class Reply:
    """What a server answered; names of `headers` are in small letters. Only a success has a `body`."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


def is_address(text: str) -> bool:
    """Return whether a text is a web address."""
    return text.lower().startswith(("http://", "https://"))


def host_of(address: str) -> str:
    """Return the host of an address with `https://`, or of this machine; `ValueError` for any other."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError as error:
        raise ValueError(f"`{address}` is not an address: {error}") from error
    if not is_address(address) or not host:
        raise ValueError(f"`{address}` is not an address of the web")
    if parts.scheme.lower() != "https" and host not in _LOOPBACK:
        raise ValueError(f"`{address}` is not `https://`: others could change what is sent")
    return host


def post(address: str, body: bytes, headers: Mapping[str, str], *, seconds: float, most: int) -> Reply:
    """Post JSON and return the reply, of at most `most` bytes; nothing is waited for longer than `seconds` at a time.

    Raises: `ValueError` for a wrong address, or a reply that is too large; `OSError` without a reply.
    """
    host_of(address)
    given = {"Content-Type": "application/json", **headers}
    request = Request(address, body, given, method="POST")  # noqa: S310 -- the scheme is checked above
    try:
        with _opener_for(address).open(request, timeout=seconds) as response:
            found = response.read(most + 1)
            reply = Reply(response.status, response.reason, _small(response.headers.items()), found)
            is_whole = not response.length
    except HTTPError as error:
        error.close()
        return Reply(error.code, str(error.reason), _small(error.headers.items()), b"")
    except HTTPException as error:
        raise OSError(f"the reply is not HTTP: {type(error).__name__}") from error
    if len(found) > most:
        raise ValueError(f"the reply has more than {most:,} bytes")
    if not is_whole:
        raise OSError("the reply breaks off")
    return reply


def _opener_for(address: str) -> OpenerDirector:
    if address.lower().startswith("https:"):
        return build_opener(_NoRedirects)
    # What stays on this machine goes through no proxy.
    return build_opener(_NoRedirects, ProxyHandler({}))


def _small(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}
