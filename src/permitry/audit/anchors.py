"""Heads of a record, sent to another machine, where the one who can change the record cannot change them."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from urllib.parse import urlsplit

from permitry.errors import AuditError

__all__ = ["is_address", "send"]

_SECONDS = 10
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect of a POST becomes a GET, which keeps nothing."""

    def redirect_request(self, *_: object) -> None:
        """Refuse every redirect, so that it is an error."""


def is_address(text: str) -> bool:
    """Return whether a text is a web address."""
    return text.lower().startswith(("http://", "https://"))


def send(address: str, head: Mapping[str, object]) -> None:
    """Post a head as JSON to an address; when this returns, the server has said that it took it.

    Raises: `AuditError` when it has not, and for an address that is not `https://`, unless it is of this machine.
    """
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError as error:
        raise AuditError(f"`{address}` is not an address: {error}") from error
    if parts.scheme.lower() != "https" and host not in _LOOPBACK:
        raise AuditError(f"`{address}` is not `https://`: others could change what is sent")
    body = json.dumps(head).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"}, method="POST")  # noqa: S310 -- the scheme is checked above
    try:
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=_SECONDS):
            pass
    except urllib.error.HTTPError as error:
        error.close()
        raise AuditError(f"`{host}` did not take the head: {error.code} {error.reason}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise AuditError(f"cannot send the head to `{host}`: {reason}") from error
