"""Whatever becomes of the work, there is a reply, and in time."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry_hosts.hooks.deadline_process import supervise
from permitry_hosts.hooks.host import Reply

LARGE = "x" * 1_000_000


def _fail(problem: str) -> Reply:
    return Reply(err=problem, code=2)


def _raise(error: BaseException) -> Callable[[], Reply]:
    def work() -> Reply:
        raise error

    return work


def _kill() -> Reply:
    os.kill(os.getpid(), signal.SIGKILL)
    return Reply("never")


def _sleep() -> Reply:
    time.sleep(60)
    return Reply("never")


def _print() -> Reply:
    os.write(1, b"noise")
    os.write(2, b"noise")
    return Reply("{}")


@for_each("reply", [Reply(), Reply("{}"), Reply(err="no", code=2), Reply(LARGE)], ids=str)
def test_a_reply_comes_through(reply: Reply) -> None:
    """However large it is."""
    assert supervise(lambda: reply, _fail, 20) == reply


@for_each("error", [ValueError("oh"), MemoryError(), KeyboardInterrupt(), SystemExit(0)], ids=repr)
def test_work_that_raises_is_a_failure(error: BaseException) -> None:
    """Also where it wants to end the process with success."""
    assert supervise(_raise(error), _fail, 20) == _fail(f"{type(error).__name__}: {error}")


def test_work_that_dies_is_a_failure() -> None:
    """As it does in a crash of a library."""
    assert supervise(_kill, _fail, 20).code == 2
    assert supervise(lambda: os._exit(0), _fail, 20).code == 2


def test_work_that_takes_too_long_is_a_failure() -> None:
    """It is ended, and not waited for."""
    begun = time.monotonic()
    assert supervise(_sleep, _fail, 0.2) == _fail("there was no decision within 0.2 seconds")
    assert time.monotonic() - begun < 5


@for_each("seconds", [0, -1, float("nan"), float("inf")])
def test_a_time_that_is_none_is_a_failure(seconds: float) -> None:
    """There is no work without an end."""
    assert supervise(lambda: Reply("{}"), _fail, seconds).code == 2


def test_what_work_prints_is_not_part_of_the_reply(capfd: pytest.CaptureFixture[str]) -> None:
    """Two documents let a call run in some hosts."""
    assert supervise(_print, _fail, 20) == Reply("{}")
    sys.stdout.flush()
    assert capfd.readouterr() == ("", "")


def _children() -> set[str]:
    tasks = Path("/proc/self/task").iterdir()
    return {name for task in tasks for name in (task / "children").read_text(encoding="ascii").split()}


def test_no_process_is_left() -> None:
    """Neither at work nor as a zombie."""
    before = _children()
    supervise(_sleep, _fail, 0.1)
    assert _children() == before


def test_a_host_that_waits_for_no_child_gets_a_reply() -> None:
    """A hook inherits that the signal is ignored."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert supervise(lambda: Reply("{}"), _fail, 20) == Reply("{}")
    finally:
        signal.signal(signal.SIGCHLD, before)
