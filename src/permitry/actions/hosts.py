"""The address a URL leads to, parsed as browsers do.

Parsers of URLs disagree, so two things are kept apart: the address that a browser would connect to, and whether the
text is so plain that every other parser finds the same address. A permission needs both; for a restriction, the
address is enough.
"""

import ipaddress
import re

from permitry.core.action import DEFAULT_PORTS, Connect

__all__ = ["other_readings", "read_bare_url", "read_host", "read_url"]

_LONGEST_URL = 8 * 1024
_LONGEST_HOST = 1024
_MOST_PARTS = 64
_HIGHEST_PORT = 65_535
_BROWSER_SCHEMES = frozenset({"file", "ftp", "http", "https", "ws", "wss"})

_UNSAFE = re.compile(r"[\x00-\x20\x7f-\x9f\s\\]")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//([^/?#]*)", re.IGNORECASE)
# A host may follow several schemes (`jar:https://`), or one that browsers know without slashes. `file:///` has no host.
_BEFORE_HOST = re.compile(r"(?!file:///)(?:(?:[a-z][a-z0-9+.-]*+:)*//+|(?:https?|wss?|ftp):/?)", re.IGNORECASE)
# Text that begins with a scheme. A colon after a name with a dot, or before a port, does not end a scheme:
# `example.com:a`, `localhost:8080`.
_NO_HOST = re.compile(r"[a-z][a-z0-9+-]*:(?![0-9]{1,5}(?:[/?#]|$))", re.IGNORECASE)
_HOST_AND_PORT = re.compile(r"^(\[[^\]]*\](?=:|$)|[^:]*)(?::([0-9]{1,5})$)?")
_OCTAL = re.compile(r"(?:^|\.)0[0-9]")
_NOT_IN_A_NAME = re.compile(r"[\x00-\x20\x7f-\x9f\s\\/?#@:\[\]]")
_BRACKETED = re.compile(r"\[[0-9a-f:.]+\]", re.IGNORECASE)

# `www.example.com/a`: a name with a dot, in letters that every client reads alike.
_BARE = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]+(?::[0-9]{1,5})?(?:[/?#]|$)", re.IGNORECASE)

# Browsers remove the first anywhere in the text, the second at both ends.
_DROPPED = str.maketrans("", "", "\t\n\r")
_TRIMMED = "".join(map(chr, range(0x21)))
# Parsers by an older standard (IDNA 2003) replace or drop these letters, and browsers keep them.
_DEVIATIONS = str.maketrans({"\u00df": "ss", "\u03c2": "\u03c3", "\u200c": None, "\u200d": None})


def read_url(text: str, origin: str = "", *, base: str | None = None) -> Connect:
    """Return the connection that opening the URL `text` makes; a relative URL is resolved against `base`, if given.

    It is certain only if every parser finds this address. If a browser finds none, the host is what another client may
    guess, for example by adding `https://`; it is None if nothing looks like a host.
    """
    found = _browse(text, base) or _guess(text)
    has_sure_base = base is None or read_url(base).is_certain
    is_certain = found.is_certain and has_sure_base and _is_plain(text, base, found.host)
    return Connect(text, found.scheme, found.host, found.port, is_certain=is_certain, origin=origin)


def read_bare_url(text: str, origin: str = "") -> Connect | None:
    """Return the connection by https to a plain address that is written without its scheme; None for other texts."""
    if not _BARE.match(text):
        return None
    found = read_url(f"https://{text}")
    if found.is_certain:
        return Connect(text, found.scheme, found.host, found.port, origin=origin)
    return None


def other_readings(text: str, origin: str = "") -> tuple[Connect, ...]:
    r"""Return the connections that parsers other than those of browsers may make instead; none of them is certain.

    They differ after a backslash or a second `@` (`https://a.example\@b.example`), and on a few letters (`ß` or `ss`).
    """
    authority = _authority(text)
    parts = [authority.partition("\\")[0].rpartition("@")[2], *authority.split("@")[1:][-_MOST_PARTS:]]
    hosts = [read_url(text.translate(_DEVIATIONS)).host, *(_host_and_port(part)[0] for part in parts)]
    known = {None, read_url(text).host}
    return tuple(
        Connect(text, host=host, is_certain=False, origin=origin) for host in dict.fromkeys(hosts) if host not in known
    )


def read_host(text: str) -> str | None:
    """Return a bare host, as a rule names it, in the form that `read_url` gives; None if it is not a host."""
    return None if "%" in text else _decode_host(text)


def _browse(text: str, base: str | None = None) -> Connect | None:
    """Return the connection of a browser, None if it makes none; certain if other parsers read the same host."""
    from ada_url import URL  # noqa: PLC0415 -- loaded on first use: most calls name no address

    if _is_long(text) or _is_long(base or ""):
        return None
    try:
        url = URL(text, base)
    except ValueError:
        return None
    scheme, name = url.protocol[:-1], url.hostname
    host = _canonical(name) if scheme in _BROWSER_SCHEMES else _decode_host(name)
    if host is None:
        return None
    # Not the same host for all: one with a trailing dot, an IPv4 address within an IPv6 address, or an empty label.
    is_certain = host == name and ".." not in f".{host}"
    return Connect(text, scheme, host, int(url.port) if url.port else DEFAULT_PORTS.get(scheme), is_certain)


def _decode_host(text: str) -> str | None:
    """Return the normalised host of a bare name, percent signs decoded; None if it is not a host."""
    if not text or len(text) > _LONGEST_HOST or (_NOT_IN_A_NAME.search(text) and not _BRACKETED.fullmatch(text)):
        return None
    found = _browse(f"https://{text}/")
    return None if found is None else found.host


def _canonical(name: str) -> str | None:
    """Return the host of a name in its one canonical form; None if the name is only dots."""
    if name.startswith("["):
        mapped = ipaddress.IPv6Address(name[1:-1]).ipv4_mapped
        return name if mapped is None else str(mapped)
    if name.strip("."):
        return name.removesuffix(".")
    return None


def _is_plain(text: str, base: str | None, host: str | None) -> bool:
    """Return whether the text is written so plainly that no parser misreads it."""
    if _UNSAFE.search(text):
        return False
    authority = _AUTHORITY.match(text)
    if authority is None:
        return base is not None and not _SCHEME.match(text)
    # Only browsers look for a host after a third slash, and not every parser reads `010` as eight.
    is_octal = host is not None and host.replace(".", "").isdigit() and _OCTAL.search(authority[1]) is not None
    return authority[1] != "" and "@" not in authority[1] and not is_octal


def _guess(text: str) -> Connect:
    """Return the connection that another client may make where a browser makes none."""
    for spelling in (text, text.replace("\\", "/")):
        host, port = _host_and_port(_authority(spelling).rpartition("@")[2])
        if host is not None:
            return Connect(text, None, host, port, is_certain=False)
    return Connect(text, is_certain=False)


def _authority(text: str) -> str:
    """Return the part of a URL with user, host and port, as read by a parser that splits at no backslash."""
    text = text.translate(_DROPPED).strip(_TRIMMED)
    before = _BEFORE_HOST.match(text)
    authority = re.split("[/?#]", text[before.end() :] if before else text, maxsplit=1)[0]
    # In front of an `@`, what looks like a scheme may be a user: `user:word@example.com`.
    if before is None and "@" not in authority and _NO_HOST.match(text):
        return ""
    return authority


def _host_and_port(text: str) -> tuple[str | None, int | None]:
    host, port = _HOST_AND_PORT.findall(text)[0]
    return _decode_host(host), int(port) if port and int(port) <= _HIGHEST_PORT else None


def _is_long(text: str) -> bool:
    return len(text) > _LONGEST_URL or len(text.encode(errors="replace")) > _LONGEST_URL
