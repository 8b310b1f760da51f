"""The processes above one."""

import os

from permitry.channels.ancestors import ancestors


def test_the_processes_above_are_found() -> None:
    """The parent first."""
    assert next(ancestors(os.getpid())) == os.getppid()
    assert list(ancestors(2**30)) == []
