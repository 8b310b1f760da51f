"""One request over HTTP: where it goes, how long it may take, how much it may bring."""

import contextlib
import datetime as dt
import gzip
import socket
import ssl
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.tables import for_each

from permitry.errors import ToolError
from permitry_tools.web.exchange import Answer, Exchanger, Request
from permitry_tools.web.settings import WebSettings

Site: TypeAlias = Any  # the one of the conftest

Serve = Callable[..., contextlib.AbstractContextManager[Any]]


def _exchanger(*answers: str, **settings: Any) -> Exchanger:  # noqa: ANN401 -- the settings' own
    return Exchanger(WebSettings(**{"allow_private": True, **settings}), lambda _, __: answers or ("127.0.0.1",))


def _sent(url: str, *answers: str, seconds: float = 10, **settings: Any) -> Answer:  # noqa: ANN401 -- the settings' own
    return _exchanger(*answers, **settings).send(Request(url), time.monotonic() + seconds)


def test_a_page_comes_back(site: Site) -> None:
    """Status, headers and body."""
    site.page("/a", "<p>hello</p>")
    answer = _sent(site.url("/a?b=c#d"))
    assert (answer.status, answer.body) == (200, b"<p>hello</p>")
    assert answer.headers["content-type"] == "text/html"
    assert site.seen[0].path == "/a?b=c"


def test_the_host_is_asked_for_at_the_address(site: Site) -> None:
    """A server of many hosts needs to know which is meant."""
    site.page("/", "a")
    _sent(site.url(host="name.example"))
    assert site.seen[0].headers["host"] == f"name.example:{site.port}"


def test_a_name_is_resolved_once_and_the_connection_goes_there(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that was public when it was checked, and private a moment later, leads nowhere private."""
    site.page("/", "public")
    answers = [["93.184.215.14"], ["127.0.0.1"]]
    asked: list[str] = []
    connected: list[str] = []
    connect = socket.create_connection

    def resolver(host: str, _: int) -> list[str]:
        asked.append(host)
        return answers[min(len(asked), 2) - 1]

    def connecting(address: tuple[str, int], *rest: Any, **more: Any) -> socket.socket:  # noqa: ANN401 -- passed on
        connected.append(address[0])
        return connect(("127.0.0.1", address[1]), *rest, **more)

    monkeypatch.setattr(socket, "create_connection", connecting)
    answer = Exchanger(WebSettings(), resolver).send(Request(site.url(host="rebind.example")), time.monotonic() + 10)
    assert answer.body == b"public"
    assert (asked, connected) == (["rebind.example"], ["93.184.215.14"])


def test_a_private_name_is_not_connected_to(site: Site) -> None:
    """The check comes first."""
    with pytest.raises(ToolError, match="private address"):
        _sent(site.url(host="name.example"), allow_private=False)
    assert site.seen == []


def test_a_request_of_the_host_program_may_be_private(site: Site) -> None:
    """Its own search service may stand on this machine."""
    request = Request(site.url("/missing"), may_be_private=True)
    assert _exchanger(allow_private=False).send(request, time.monotonic() + 10).status == 404


def test_the_next_address_is_tried(site: Site) -> None:
    """A host with several addresses is there when one of them is."""
    site.page("/", "a")
    assert _sent(site.url(host="name.example"), "127.0.0.9", "127.0.0.1").body == b"a"


def test_no_one_at_any_address_is_reported() -> None:
    """The error names the host."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(ToolError, match=r"no connection to `name\.example`"):
            _sent(f"http://name.example:{free.getsockname()[1]}/")


@for_each("url")
def test_only_plain_web_addresses_are_connected_to(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where readers may differ, or users stand in front, nothing is sent."""

    def connected(*_: object, **__: object) -> None:
        pytest.fail("something was connected to")

    monkeypatch.setattr(socket, "create_connection", connected)
    with pytest.raises(ToolError, match="not a plain http or https address"):
        _sent(url)


@pytest.mark.parametrize("form", ["http://2130706433:{}/", "http://0x7f000001:{}/", "http://127.1:{}/"])
def test_an_odd_spelling_of_an_address_is_read_in_one_way_or_not_at_all(site: Site, form: str) -> None:
    """What one reader takes for a number another takes for a name: nothing is sent."""
    site.page("/", "a")
    with contextlib.suppress(ToolError):
        _sent(form.format(site.port))
        assert site.seen[0].headers["host"] == f"127.0.0.1:{site.port}"


def test_addresses_of_the_new_protocol_work(serve: Serve) -> None:
    """In brackets, and with a port."""
    if not _has_ipv6():
        pytest.skip("needs IPv6 on this machine")
    with serve("::1") as site:
        site.page("/", "six")
        assert _sent(f"http://[::1]:{site.port}/").body == b"six"
        assert _sent(f"http://name.example:{site.port}/", "::1").body == b"six"
        assert [seen.headers["host"] for seen in site.seen] == [f"[::1]:{site.port}", f"name.example:{site.port}"]


def _has_ipv6() -> bool:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return True
    return False


def test_nothing_is_taken_from_the_environment(site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No proxy, and no password from a file."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login user password word", encoding="utf-8")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.9:1")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    site.page("/", "a")
    assert _sent(site.url()).body == b"a"
    assert "authorization" not in site.seen[0].headers


def test_no_cookie_is_kept(site: Site) -> None:
    """One request tells the next one nothing."""
    site.page("/", "a", **{"Set-Cookie": "a=b"})
    exchanger = _exchanger()
    for _ in range(2):
        exchanger.send(Request(site.url()), time.monotonic() + 10)
    assert all("cookie" not in seen.headers for seen in site.seen)


# How much ------------------------------------------------------------------------------------------------------------


def test_an_endless_body_is_cut(site: Site) -> None:
    """Reading stops at the limit."""
    site.drip("/", b"a" * 65_536, seconds=0, headers=b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    assert _sent(site.url(), max_bytes=100_000).body == b"a" * 100_000


@pytest.mark.parametrize(("pack", "name"), [(gzip.compress, "gzip"), (zlib.compress, "deflate")])
def test_a_packed_body_is_unpacked(site: Site, pack: Callable[[bytes], bytes], name: str) -> None:
    """As was asked for."""
    site.page("/", pack(b"hello" * 1000), **{"Content-Encoding": name})
    assert _sent(site.url()).body == b"hello" * 1000


def test_a_bomb_is_unpacked_only_to_the_limit(site: Site) -> None:
    """A hundred kilobytes may hold a hundred megabytes."""
    site.page("/", gzip.compress(bytes(100_000_000), 1), **{"Content-Encoding": "gzip"})
    assert _sent(site.url(), max_bytes=50_000).body == bytes(50_000)


def test_an_endless_packed_nothing_is_cut(site: Site) -> None:
    """What unpacks to nothing counts as it came."""
    empty = zlib.compressobj(wbits=31)
    begin = empty.compress(b"") + empty.flush(zlib.Z_SYNC_FLUSH)
    headers = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n" + begin
    site.drip("/", b"\x00\x00\x00\xff\xff" * 10_000, seconds=0, headers=headers)
    before = time.monotonic()
    assert _sent(site.url(), seconds=60, max_bytes=200_000).body == b""
    assert time.monotonic() - before < 10


@pytest.mark.parametrize("name", ["br", "zstd", "gzip, gzip", "other"])
def test_what_was_not_asked_for_is_refused(site: Site, name: str) -> None:
    """No one knows how large it gets."""
    site.page("/", b"x", **{"Content-Encoding": name})
    with pytest.raises(ToolError, match=f"packed as `{name}`"):
        _sent(site.url())


def test_a_damaged_body_is_reported(site: Site) -> None:
    """The tool has not crashed."""
    site.page("/", b"no gzip", **{"Content-Encoding": "gzip"})
    with pytest.raises(ToolError, match="damaged"):
        _sent(site.url())


def test_what_is_no_http_is_reported(site: Site) -> None:
    """An odd port may speak anything."""
    site.replies["/"] = lambda handler: handler.wfile.write(b"220 mail.example ESMTP\r\n")
    with pytest.raises(ToolError, match="the connection failed"):
        _sent(site.url())


# How long ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX: ",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000000\r\n\r\n",
    ],
)
def test_a_server_that_drips_is_cut(site: Site, headers: bytes) -> None:
    """A byte now and then keeps every single wait short, and the whole one endless."""
    site.drip("/", b"a", seconds=0.02, headers=headers)
    before = time.monotonic()
    with pytest.raises(ToolError, match="too long"):
        _sent(site.url(), seconds=0.3)
    assert time.monotonic() - before < 10


def test_a_server_that_says_nothing_is_left(site: Site) -> None:
    """It accepts, and that is all."""
    site.replies["/"] = lambda _: site.is_over.wait(20)
    with pytest.raises(ToolError, match=r"too long|timed out"):
        _sent(site.url(), seconds=0.2)


def test_a_deadline_that_is_over_sends_nothing(site: Site) -> None:
    """Several redirects share one time."""
    with pytest.raises(ToolError, match="too long"):
        _sent(site.url(), seconds=0)
    assert site.seen == []


# Encrypted -----------------------------------------------------------------------------------------------------------


def _certificate(folder: Path, name: str) -> Path:
    """Return a file with a key and a certificate of its own for a host name."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415 -- as above
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 -- as above

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    data = key.private_bytes(form, serialization.PrivateFormat.PKCS8, plain) + certificate.public_bytes(form)
    file = folder / "both.pem"
    file.write_bytes(data)
    return file


@pytest.fixture
def own_file(tmp_path: Path) -> Path:
    """Return a certificate for `name.example`."""
    return _certificate(tmp_path, "name.example")


def _wrapped(file: Path) -> Callable[[socket.socket], socket.socket]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return lambda wire: context.wrap_socket(wire, server_side=True)


def test_the_certificate_must_be_the_host_s(serve: Serve, own_file: Path) -> None:
    """Although the connection goes to an address, it is the name that is checked."""
    with serve("127.0.0.1", wrap=_wrapped(own_file)) as site:
        site.page("/", "secret")
        assert _sent(f"https://name.example:{site.port}/", ca_file=str(own_file)).body == b"secret"
        for host in ("other.example", "127.0.0.1"):
            with pytest.raises(ToolError, match=r"(?i)certificate"):
                _sent(f"https://{host}:{site.port}/", ca_file=str(own_file))


def test_a_certificate_of_no_one_is_refused(serve: Serve, own_file: Path) -> None:
    """Only known authorities count, unless the settings name others."""
    with serve("127.0.0.1", wrap=_wrapped(own_file)) as site, pytest.raises(ToolError, match=r"(?i)certificate"):
        _sent(f"https://name.example:{site.port}/")


def test_an_encrypted_drip_is_cut(serve: Serve, own_file: Path) -> None:
    """Encryption takes the first handle of the connection away; the watchdog has its own."""
    with serve("127.0.0.1", wrap=_wrapped(own_file)) as site:
        site.drip("/", b"a", seconds=0.02, headers=b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        before = time.monotonic()
        with pytest.raises(ToolError, match="too long"):
            _sent(f"https://name.example:{site.port}/", seconds=0.5, ca_file=str(own_file))
        assert time.monotonic() - before < 10
