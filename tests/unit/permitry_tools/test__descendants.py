"""A process is killed with all that it started."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from permitry_tools._descendants import kill_all_of, process_of
from permitry_tools._process import ProcessGroup

# A child in the same group, one in a group of its own, one in a session of its own with a child: all write their ids.
FAMILY = """
import os, sys, time
def child(leave, more=False):
    if os.fork():
        return
    leave()
    if more:
        os.fork()
    open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
    time.sleep(60)
child(lambda: None)
child(lambda: os.setpgid(0, 0))
child(os.setsid, more=True)
time.sleep(60)
"""


def _is_over(pid: int) -> bool:
    """Return whether a process ends soon; one that nothing waits for stays as a zombie."""
    for _ in range(500):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.01)
    return False


def _family(folder: Path) -> list[int]:
    found: list[int] = []
    for _ in range(1_000):
        if len(found := [int(path.name) for path in folder.iterdir()]) == 4:
            return found
        time.sleep(0.01)
    raise AssertionError(found)


def test_what_left_the_session_is_killed_as_well(tmp_path: Path) -> None:
    """Wherever the list of processes comes from: there is none in `/proc` on every system."""
    group = ProcessGroup([sys.executable, "-c", FAMILY, str(tmp_path)], tmp_path)
    group.start()
    group.started()
    family = _family(tmp_path)
    assert len({os.getsid(pid) for pid in family}) == 2
    group.kill()
    assert [pid for pid in family if not _is_over(pid)] == []


def test_a_session_without_its_leader_is_killed() -> None:
    """Its members descend from no one that is known; a group of their own does not help them."""
    program = "import os, sys, time\nif os.fork(): os._exit(0)\nos.setpgid(0, 0)\nprint(os.getpid(), flush=True)\n"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{program}time.sleep(60)"], stdout=subprocess.PIPE, start_new_session=True, text=True
    )
    with process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert process.wait(10) == 0
        kill_all_of(process.pid, None)
        assert _is_over(pid)


def test_one_that_has_ended_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is one that may not be killed."""
    done = subprocess.Popen(["true"], start_new_session=True)
    process = process_of(done.pid)
    done.wait()
    assert process_of(done.pid) is None
    kill_all_of(done.pid, process)
    monkeypatch.setattr(os, "getsid", lambda _: done.pid)
    monkeypatch.setattr(os, "kill", lambda *_: (_ for _ in ()).throw(PermissionError))
    kill_all_of(done.pid, None)
