"""A request comes whole and in time, or not at all."""

import os
import select
import signal
import socket
import time
from collections.abc import Iterator

import pytest
from tests.tables import for_each

from permitry_hosts.hooks import request as module
from permitry_hosts.hooks.host import Reply
from permitry_hosts.hooks.request import LARGEST, HandedOverError, Request, limit, process_of, receive, seal

Pair = tuple[socket.socket, socket.socket]
ABOUT = b"\0".join([b"2", b"codex", b"--grant", b"/home/ann\xff", b"A=1=2", b"B="])


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Return both ends of a line."""
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def _sent(about: bytes, payload: bytes) -> bytes:
    return bytes(32) + len(about).to_bytes(8, "big") + len(payload).to_bytes(8, "big") + about + payload


def test_a_request_is_read_with_all_its_parts(pair: Pair) -> None:
    """Names and values are bytes, as the system has them."""
    pair[0].sendall(_sent(ABOUT, b"{}\0"))
    request = receive(pair[1], 7)
    assert request.words == ("codex", "--grant")
    assert request.folder == b"/home/ann\xff"
    assert request.environ == {b"A": b"1=2", b"B": b""}
    assert (request.payload, request.process) == (b"{}\0", 7)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(47),
        _sent(ABOUT, b"{}")[:-1],
        _sent(b"", b"{}"),
        _sent(b"2\0a", b"{}"),
        _sent(b"x\0a", b"{}"),
        bytes(32) + (LARGEST + 1).to_bytes(8, "big") + bytes(8),
        bytes(40) + (LARGEST + 1).to_bytes(8, "big"),
    ],
)
def test_what_is_not_a_request_raises(pair: Pair, data: bytes) -> None:
    """There is nothing to answer."""
    pair[0].sendall(data)
    pair[0].shutdown(socket.SHUT_WR)
    with pytest.raises((ValueError, LookupError)):
        receive(pair[1], 7)


@pytest.mark.parametrize("at", [32, 40])
def test_a_request_that_is_too_large_is_not_waited_for(pair: Pair, at: int) -> None:
    """Its size says so at once."""
    pair[0].sendall((bytes(at) + (LARGEST + 1).to_bytes(8, "big")).ljust(48, b"\0"))
    with pytest.raises(ValueError, match="too large"):
        receive(pair[1], 7)


def test_there_is_one_deadline_for_all_parts(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a byte comes."""
    monkeypatch.setattr(module, "PATIENCE", 0.3)
    child = os.fork()
    if child == 0:
        for byte in _sent(ABOUT, b"{}"):
            pair[0].send(bytes([byte]))
            time.sleep(0.05)
        os._exit(0)
    begun = time.monotonic()
    try:
        with pytest.raises(TimeoutError):
            receive(pair[1], 7)
        assert time.monotonic() - begun < 3
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_the_process_at_the_other_end_is_known(pair: Pair) -> None:
    """By what the system says, not the process."""
    assert process_of(pair[1]) == os.getpid()


def test_a_process_of_another_user_is_none(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is one that can no longer be looked at, or has other files."""
    monkeypatch.setattr(os, "geteuid", lambda: 7)
    assert process_of(pair[1]) is None
    monkeypatch.undo()
    monkeypatch.setattr("pathlib.Path.readlink", lambda path: path)
    assert process_of(pair[1]) is None
    monkeypatch.undo()
    monkeypatch.setattr("pathlib.Path.samefile", lambda *_: False)
    assert process_of(pair[1]) is None
    with socket.socket(socket.AF_UNIX) as alone:
        assert process_of(alone) is None


def test_a_seal_is_of_this_request_reply_and_key() -> None:
    """Any other one is a different one."""
    request = Request((), b"/", {}, b"{}", 1, b"data")
    other = Request((), b"/", {}, b"{}", 1, b"date")
    seals = {
        seal(*each)[:32]
        for each in (
            (Reply("a"), request, bytes(32)),
            (Reply("b"), request, bytes(32)),
            (Reply("a", code=2), request, bytes(32)),
            (Reply(err="a"), request, bytes(32)),
            (Reply("a"), other, bytes(32)),
            (Reply("a"), request, b"x" * 32),
        )
    }
    assert len(seals) == 6
    assert seal(Reply("é\ud800", "no"), request, bytes(32))[41:] == b"\xc3\xa9\\ud800\nno\n"


@for_each("seconds", [0, -1, float("nan"), float("inf"), 3601])
def test_a_time_that_is_none_is_no_limit(seconds: float) -> None:
    """There is no work without an end."""
    with pytest.raises(ValueError, match="a deadline is more than 0"):
        limit(seconds)


def test_a_process_that_takes_too_long_ends() -> None:
    """Unless the limit is taken away."""
    for last, signalled in ((None, 0), (0.05, signal.SIGALRM)):
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            limit(0.05)
            limit(last)
            time.sleep(0.3)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signalled


def test_a_new_process_goes_on_with_a_call() -> None:
    """It has nothing of what others wait for, and a limit of its own."""
    reading, writing = os.pipe()
    kept, ours = os.pipe()
    try:
        Request((), b"/", {}, b"{}", 1, b"", ours=(ours,)).hand_over(20)
    except HandedOverError:
        os.close(ours)
        # At its end while the new process is still there: it does not have it.
        assert select.select([kept], [], [], 1)[0]
        assert os.read(kept, 1) == b""
        assert os.read(reading, 4) == b"here"
    else:
        os.write(writing, b"here" if signal.getitimer(signal.ITIMER_REAL)[0] > 0 else b"late")
        time.sleep(2)
        os._exit(0)
    os.wait()
    for each in (reading, writing, kept):
        os.close(each)
