"""Which spellings of a URI are served: one for each resource, so that a rule about it cannot be evaded by another."""

import re

__all__ = ["is_plain"]

_NEEDLESS = re.compile(r"%(?:2[DE]|3\d|[46][1-9A-F]|[57][\dA]|5F|7E)")
"""An unreserved character that is percent-encoded means what it means bare (RFC 3986, section 2.3)."""
_URI = re.compile(r"[a-z][a-z0-9+.-]*:(?:[!-$&-\[\]^-~]|%[0-9A-F]{2})*")
"""A scheme in lower case; ASCII that is visible, without the backslash that some take for a slash; `%2F`, not `%2f`."""
_ON_THE_WEB = re.compile(r"(?:https?|wss?|ftp):")
_HOST = r"(?:(?:[a-z\d_-]+\.)*[a-z_][a-z\d_-]*|(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})|\[[\da-f:]+\])"
_AUTHORITY = re.compile(rf"[a-z]+://{_HOST}(?::[1-9]\d{{0,4}})?(?![^/?#])")
"""A host in lower case, no user, no dot at its end, and an address of four numbers or in brackets."""
_USUAL_PORT = re.compile(r"(?:(?:http|ws)://[^/?#]*:80|(?:https|wss)://[^/?#]*:443|ftp://[^/?#]*:21)(?!\d)")
_SEPARATOR = re.compile(r"[/:?#]|%2F|%5C")


def is_plain(uri: str) -> bool:
    """Return whether this is the one spelling of a URI; whether two paths that differ in case are one is not known.

    Source: RFC 3986, section 6.2.2; for `file`, RFC 8089, appendix B, which gives one file several URIs; for the web,
    section 4.4 of the URL standard of the WHATWG.
    """
    if _URI.fullmatch(uri) is None or _NEEDLESS.search(uri):
        return False
    if uri.startswith("file:") and not uri.startswith("file:///"):
        return False
    if _ON_THE_WEB.match(uri) and (_AUTHORITY.match(uri) is None or _USUAL_PORT.match(uri)):
        return False
    path = re.split(r"[?#]", uri.partition(":")[2].removeprefix("//"))[0]
    return "//" not in path and not {".", ".."} & set(_SEPARATOR.split(uri))
