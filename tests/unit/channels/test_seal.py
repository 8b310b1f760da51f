"""Signatures of what is posted."""

import base64
import hashlib
import hmac

import pytest
from tests.tables import for_each

from permitry.channels.seal import TOLERANCE, Seal, SeenSignatures
from permitry.errors import ChannelError

SECRET = "whsec_" + base64.b64encode(b"k" * 24).decode()
BODY = b'{"a": 1}'


def _seal(now: float = 1_000.0) -> Seal:
    return Seal(SECRET, clock=lambda: now)


def test_a_signature_is_that_of_the_convention() -> None:
    """Over id, time and body, with the bytes of the secret."""
    headers = _seal(1_000.9).headers("q1", BODY)
    expected = base64.b64encode(hmac.new(b"k" * 24, b'q1.1000.{"a": 1}', hashlib.sha256).digest()).decode()
    assert headers == {"webhook-id": "q1", "webhook-timestamp": "1000", "webhook-signature": f"v1,{expected}"}


@for_each(
    "secret", ["", "whsec_", SECRET[6:], "whsec_" + base64.b64encode(b"k" * 23).decode(), "whsec_ä", SECRET + "!"]
)
def test_a_weak_secret_is_refused(secret: str) -> None:
    """The error does not show it."""
    with pytest.raises(ValueError, match="at least 24 random bytes") as caught:
        Seal(secret)
    assert secret.removeprefix("whsec_") in ("", "ä") or secret not in str(caught.value)
    assert "kkk" not in repr(Seal(SECRET))


def test_what_was_signed_is_opened() -> None:
    """In headers of any case, and with one of several signatures, as while a secret is changed."""
    headers = _seal().headers("q1", BODY)
    others = {"Webhook-Id": "q1", "WEBHOOK-TIMESTAMP": "1000"}
    several = {**others, "webhook-signature": f"v1,AAAA {headers['webhook-signature']} v2,x"}
    for given in (headers, several):
        assert _seal().open(given, BODY, SeenSignatures()) == "q1"


@for_each("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_what_is_not_signed_is_refused(name: str) -> None:
    """Each of the three headers is needed."""
    headers = _seal().headers("q1", BODY)
    del headers[name]
    with pytest.raises(ChannelError, match=f"`{name}` is missing"):
        _seal().open(headers, BODY, SeenSignatures())


@for_each(
    "change",
    [{"webhook-id": "q2"}, {"webhook-timestamp": "1001"}, {"webhook-signature": "v1,ä"}, {"webhook-signature": ""}],
    ids=str,
)
def test_a_wrong_signature_is_refused(change: dict[str, str]) -> None:
    """It is for id, time and body together."""
    headers = _seal().headers("q1", BODY)
    for given, body in (({**headers, **change}, BODY), (headers, BODY + b" ")):
        with pytest.raises(ChannelError, match="signature is wrong"):
            _seal().open(given, body, SeenSignatures())


def test_the_secret_of_another_is_wrong() -> None:
    """Also where all else is the same."""
    other = Seal("whsec_" + base64.b64encode(b"x" * 24).decode(), clock=lambda: 1_000.0)
    with pytest.raises(ChannelError, match="signature is wrong"):
        _seal().open(other.headers("q1", BODY), BODY, SeenSignatures())


@for_each("apart", [TOLERANCE + 1, -TOLERANCE - 1])
def test_what_was_signed_long_ago_is_refused(apart: int) -> None:
    """Or, by this clock, will be."""
    with pytest.raises(ChannelError, match="within the last"):
        _seal(1_000.0 + apart).open(_seal().headers("q1", BODY), BODY, SeenSignatures())
    assert _seal(1_000.0 + apart - apart // abs(apart)).open(_seal().headers("q1", BODY), BODY, SeenSignatures())


@for_each("at", ["", "-1", "1e3", "1000.0", "\u0661\u0660\u0660\u0660", "9" * 5_000])
def test_a_time_is_a_number(at: str) -> None:
    """One that is signed and cannot be read is not a time."""
    seal = _seal()
    headers = {"webhook-id": "q", "webhook-timestamp": at, "webhook-signature": seal._signature("q", at, BODY)}  # noqa: SLF001 -- no other way to sign it
    with pytest.raises(ChannelError, match="within the last"):
        seal.open(headers, BODY, SeenSignatures())


def test_nothing_is_opened_twice() -> None:
    """What is signed again, later, is another; of what is too old by then, nothing is kept."""
    seen, now = SeenSignatures(), [1_000.0]
    seal = Seal(SECRET, clock=lambda: now[0])
    for at in (1_000.0, 1_001.0, 2_000.0):
        now[0] = at
        headers = seal.headers("q1", BODY)
        seal.open(headers, BODY, seen)
        with pytest.raises(ChannelError, match="received before"):
            seal.open(headers, BODY, seen)
    assert len(seen._times) == 1  # noqa: SLF001 -- that nothing is kept for ever
