"""Work that is done in a process of its own, so that whatever becomes of it there is a reply in time."""

import json
import os
import select
import signal
import time
from collections.abc import Callable

from permitry.errors import safe_str
from permitry_hosts.hooks.host import Reply

__all__ = ["DEADLINE", "LONGEST", "supervise"]

DEADLINE = 20.0
"""So many seconds a decision may take; a host waits longer."""

LONGEST = 3600
"""The longest deadline, in seconds."""


def supervise(work: Callable[[], Reply], fail: Callable[[str], Reply], seconds: float) -> Reply:
    """Return what `work` returns, or the reply of `fail` if it raises, dies, or takes longer than `seconds`."""
    if not 0 < seconds <= LONGEST:
        return fail(f"a deadline is more than 0 seconds, and at most {LONGEST}")
    # Where a host ignores this signal, so does its hook, and then a child leaves nothing to wait for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        # If this process is killed together with its supervisor's patience, nothing is left behind.
        signal.alarm(int(seconds) + 1)
        os.close(reading)
        _work(work, fail, writing)
    os.close(writing)
    try:
        data = _read(reading, time.monotonic() + seconds)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if data is None:
        return fail(f"there was no decision within {seconds:g} seconds")
    try:
        out, err, code = json.loads(data)
        return Reply(out, err, code)
    except ValueError:
        return fail("the process that decides has ended without a reply")


def _work(work: Callable[[], Reply], fail: Callable[[str], Reply], writing: int) -> None:
    """Write the reply, and end this process."""
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        # What something prints must not become a part of the reply.
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        try:
            data = _frame(work())
        except BaseException as error:  # noqa: BLE001 -- whatever happens, the call is blocked
            data = _frame(fail(f"{type(error).__name__}: {safe_str(error)}"))
        while data:
            data = data[os.write(writing, data) :]
    finally:
        os._exit(0)


def _frame(reply: Reply) -> bytes:
    return json.dumps([reply.out, reply.err, reply.code]).encode()


def _read(file: int, end: float) -> bytes | None:
    """Return what comes until the other end closes; None if that does not happen in time."""
    poll, data = select.poll(), b""
    poll.register(file, select.POLLIN)
    while (left := end - time.monotonic()) > 0:
        if poll.poll(left * 1000):
            part = os.read(file, 65536)
            if not part:
                return data
            data += part
    return None
