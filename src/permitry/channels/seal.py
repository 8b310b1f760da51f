"""Signatures of what is posted by two that share a secret. Source: Standard Webhooks (`v1`)."""

import base64
import contextlib
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from threading import Lock

import attrs

from permitry.errors import ChannelError

__all__ = ["TOLERANCE", "Seal", "SeenSignatures"]

TOLERANCE = 300
"""So many seconds may be between the clocks of the two, and what is signed be on its way."""

_PREFIX = "whsec_"
_LEAST = 24
_DIGITS = 12
_ID, _TIMESTAMP, _SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"


@attrs.define
class SeenSignatures:
    """The signatures that were accepted of late, so that none is accepted twice. Thread-safe."""

    _times: dict[str, int] = attrs.field(factory=dict, init=False, repr=False)
    _lock: Lock = attrs.field(factory=Lock, init=False, repr=False)

    def add(self, signature: str, made_at: int, now: float) -> bool:
        """Keep a signature for as long as it could be accepted; False where it is there already."""
        with self._lock:
            for each in [each for each, at in self._times.items() if now - at > TOLERANCE]:
                del self._times[each]
            if signature in self._times:
                return False
            self._times[signature] = made_at
        return True


def _key(secret: str) -> bytes:
    key = b""
    if secret.startswith(_PREFIX):
        with contextlib.suppress(ValueError):
            key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    if len(key) < _LEAST:
        raise ValueError(f"a secret is `{_PREFIX}` and then at least {_LEAST} random bytes in base64")
    return key


@attrs.frozen
class Seal:
    """Signs texts with a secret, and checks such signatures; `ValueError` for a weak secret."""

    _secret: bytes = attrs.field(converter=_key, repr=False)
    clock: Callable[[], float] = attrs.field(default=time.time, kw_only=True, repr=False)

    def headers(self, name: str, body: bytes) -> dict[str, str]:
        """Return the headers that go with a body whose id is `name`."""
        at = str(int(self.clock()))
        return {_ID: name, _TIMESTAMP: at, _SIGNATURE: self._signature(name, at, body)}

    def open(self, headers: Mapping[str, str], body: bytes, seen: SeenSignatures) -> str:
        """Return the id of a body that the other side has signed just now, once, or `ChannelError`."""
        given = {key.lower(): value for key, value in headers.items()}
        try:
            name, at, signatures = given[_ID], given[_TIMESTAMP], given[_SIGNATURE]
        except KeyError as error:
            raise ChannelError(f"it is not signed: the header `{error.args[0]}` is missing") from None
        expected = self._signature(name, at, body)
        # In a time that says nothing of how much of it is right.
        if not any(hmac.compare_digest(_encode(expected), _encode(each)) for each in signatures.split(" ")):
            raise ChannelError("its signature is wrong")
        now = self.clock()
        if not _is_recent(at, now):
            raise ChannelError(f"it was not signed within the last {TOLERANCE} seconds")
        if not seen.add(expected, int(at), now):
            raise ChannelError("it was received before")
        return name

    def _signature(self, name: str, at: str, body: bytes) -> str:
        text = b".".join((_encode(name), _encode(at), body))
        return f"v1,{base64.b64encode(hmac.digest(self._secret, text, hashlib.sha256)).decode()}"


def _is_recent(at: str, now: float) -> bool:
    if not (at.isascii() and at.isdigit() and len(at) <= _DIGITS):
        return False
    return abs(now - int(at)) <= TOLERANCE


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
