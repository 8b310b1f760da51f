"""From a host to the addresses a connection may go to."""

import socket
import threading
from collections.abc import Sequence

import pytest
from tests.tables import for_each

from permitry.actions.hosts import read_url
from permitry.errors import ToolError
from permitry_tools.web.addresses import find_addresses, is_public, resolve


def _found(url: str, *answers: str, allow_private: bool = False) -> tuple[str, ...]:
    return find_addresses(read_url(url), lambda _, __: answers, allow_private=allow_private, seconds=5)


@for_each("address")
def test_what_is_not_the_public_internet_is_private(address: str) -> None:
    """The machine, its network, its cloud, and the same written within an IPv6 address."""
    assert is_public(address) is False


@for_each("address", ["1.1.1.1", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_the_public_internet_is_public(address: str) -> None:
    """So the rule above does not refuse everything."""
    assert is_public(address) is True


@for_each("url")
def test_a_private_host_is_refused_before_anybody_is_asked(url: str) -> None:
    """Whatever the resolver would say, and however the address is spelled."""
    with pytest.raises(ToolError, match="private address"):
        _found(url, "1.1.1.1")


def test_a_name_that_resolves_to_a_private_address_is_refused() -> None:
    """Anybody can give a name in the DNS any address."""
    with pytest.raises(ToolError, match="private address"):
        _found("https://example.com/", "127.0.0.1")


def test_one_private_address_among_several_is_enough() -> None:
    """Otherwise the second attempt would go there."""
    with pytest.raises(ToolError, match="private address"):
        _found("https://example.com/", "1.1.1.1", "::ffff:10.0.0.1")


def test_public_addresses_are_given_in_their_order() -> None:
    """The resolver knows which is best."""
    assert _found("https://example.com/", "2606:4700::1111", "1.1.1.1") == ("2606:4700::1111", "1.1.1.1")


@for_each(("url", "address"), [("http://1.1.1.1/", "1.1.1.1"), ("http://[2606:4700::11]/", "2606:4700::11")])
def test_an_address_is_its_own(url: str, address: str) -> None:
    """No one is asked about it."""
    assert _found(url, "9.9.9.9") == (address,)


def test_private_addresses_may_be_allowed() -> None:
    """A company fetches from its own network."""
    assert _found("http://intranet.internal/", "10.0.0.7", allow_private=True) == ("10.0.0.7",)


@for_each("answers", [(), ("",), ("elsewhere.example",), ("1.1.1.1", "2.2.2.2:80")])
def test_what_is_no_address_is_not_connected_to(answers: tuple[str, ...]) -> None:
    """It would be resolved once more, unchecked."""
    with pytest.raises(ToolError, match="has no address"):
        _found("https://example.com/", *answers, allow_private=True)


@for_each("error", [socket.gaierror("no"), UnicodeError("label too long")])
def test_a_host_that_is_not_there_is_reported(error: Exception) -> None:
    """Whatever the resolver raises, the tool has not crashed."""

    def fails(_: str, __: int) -> Sequence[str]:
        raise error

    with pytest.raises(ToolError, match="was not found"):
        find_addresses(read_url("https://example.com/"), fails, allow_private=False, seconds=5)


def test_a_resolver_that_hangs_is_left_behind() -> None:
    """The system's resolver knows no time limit."""
    end = threading.Event()

    def hangs(_: str, __: int) -> Sequence[str]:
        end.wait(30)
        return ["1.1.1.1"]

    with pytest.raises(ToolError, match="not found in time"):
        find_addresses(read_url("https://example.com/"), hangs, allow_private=False, seconds=0.05)
    end.set()


def test_the_system_knows_this_machine() -> None:
    """The real resolver gives plain addresses, each once."""
    found = resolve("localhost", 80)
    assert set(found) <= {"127.0.0.1", "::1"}
    assert len(set(found)) == len(found) > 0
