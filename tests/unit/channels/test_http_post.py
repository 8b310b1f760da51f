"""JSON that is posted to a web address."""

from collections.abc import Iterator

import pytest
from tests.tables import for_each
from tests.unit.receivers import Receiver, receiving

from permitry.channels.http_post import host_of, post


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Return a server."""
    with receiving() as running:
        yield running


@for_each("address", ["https://a.example/x", "HTTPS://a.example", "http://127.0.0.1:1/", "http://[::1]/"])
def test_what_is_posted_stays_secret_on_its_way(address: str) -> None:
    """Over TLS, or on this machine."""
    assert host_of(address) in ("a.example", "127.0.0.1", "::1")


@for_each(
    "address", ["http://a.example/", "http://127.0.0.1.a.example/", "ftp://localhost/", "https://", "a", "https://[x/"]
)
def test_nothing_is_posted_elsewhere(address: str) -> None:
    """Others could read or change it."""
    with pytest.raises(ValueError, match="is not"):
        post(address, b"{}", {}, seconds=1, most=1)


def test_no_proxy_sees_what_stays_on_this_machine(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment says."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    receiver.replies = [(200, {"X-Other": "1"}, b"{}")]
    reply = post(receiver.address, b'{"a": 1}', {"X-Mine": "2"}, seconds=5, most=2)
    assert (reply.status, reply.headers["x-other"], reply.body) == (200, "1", b"{}")
    [(headers, body)] = receiver.requests
    assert (headers["x-mine"], headers["content-type"], body) == ("2", "application/json", b'{"a": 1}')


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(receiver: Receiver, status: int) -> None:
    """It is a status like another."""
    receiver.replies = [(status, {"Location": receiver.address}, b"")]
    assert post(receiver.address, b"{}", {}, seconds=5, most=1).status == status
    assert len(receiver.requests) == 1


def test_a_reply_is_bounded(receiver: Receiver) -> None:
    """One byte more is too much."""
    receiver.replies = [(200, {}, b"12"), (200, {}, b"123")]
    assert post(receiver.address, b"{}", {}, seconds=5, most=2).body == b"12"
    with pytest.raises(ValueError, match="more than 2 bytes"):
        post(receiver.address, b"{}", {}, seconds=5, most=2)


def test_what_is_not_http_is_no_reply(receiver: Receiver) -> None:
    """As one that breaks off."""
    receiver.replies = [(200, {"Content-Length": "9"}, b"12"), b"hello\n"]
    for why in ("breaks off", "not HTTP"):
        with pytest.raises(OSError, match=why):
            post(receiver.address, b"{}", {}, seconds=5, most=20)
