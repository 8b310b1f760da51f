"""Host patterns: what they say, which connections they cover, and which they bind."""

import pytest
from tests.tables import for_each

from permitry.actions.hosts import read_host, read_url
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match
from permitry.core.action import Connect
from permitry.errors import RuleError


def holds(pattern: str, url: str) -> bool:
    """Return whether a permission with this pattern covers the URL."""
    return HostPattern.parse(pattern, read_host).match_address(read_url(url)) is Match.YES


def may_hold(pattern: str, url: str) -> bool:
    """Return whether a restriction with this pattern binds the URL."""
    return HostPattern.parse(pattern, read_host).match_address(read_url(url)) is not Match.NO


# Reading a pattern ---------------------------------------------------------------------------------------------------


@for_each(
    ("text", "scheme", "host", "port"),
    [
        ("example.com", None, "example.com", None),
        ("https://Example.com:8443", "https", "example.com", 8443),
        ("*.bücher.example", None, "*.xn--bcher-kva.example", None),
        ("*", None, "*", None),
        ("git+ssh://*:22", "git+ssh", "*", 22),
        ("http://private:8080", "http", "private", 8080),
        ("[0::1]", None, "[::1]", None),
        ("[::1]:80", None, "[::1]", 80),
        ("0x7f.1", None, "127.0.0.1", None),
    ],
)
def test_a_pattern_has_three_parts(text: str, scheme: str | None, host: str, port: int | None) -> None:
    """A pattern keeps its text, and has a normalised host."""
    assert HostPattern.parse(text, read_host) == HostPattern(text, scheme, host, port)


@for_each(("text", "message"))
def test_a_bad_pattern_says_what_to_write(text: str, message: str) -> None:
    """What is not a pattern is refused, with the reason."""
    with pytest.raises(RuleError) as caught:
        HostPattern.parse(text, read_host)
    assert message in str(caught.value)
    assert f"`{text}`" in str(caught.value)


# Permissions ---------------------------------------------------------------------------------------------------------


@for_each(("pattern", "url"))
def test_a_permission_covers_what_it_names(pattern: str, url: str) -> None:
    """Scheme, host and port must be the same; a scheme left out is https, a port its scheme's."""
    assert holds(pattern, url)


@for_each(("pattern", "url"))
def test_a_permission_covers_nothing_else(pattern: str, url: str) -> None:
    """Another scheme, host or port, and any doubt, is not covered."""
    assert not holds(pattern, url)


# Restrictions --------------------------------------------------------------------------------------------------------


@for_each(("pattern", "url"))
def test_a_restriction_binds_in_every_spelling(pattern: str, url: str) -> None:
    """What a pattern or a text leaves open may be anything, and doubt does not help."""
    assert may_hold(pattern, url)


@for_each(("pattern", "url"))
def test_a_restriction_binds_nothing_else(pattern: str, url: str) -> None:
    """Another host, and a scheme or port that both sides name differently, is not bound."""
    assert not may_hold(pattern, url)


@for_each("pattern", ["*", "private", "example.com", "*.example.com"])
def test_no_pattern_speaks_about_a_missing_host(pattern: str) -> None:
    """What names no host is left to the one who asks."""
    parsed = HostPattern.parse(pattern, read_host)
    assert parsed.match_address(Connect("", is_certain=False)) is Match.NO
    assert parsed.match_address(Connect("", "https", None, 443)) is not Match.YES


# The class `private` -------------------------------------------------------------------------------------------------


@for_each("host")
def test_private_binds_the_machine_and_its_network(host: str) -> None:
    """Loopback, local networks, metadata services, and the names that stand for them."""
    assert may_hold("private", f"http://{host}/")


@for_each("host")
def test_private_leaves_the_rest_alone(host: str) -> None:
    """Public addresses and ordinary names are not private."""
    assert not may_hold("private", f"http://{host}/")
