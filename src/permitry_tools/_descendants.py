"""Kills a process with all that it started, also what has left its group or its session."""

import contextlib
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

__all__ = ["kill_all_of", "process_of"]

_ROUNDS = 5


def process_of(pid: int) -> "psutil.Process | None":
    """Return a process that another one with its number is not taken for; None if it has ended."""
    import psutil  # noqa: PLC0415 -- slow to import, and needed only where a process is started

    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None


def kill_all_of(leader: int, process: "psutil.Process | None") -> None:
    """Kill the group of `leader`, the other groups of its session, and what descends from its `process`.

    What has left the session is found as long as its parents live.
    """
    import psutil  # noqa: PLC0415 -- as above

    children: list[psutil.Process] = []
    if process is not None:
        # Before anything is killed: a child without parents belongs to the first process of the system.
        with contextlib.suppress(psutil.Error):
            children = process.children(recursive=True)
    # First the group with its leader: a shell would write that a child was killed.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    for child in children:
        with contextlib.suppress(psutil.Error):
            child.kill()
    seen = {leader}
    # A process may start another one while the list is read; a killed one may stay on the list for a while.
    for _ in range(_ROUNDS):
        members = {pid for pid in psutil.pids() if _session_of(pid) == leader} - seen
        if not members:
            return
        seen |= members
        for pid in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None
