"""Hosts: what a permission covers a restriction binds, and no text escapes or stalls the reader."""

import time

import attrs
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.actions.hosts import other_readings, read_host, read_url
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match

_labels = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
_names = st.lists(_labels, min_size=1, max_size=3).map(lambda labels: ".".join([*labels, "example"]))
_hosts = st.one_of(_names, st.sampled_from(("127.0.0.1", "2130706433", "0177.1", "[::1]", "localhost", "a..b", "")))
_doubtful = (
    "https:///", "http:////", "HTTPS:///", "ws:///", "ssh:///", "///", "//", "https:/", "http:", "https:\\\\",
    "http:/\\", "https:\\/", "https:///\\", "\\\\", "ht\ttps://", "https:/\n/", " https://", "https://\t",
    "https:///user@", "https://a@b@",
)  # fmt: skip
_schemes = st.sampled_from(
    ("https://", "http://", "HTTPS://", "ssh://", "https:", "//", "view-source:https://", "", *_doubtful)
)
_users = st.sampled_from(("", "user@", "user:word@", "other.example@", "@", "a@b@"))
_ports = st.sampled_from(("", ":", ":443", ":8443", ":0443", ":99999"))
_tails = st.sampled_from(("", "/", "/a?b#c", "?a", "#a", "/other.example", "/@other.example", " ", "\n", "/\\"))
_patterns = st.one_of(_names, _names.map("*.{}".format), st.sampled_from(("*", "private", "127.0.0.1", "[::1]")))
_texts = st.one_of(st.text(), st.text(alphabet="a.:/@[]\\?#%\t 0x1*-ß"), st.text(st.characters()))


def _dotted(host: str, *, has_dot: bool) -> str:
    return f"{host}." if has_dot and not host.startswith("[") else host


_urls = st.builds(lambda *parts: "".join(parts), _schemes, _users, _hosts, _ports, _tails)


@given(st.sampled_from(("", "https://", "http://")), _patterns, st.sampled_from(("", ":443", ":8443")), _urls)
def test_what_a_permission_covers_a_restriction_binds(scheme: str, host: str, port: str, url: str) -> None:
    """And one address that is not certain, whatever else is known of it, is the same for a restriction alone."""
    pattern = HostPattern.parse(f"{scheme}{host}{port}", read_host)
    connect = read_url(url)
    doubtful = pattern.match_address(attrs.evolve(connect, is_certain=False))
    assert doubtful is min(pattern.match_address(connect), Match.ALIKE)


@given(_names, st.sampled_from(("https://{}", "https://{}:443/a", "https://{}?b")))
def test_a_plain_url_is_covered(name: str, form: str) -> None:
    """A permission covers its own host, so the law above is not empty."""
    assume(read_host(name) is not None)
    assert HostPattern.parse(name, read_host).match_address(read_url(form.format(name))) is Match.YES


@given(_texts, st.one_of(st.none(), _texts, _urls))
@example("https://\ud800/", None)
@example("\x00", "https://example.com/")
def test_any_text_can_be_read(text: str, base: str | None) -> None:
    """No text raises, and a certain one has a scheme and a host in its one form."""
    connect = read_url(text, "origin", base=base)
    assert (connect.text, connect.origin) == (text, "origin")
    assert all(not other.is_certain and other.host is not None for other in other_readings(text))
    if connect.is_certain:
        assert connect.scheme is not None
        assert connect.host is not None


@given(_texts)
def test_a_host_has_one_form(text: str) -> None:
    """Normalising a host again changes nothing."""
    host = read_host(text)
    assert host is None or ".." in f".{host}." or read_host(host) == host


@given(_names, st.data())
def test_no_spelling_escapes_a_restriction(name: str, data: st.DataObject) -> None:
    """Case, trailing dot, port, users and scheme do not hide a host."""
    assume(read_host(name) is not None)
    letters = data.draw(st.lists(st.booleans(), min_size=len(name), max_size=len(name)))
    mixed = "".join(letter.upper() if is_big else letter for letter, is_big in zip(name, letters, strict=True))
    spelling = _dotted(mixed, has_dot=data.draw(st.booleans()))
    before, after = data.draw(_schemes) + data.draw(_users), data.draw(_ports) + data.draw(_tails)
    assert HostPattern.parse(name, read_host).match_address(read_url(f"{before}{spelling}{after}")) is not Match.NO, (
        before + spelling + after
    )


@given(st.sampled_from(_doubtful), _names, _ports, _tails)
def test_what_readers_take_differently_is_never_certain(before: str, name: str, port: str, tail: str) -> None:
    """More or fewer slashes than two, other slashes, hidden characters, two users: no permission covers them."""
    assert not read_url(f"{before}{name}{port}{tail}").is_certain


@given(st.integers(0, 2**32 - 1), st.sampled_from(("{}", "{:#x}", "0{:o}", "[::ffff:{:x}:{:x}]")))
def test_no_spelling_of_an_address_escapes_a_restriction(number: int, form: str) -> None:
    """A number in any base, and within an IPv6 address, is the address."""
    dotted = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    parts = (number >> 16, number & 0xFFFF) if form.startswith("[") else (number,)
    match = HostPattern.parse(dotted, read_host).match_address(read_url(f"http://{form.format(*parts)}/"))
    assert match is not Match.NO


@for_each(
    "piece", ["a:", "@", "a@", "https://a.", "[", ":", "/", "\\", "é.", "ß", "%", "0.", "\t", "https://@", "https:a:a@"]
)
def test_reading_is_linear(piece: str) -> None:
    """Sixteen times the text is read in less than forty times the time."""
    small, large = (_least(piece * (size // len(piece))) for size in (16_384, 262_144))
    # The minimum leaves out what a busy machine adds.
    assert large < 40 * max(small, 0.003)


def _least(text: str) -> float:
    seconds = []
    for _ in range(3):
        before = time.process_time()
        read_url(text)
        other_readings(text)
        seconds.append(time.process_time() - before)
    return min(seconds)
