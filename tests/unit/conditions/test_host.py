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


@for_each(
    ("text", "message"),
    [
        ("", "empty or has a blank"),
        (" ", "empty or has a blank"),
        ("example.com ", "empty or has a blank"),
        ("exam\tple.com", "empty or has a blank"),
        ("example.com/", "path or query"),
        ("10.0.0.0/8", "is a network, and a pattern is for one host; write `private`"),
        ("[fd00::]/8", "is a network"),
        ("fd00::/8", "is a network"),
        ("http://10.0.0.0/a", "path or query"),
        ("https://example.com/a", "path or query"),
        ("example.com?a", "path or query"),
        ("example.com#a", "path or query"),
        ("example.com\\a", "path or query"),
        ("https://example.com://a", "no valid scheme"),
        ("user@example.com", "user information"),
        ("https://user:word@example.com", "user information"),
        ("HTTPS://example.com", "has capitals; write `https://`"),
        ("*://example.com", "no valid scheme"),
        ("://example.com", "no valid scheme"),
        ("1a://example.com", "no valid scheme"),
        ("example.com:", "not a number from 1 to 65535"),
        ("example.com:0", "not a number from 1 to 65535"),
        ("example.com:080", "not a number from 1 to 65535"),
        ("example.com:65536", "not a number from 1 to 65535"),
        ("example.com:*", "not a number from 1 to 65535"),
        ("example.com:\u0661", "not a number from 1 to 65535"),
        ("*example.com", "`*` within a name"),
        ("www.*.example", "`*` within a name"),
        ("*.*.example", "`*` within a name"),
        ("example.*", "`*` within a name"),
        ("https://", "names no host"),
        ("*.", "names no host"),
        (".", "names no host"),
        ("::1", "names no host"),
        ("[::1", "names no host"),
        ("a%62.example", "names no host"),
        ("1.2.3.4.5", "names no host"),
        ("*.0.0.1", "`*` before an address"),
        ("*.[::1]", "`*` before an address"),
    ],
)
def test_a_bad_pattern_says_what_to_write(text: str, message: str) -> None:
    """What is not a pattern is refused, with the reason."""
    with pytest.raises(RuleError) as caught:
        HostPattern.parse(text, read_host)
    assert message in str(caught.value)
    assert f"`{text}`" in str(caught.value)


# Permissions ---------------------------------------------------------------------------------------------------------


@for_each(
    ("pattern", "url"),
    [
        ("example.com", "https://EXAMPLE.com:443/a"),
        ("example.com:443", "https://example.com/"),
        ("example.com:8443", "https://example.com:8443/"),
        ("http://example.com", "http://example.com:80/"),
        ("http://example.com:443", "http://example.com:443/"),
        ("odd://example.com", "odd://example.com/"),
        ("*.example.com", "https://a.example.com/"),
        ("*.example.com", "https://a.b.example.com/"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("xn--bcher-kva.example", "https://BÜCHER.example/"),
        ("*", "https://example.com/"),
        ("127.0.0.1", "https://2130706433/"),
        ("private", "https://10.0.0.1/"),
    ],
)
def test_a_permission_covers_what_it_names(pattern: str, url: str) -> None:
    """Scheme, host and port must be the same; a scheme left out is https, a port its scheme's."""
    assert holds(pattern, url)


@for_each(
    ("pattern", "url"),
    [
        ("example.com", "http://example.com/"),
        ("example.com", "wss://example.com/"),
        ("example.com", "https://example.com:8443/"),
        ("example.com:8443", "https://example.com/"),
        ("http://example.com", "https://example.com/"),
        ("http://example.com", "http://example.com:443/"),
        ("example.com", "https://www.example.com/"),
        ("example.com", "https://example.com.other.example/"),
        ("example.com", "https://notexample.com/"),
        ("*.example.com", "https://example.com/"),
        ("*.example.com", "https://.example.com/"),
        ("*.example.com", "https://notexample.com/"),
        ("*.example.com", "https://a.example.com.other.example/"),
        ("*.example.com", "https://10.0.0.1/"),
        ("example.com", "https://example.com./"),
        ("example.com", "https://user@example.com/"),
        ("example.com", "https:example.com"),
        ("example.com", "example.com"),
        ("*", "https://user@example.com/"),
        ("*", "https://"),
        ("*", "http://example.com/"),
        ("private", "https://example.com/"),
        ("private", "https://010.0.0.1/"),
    ],
)
def test_a_permission_covers_nothing_else(pattern: str, url: str) -> None:
    """Another scheme, host or port, and any doubt, is not covered."""
    assert not holds(pattern, url)


# Restrictions --------------------------------------------------------------------------------------------------------


@for_each(
    ("pattern", "url"),
    [
        ("example.com", "ftp://example.com/"),
        ("example.com", "https://example.com:8443/"),
        ("example.com", "https://user@EXAMPLE.com./"),
        ("example.com", "example.com"),
        ("https://example.com", "example.com"),
        ("example.com:443", "example.com"),
        ("example.com:443", "wss://example.com/"),
        ("https://example.com", "https://example.com:1/"),
        ("*.example.com", "ssh://git@a.example.com./"),
        ("127.0.0.1", "http://0177.1/"),
        ("127.0.0.1", "http://[::ffff:127.0.0.1]/"),
        ("[::ffff:127.0.0.1]", "http://127.1/"),
        ("[::1]", "http://[0:0::1]:8080/"),
        ("*", "example.com"),
    ],
)
def test_a_restriction_binds_in_every_spelling(pattern: str, url: str) -> None:
    """What a pattern or a text leaves open may be anything, and doubt does not help."""
    assert may_hold(pattern, url)


@for_each(
    ("pattern", "url"),
    [
        ("example.com", "https://example.com.other.example/"),
        ("example.com", "https://notexample.com/"),
        ("example.com", "https://example.com@other.example/"),
        ("example.com", "https://other.example/?example.com"),
        ("http://example.com", "https://example.com/"),
        ("example.com:443", "http://example.com/"),
        ("*.example.com", "https://example.com/"),
        ("*.example.com", "https://notexample.com/"),
        ("127.0.0.1", "http://127.0.0.2/"),
        ("127.0.0.1", "http://127.0.0.1.example/"),
        ("[::1]", "http://127.0.0.1/"),
    ],
)
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


@for_each(
    "host",
    [
        *("127.0.0.1", "127.255.255.254", "0", "0.1.2.3", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "100.100.100.200", "100.127.255.255", "192.0.0.192", "168.63.129.16"),
        *("2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "[::ffff:169.254.169.254]", "[::]", "[::1]", "[fe80::1]"),
        *("[fd00:ec2::254]", "[fc00::1]", "[fec0::1]", "[64:ff9b::a00:1]", "[::10.0.0.1]", "[2002:a00:1::]"),
        *("localhost", "LOCALHOST.", "a.localhost", "localhost.localdomain", "metadata.google.internal", "metadata"),
        *("metadata.goog", "instance-data", "printer.local", "router.home.arpa", "ip6-localhost", "a.internal"),
    ],
)
def test_private_binds_the_machine_and_its_network(host: str) -> None:
    """Loopback, local networks, metadata services, and the names that stand for them."""
    assert may_hold("private", f"http://{host}/")


@for_each(
    "host",
    [
        *(
            "example.com",
            "8.8.8.8",
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "100.63.0.1",
        ),
        *(
            "100.128.0.0",
            "169.253.0.1",
            "192.167.0.1",
            "192.0.1.1",
            "168.63.129.17",
            "[2606:4700::1]",
            "[64:ff9b::808:808]",
        ),
        *(
            "[2002:808:808::]",
            "[::ffff:8.8.8.8]",
            "[fbff::1]",
            "localhost.example",
            "notlocalhost",
            "internal",
            "local",
        ),
        *("10.0.0.1.example", "metadata.example", "evilinternal"),
    ],
)
def test_private_leaves_the_rest_alone(host: str) -> None:
    """Public addresses and ordinary names are not private."""
    assert not may_hold("private", f"http://{host}/")
