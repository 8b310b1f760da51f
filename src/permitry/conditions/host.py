"""The condition `host`: patterns for the addresses that a call connects to."""

import ipaddress
import re
from collections.abc import Callable

import attrs

from permitry.conditions._words import check_sign
from permitry.conditions.match import Match
from permitry.conditions.written import WrittenPattern
from permitry.core.action import DEFAULT_PORTS, Connect
from permitry.core.effects import Effect
from permitry.core.facts import Fact, Kind
from permitry.errors import RuleError

__all__ = ["HostPattern", "is_name", "is_private"]

PRIVATE = "private"
"""The word that matches every host of the machine, its network and its cloud's metadata."""

# The last one is a metadata service at a public address.
_NETWORKS = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16
    fc00::/7 fe80::/10 fec0::/10 168.63.129.16/32
"""
_PRIVATE_NETWORKS = tuple(map(ipaddress.ip_network, _NETWORKS.split()))
_PRIVATE_NAMES = frozenset({"instance-data", "ip6-localhost", "ip6-loopback", "localhost", "metadata", "metadata.goog"})
_PRIVATE_ENDINGS = (".home.arpa", ".internal", ".local", ".localdomain", ".localhost")

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_NETWORK = re.compile(r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[?[0-9a-f.]*+:[0-9a-f:.]*+\]?)/[0-9]{1,3}", re.IGNORECASE)
_HIGHEST_PORT = 65_535


@attrs.frozen
class HostPattern(WrittenPattern):
    """One word of a rule's `host`: `[scheme://]host[:port]`, as `text` has it.

    `host` is normalised like that of a `Connect`. It may begin with `*.` (at least one more label),
    be `*` (any host) or `private`. `listed` is the name of the list that it is from.
    """

    key = "host"
    description = "Addresses: `[scheme://]host[:port]`, `*.example.com`, `private`."

    text: str
    scheme: str | None
    host: str
    port: int | None
    listed: str | None = attrs.field(default=None, repr=False, eq=False)

    @classmethod
    def parse(cls, text: str, normalise: Callable[[str], str | None]) -> "HostPattern":
        """Return the pattern of a text; `normalise` makes a host canonical. Raises: `RuleError`."""
        check_sign(text, cls.key)
        if not text or text != "".join(text.split()):
            raise RuleError(f"the host pattern `{text}` is empty or has a blank in it; write `example.com`")
        scheme, colon_slashes, rest = text.rpartition("://")
        if _NETWORK.fullmatch(rest):
            hint = "write `private` for those that are not public, or list the addresses"
            raise RuleError(f"`{text}` is a network, and a pattern is for one host; {hint}")
        if set(rest) & set("/?#\\"):
            raise _wrong(text, "has a path or query; a host has none, so leave it out")
        host, colon, port = rest.rpartition(":")
        if not colon or rest.endswith("]"):
            host, colon, port = rest, "", ""
        return cls(
            text,
            scheme=_scheme(text, scheme) if colon_slashes else None,
            host=_host(text, host, normalise),
            port=_port(text, port) if colon else None,
        )

    @property
    def needs(self) -> frozenset[Fact]:
        """The fact that is present if a host can match: the host, or its ending."""
        ending = "" if self.host == PRIVATE else self.host.removeprefix("*")
        return frozenset((Fact(Kind.HOST, (), ending),))

    def match(self, effect: Effect, _least: Match = Match.OPEN, _enough: Match = Match.YES, /) -> Match:
        """Return how far a connection matches of which the host is known."""
        connect = effect.subject
        return self.match_address(connect) if isinstance(connect, Connect) else Match.NO

    def match_address(self, connect: Connect) -> Match:
        """Return how far the address of a connection matches.

        Without a scheme a pattern of a permission means https, and without a port the default one; of a
        restriction any. What the pattern names and the address leaves open only may match.
        """
        pairs = ((self.scheme, connect.scheme), (self.port, connect.port))
        named = [(ours, theirs) for ours, theirs in pairs if ours is not None]
        if not self._is_at(connect.host) or any(theirs not in (None, ours) for ours, theirs in named):
            return Match.NO
        if any(theirs is None for _, theirs in named):
            return Match.MAYBE
        scheme = self.scheme or "https"
        port = DEFAULT_PORTS.get(scheme) if self.port is None else self.port
        is_exact = connect.is_certain and (scheme, port) == (connect.scheme, connect.port)
        return Match.YES if is_exact else Match.ALIKE

    def _is_at(self, host: str | None) -> bool:
        if host is None:
            return False
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return self.host in {"*", host} or (self.host == PRIVATE and is_private(host))


def _wrong(text: str, why: str) -> RuleError:
    return RuleError(f"the host pattern `{text}` {why}")


def _scheme(text: str, scheme: str) -> str:
    if _SCHEME.fullmatch(scheme):
        return scheme
    if _SCHEME.fullmatch(scheme.lower()):
        raise RuleError(f"the scheme of the host pattern `{text}` has capitals; write `{scheme.lower()}://`")
    raise _wrong(text, "has no valid scheme before `://`; leave both out for https")


def _port(text: str, port: str) -> int:
    if not _PORT.fullmatch(port) or int(port) > _HIGHEST_PORT:
        why = "is not a number from 1 to 65535; leave it out, or write one"
        raise RuleError(f"the port of the host pattern `{text}` {why}")
    return int(port)


def _host(text: str, host: str, normalise: Callable[[str], str | None]) -> str:
    if "@" in text:
        raise _wrong(text, "has user information; write only what follows the `@`")
    if host == "*":
        return host
    rest = host.removeprefix("*.")
    if "*" in rest:
        raise _wrong(text, "has `*` within a name; write `*` alone, or `*.` before a whole name")
    name = normalise(rest)
    if name is None:
        raise _wrong(text, "names no host; write a name, an IPv4 address or an `[IPv6]` address")
    if rest != host and _address(name) is not None:
        raise _wrong(text, "has `*` before an address; write the address alone")
    return f"*.{name}" if rest != host else name


def is_private(host: str) -> bool:
    """Return whether a canonical host is of the machine, its network, or its cloud's metadata."""
    address = _address(host)
    if address is None:
        return host in _PRIVATE_NAMES or host.endswith(_PRIVATE_ENDINGS)
    inner = _inner(address)
    return any(inner in network for network in _PRIVATE_NETWORKS)


def is_name(host: str) -> bool:
    """Return whether the host of a pattern is one name: no address or wildcard, not `private`."""
    return host != PRIVATE and "*" not in host and _address(host) is None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def _inner(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return the IPv4 address that is embedded in an IPv6 address, as in `::1`, or the address."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _TRANSLATED or address in _COMPATIBLE:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.sixtofour or address
