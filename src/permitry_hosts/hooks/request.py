"""What the client sends to the resident, and how the reply is sealed; `client.py` has the other side."""

import hashlib
import os
import signal
import socket
import struct
import time
from pathlib import Path

import attrs

from permitry_hosts.hooks.deadline_process import LONGEST
from permitry_hosts.hooks.host import Reply

__all__ = ["LARGEST", "PATIENCE", "HandedOverError", "Request", "limit", "process_of", "receive", "seal"]

LARGEST = 8 * 1024 * 1024
"""The most bytes of a payload, and of what comes with it."""
PATIENCE = 10.0
"""So many seconds a client may take to send its request, or to take its reply."""

_NONCE, _NUMBER = 32, 8
_HEAD = _NONCE + 2 * _NUMBER


class HandedOverError(Exception):
    """Raised in a worker when a process that it has forked goes on with the call."""


@attrs.frozen
class Request:
    """One call: the words after `permitry hook`, folder, environment, payload, and the process.

    `data` is all of it as it came.
    """

    words: tuple[str, ...]
    folder: bytes
    environ: dict[bytes, bytes]
    payload: bytes
    process: int
    data: bytes = attrs.field(repr=False)
    _ours: tuple[int, ...] = attrs.field(default=(), alias="ours")

    def hand_over(self, seconds: float) -> None:
        """Let a new process go on with the call, for at most so many seconds.

        Raises: `HandedOverError` in this one, which is free for other calls.
        """
        if os.fork():
            raise HandedOverError
        for file in self._ours:
            os.close(file)
        limit(seconds)


def limit(seconds: float | None) -> None:
    """End this process when it takes longer than so many seconds; with None there is no limit.

    Raises: `ValueError` for a time that cannot be a deadline.
    """
    if seconds is not None and not 0 < seconds <= LONGEST:
        raise ValueError(f"a deadline is more than 0 seconds, and at most {LONGEST}")
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)


def process_of(client: socket.socket) -> int | None:
    """Return the process of a client; None for one that must not be answered here.

    It is of another user, or paths lead elsewhere for it than for this process.
    """
    credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    process, user, _ = struct.unpack("3i", credentials)
    if user != os.geteuid() or process <= 0:
        return None
    try:
        theirs, ours = Path(f"/proc/{process}"), Path("/proc/self")
        is_near = (theirs / "ns/mnt").readlink() == (ours / "ns/mnt").readlink()
        return process if is_near and (theirs / "root").samefile("/") else None
    except OSError:
        return None


def receive(client: socket.socket, process: int, ours: tuple[int, ...] = ()) -> Request:
    """Return the request of a client.

    Raises: `OSError` when it does not come in time, `ValueError` for one that is too large, or not complete.
    """
    end = time.monotonic() + PATIENCE
    head = _part(client, _HEAD, end)
    about, payload = (int.from_bytes(head[at : at + _NUMBER], "big") for at in (_NONCE, _NONCE + _NUMBER))
    if max(about, payload) > LARGEST:
        raise ValueError("the request is too large")
    data = head + _part(client, about + payload, end)
    number, *texts = data[_HEAD : _HEAD + about].split(b"\0")
    words, folder = texts[: int(number)], texts[int(number)]
    environ = {name: value for name, _, value in (each.partition(b"=") for each in texts[int(number) + 1 :])}
    return Request(tuple(map(os.fsdecode, words)), folder, environ, data[_HEAD + about :], process, data, ours)


def _part(client: socket.socket, size: int, end: float) -> bytes:
    data = bytearray()
    while len(data) < size:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        client.settimeout(left)
        part = client.recv(size - len(data))
        if not part:
            raise ValueError("the request is not complete")
        data += part
    return bytes(data)


def seal(reply: Reply, request: Request, key: bytes) -> bytes:
    """Return a reply as it is sent: it can be made only with the key, and counts for this request alone."""
    out, err = (f"{text}\n".encode("utf-8", "backslashreplace") if text else b"" for text in (reply.out, reply.err))
    body = bytes([reply.code]) + len(out).to_bytes(_NUMBER, "big") + out + err
    return hashlib.blake2b(request.data + body, key=key, digest_size=len(key)).digest() + body
