"""From a host to the addresses a connection may go to."""

import ipaddress
import queue
import socket
import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

from permitry.port import Connect, ToolError, is_private

__all__ = ["Resolve", "find_addresses", "is_public", "resolve"]

Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
"""Tells the addresses of a host name, best first; raises `OSError` when there are none."""

_HANDED_OUT = ipaddress.IPv6Network("2000::/3")
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


def resolve(host: str, port: int) -> tuple[str, ...]:
    """Return the addresses of a host name as the system knows them, best first.

    Raises: `OSError` when there are none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]).partition("%")[0] for *_, address in found))


def find_addresses(connect: Connect, resolver: Resolve, *, allow_private: bool, seconds: float) -> tuple[str, ...]:
    """Return every address that `connect` may go to, each one checked, best first.

    One private address among several makes the whole name private: no server has both for an honest reason.

    Raises: `ToolError` when the host is private, has no address, or cannot be resolved within `seconds`.
    """
    host = connect.host or ""
    if not allow_private and is_private(host):
        raise _refusal(host)
    literal = _literal(host)
    addresses = (literal,) if literal is not None else _resolve(connect, resolver, seconds)
    # What a resolver gives is text from outside as well.
    if not addresses or any(_literal(address) is None for address in addresses):
        raise ToolError(f"the host `{host}` has no address")
    if not allow_private and not all(map(is_public, addresses)):
        raise _refusal(host)
    return addresses


def is_public(address: str) -> bool:
    """Return whether an address lies in the public internet, also when it is written within another address."""
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or _translate(found)
        if inner is not None:
            return is_public(str(inner))
        # All else that carries an IPv4 address, such as `::ffff:0:127.0.0.1`, lies outside of what is handed out.
        if found not in _HANDED_OUT:
            return False
    return found.is_global and not found.is_multicast and not is_private(str(found))


def _translate(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF) if address in _TRANSLATED else None


def _refusal(host: str) -> ToolError:
    return ToolError(f"the host `{host}` is a private address of this machine or its network, which is not allowed")


def _literal(host: str) -> str | None:
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return None


def _resolve(connect: Connect, resolver: Resolve, seconds: float) -> tuple[str, ...]:
    """Return what `resolver` says within `seconds`; the system's own resolver knows no time limit."""
    host, port = connect.host or "", connect.port or 0
    answers: queue.SimpleQueue[Sequence[str] | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(resolver(host, port))
        except Exception as error:  # noqa: BLE001 -- the caller that waits must get it, whatever it is
            answers.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=max(seconds, 0.001))
    except queue.Empty:
        raise ToolError(f"the host `{host}` was not found in time") from None
    if isinstance(answer, Exception):
        raise ToolError(f"the host `{host}` was not found") from answer
    return tuple(answer)
