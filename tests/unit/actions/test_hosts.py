"""Addresses: what a browser connects to, and which texts every reader takes alike."""

from tests.tables import for_each

from permitry.actions.hosts import other_readings, read_host, read_url
from permitry.core.action import Connect


def test_a_plain_url_is_certain() -> None:
    """Scheme, host and the scheme's port are reported, and where the text came from."""
    url = "https://example.com/a?b#c"
    assert read_url(url, "url") == Connect(url, "https", "example.com", 443, is_certain=True, origin="url")


@for_each(
    ("text", "scheme", "port"),
    [
        ("https://example.com", "https", 443),
        ("https://example.com:", "https", 443),
        ("https://example.com:0443/", "https", 443),
        ("https://example.com:8443/", "https", 8443),
        ("https://example.com:0/", "https", 0),
        ("HTTP://example.com/", "http", 80),
        ("http://example.com:443/", "http", 443),
        ("wss://example.com/", "wss", 443),
        ("ftp://example.com/", "ftp", 21),
        ("ssh://example.com/", "ssh", 22),
        ("odd://example.com/", "odd", None),
    ],
)
def test_the_port_is_the_one_of_the_text_or_of_the_scheme(text: str, scheme: str, port: int | None) -> None:
    """A port is a number however it is written; a scheme no one knows has none."""
    found = read_url(text)
    assert (found.scheme, found.port, found.is_certain) == (scheme, port, True)


@for_each(("text", "host"))
def test_a_name_has_one_form(text: str, host: str) -> None:
    """Case, script and encoding do not make another host; what is behind the host is not a host."""
    found = read_url(text)
    assert (found.host, found.is_certain) == (host, True)


@for_each(
    "spelling",
    ["127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7F.0.0.1", "127.0.0.1.", "%31%32%37.0.0.1"],
)
def test_an_ipv4_address_has_one_form(spelling: str) -> None:
    """Decimal, hexadecimal and short spellings of an address are that address."""
    found = read_url(f"http://{spelling}/")
    assert (found.host, found.is_certain) == ("127.0.0.1", True)


@for_each("spelling", ["0177.0.0.1", "0177.1", "017700000001", "0x7f.00.0.1", "127.0.0.01"])
def test_octal_numbers_are_not_certain(spelling: str) -> None:
    """A browser reads eights where other readers read tens."""
    found = read_url(f"http://{spelling}/")
    assert (found.host, found.is_certain) == ("127.0.0.1", False)


@for_each("spelling", ["[::1]", "[0:0:0:0:0:0:0:1]", "[0::0001]", "[::0.0.0.1]"])
def test_an_ipv6_address_has_one_form(spelling: str) -> None:
    """An address is compressed and keeps its brackets."""
    found = read_url(f"http://{spelling}/")
    assert (found.host, found.is_certain) == ("[::1]", True)


@for_each("spelling", ["[::ffff:127.0.0.1]", "[::FFFF:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]"])
def test_a_mapped_address_is_the_one_inside(spelling: str) -> None:
    """An IPv4 address within an IPv6 address connects to the former, and is not certain."""
    found = read_url(f"http://{spelling}/")
    assert (found.host, found.is_certain) == ("127.0.0.1", False)


@for_each(
    "text",
    [
        *("https://exam\tple.com/", "https://example.com/\n", "\x01https://example.com/", "https://example.com/\x7f"),
        *(
            " https://example.com/",
            "https://example.com/a b",
            "https://example.com/\u00a0",
            "https://example.com/\u3000",
        ),
        *("https:\\\\example.com\\", "https://example.com\\@other.example/", "https://example.com/a\\b"),
        *("https://user@example.com/", "https://user:word@example.com/", "https://@example.com/"),
        *("https://:@example.com/", "https://other.example@example.com/", "https://a@b@example.com/"),
        *("https:example.com", "https:/example.com/", "//example.com/", "example.com", "example.com/a"),
        *("https:///example.com/", "http:////example.com", "HTTPS:///example.com:443/", "ws:///example.com"),
        *("https:///user@example.com/", "https:/\\example.com/", "https:\\/example.com", "https:\\\\\\example.com/"),
        *(
            "///example.com/",
            "ssh:///example.com/",
            "https:///\texample.com/",
            "ht\ntps://example.com/",
            "https:/\t/example.com",
        ),
        *(
            "example.com:443",
            "user@example.com:a",
            "user:word@example.com",
            "mailto:a@example.com",
            "https://example.com./",
            "https://example.com%2e/",
        ),
        *("https://example.com:99999/", "https://example.com:+443/", "https://example.com:a/"),
        *(
            "https:example.com:99999",
            " https://example.com:99999",
            "https://%65xample.com:99999",
            "https://exam\tple.com:99999",
        ),
        *("jar:https://example.com/a!/", "view-source:https://example.com/", "blob:https://example.com/1"),
        *("\\\\example.com\\a", "https://example.com/" + "a" * 8192, "https://example.com/" + "é" * 4096),
    ],
)
def test_a_doubtful_text_still_tells_its_host(text: str) -> None:
    """What not every reader takes alike is not certain; a restriction still learns of the host."""
    found = read_url(text)
    assert (found.host, found.is_certain) == ("example.com", False)


@for_each(
    "text",
    [
        *("", " ", "/", "//", "/a/b", "?a", "#a", ".", "..", "../a", "a b", "https://", "https:///", "https://?a"),
        *("https://#a", "https://./", "https://:80/", "https://user@/", "mailto:a", "javascript:alert(1)"),
        *("data:text/plain,a", "about:blank", "file:///etc/hosts", "C:\\a", "tel:5550123456", "https://a%00b.example"),
        *("https://a b.example/", "https://a%b.example/", "https://a.example%23.example/", "https://a\uff20.example/"),
        *("http://1.127.0.0.1/", "http://256.0.0.1/", "http://4294967296/", "http://127.0.0.08/", "http://::1/"),
        *("http://[::1/", "http://[::1]a/", "http://[127.0.0.1]/", "http://[::1%25lo]/", "https://\ud800.example/"),
    ],
)
def test_a_text_without_a_host_tells_none(text: str) -> None:
    """Nothing is guessed where neither a browser nor a careless client would connect."""
    found = read_url(text)
    assert (found.host, found.is_certain) == (None, False)


@for_each("host", ["a..example", ".a.example"])
def test_an_empty_label_is_not_certain(host: str) -> None:
    """No name has an empty label, whatever a browser lets pass."""
    found = read_url(f"https://{host}/")
    assert (found.host, found.is_certain) == (host, False)


def test_a_guess_has_no_scheme_and_the_port_that_is_written() -> None:
    """What a client adds is not known."""
    found = read_url("localhost:8080/a")
    assert (found.scheme, found.host, found.port) == (None, "localhost", 8080)


def test_a_port_that_cannot_be_is_not_told() -> None:
    """Then a restriction on any port binds."""
    assert read_url("https://example.com:99999/").port is None


def test_addresses_of_unknown_schemes_have_one_form_too() -> None:
    """A browser leaves such a host as it is written; a client does not."""
    assert read_url("ssh://0x7f.1/").host == "127.0.0.1"
    assert read_url("ssh://bücher.example/").host == "xn--bcher-kva.example"
    assert read_url("git://EXAMPLE.com/").host == "example.com"
    assert not read_url("git://EXAMPLE.com/").is_certain


# Redirects -----------------------------------------------------------------------------------------------------------

BASE = "https://example.com/a/b"


@for_each("text", ["", "/c", "c", "../c", "./c", "?c", "#c", ".//other.example", BASE, "//example.com/"])
def test_a_relative_text_stays_on_the_host(text: str) -> None:
    """A path, query or fragment is followed on the host it was met on."""
    found = read_url(text, base=BASE)
    assert (found.text, found.scheme, found.host, found.port) == (text, "https", "example.com", 443)
    assert found.is_certain


@for_each("text", ["//other.example/", "https://other.example/", "//OTHER.example"])
def test_a_text_with_a_host_leaves_the_base(text: str) -> None:
    """Two slashes begin another host."""
    found = read_url(text, base=BASE)
    assert (found.host, found.is_certain) == ("other.example", True)


@for_each("text", ["///other.example/", "/\\other.example", "\\\\other.example", "/\t/other.example"])
def test_only_a_browser_leaves_the_base_here(text: str) -> None:
    """More slashes, backslashes and hidden characters lead elsewhere, and not every reader there."""
    found = read_url(text, base=BASE)
    assert (found.host, found.is_certain) == ("other.example", False)


@for_each("text", ["https:c", "https:/c", " /c", "/c\\d", "//user@example.com/c"])
def test_a_doubtful_relative_text_is_not_certain(text: str) -> None:
    """A relative text must be as plain as a whole one."""
    found = read_url(text, base=BASE)
    assert (found.host, found.is_certain) == ("example.com", False)


@for_each("base", ["https://user@example.com/", "https:example.com", "https://example.com./"])
def test_nothing_is_certain_on_a_doubtful_base(base: str) -> None:
    """A path is no better than what it is relative to."""
    assert not read_url("/c", base=base).is_certain


def test_a_base_that_is_too_long_is_not_read() -> None:
    """The limit holds for both texts."""
    assert read_url("/c", base=BASE + "a" * 8192).host is None


# Other readers -------------------------------------------------------------------------------------------------------


@for_each(
    ("text", "hosts"),
    [
        ("https://a.example\\@b.example/", ["b.example"]),
        ("https://a.example@b.example:80@c.example/", ["b.example"]),
        ("https://pa\u00df.example/", ["pass.example"]),
        ("https://a\u200db.example/", ["ab.example"]),
        ("https://a.example\\@b.example/" + "c" * 8192, ["a.example"]),
        ("https://a.example/@b.example", []),
        ("https://a.example@b.example/", []),
        ("https://a.example#@b.example", []),
        ("", []),
    ],
)
def test_other_readers_may_connect_elsewhere(text: str, hosts: list[str]) -> None:
    """Every host is shown on which readers do not agree."""
    found = other_readings(text, "url")
    assert [connect.host for connect in found] == hosts
    assert all(not connect.is_certain and connect.origin == "url" for connect in found)


# Hosts in rules ------------------------------------------------------------------------------------------------------


@for_each(("text", "host"))
def test_a_host_in_a_rule_has_the_same_form(text: str, host: str) -> None:
    """A rule and a call are compared in one form."""
    assert read_host(text) == host


@for_each(
    "text",
    [
        *("", ".", "..", "a b", "a\tb", "a/b", "a?b", "a#b", "a\\b", "a@b", "a:1", "a%62", "::1", "[", "[]"),
        *("[::1", "::1]", "[::1]a", "[a]", "[::1%lo]", "1.2.3.4.5", "a" * 1025, "\ud800", "a\uff20b"),
    ],
)
def test_what_is_more_than_a_host_is_none(text: str) -> None:
    """Ports, paths, users and blanks do not belong to a host."""
    assert read_host(text) is None
