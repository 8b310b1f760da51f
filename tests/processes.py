"""What becomes of the processes that a test has started."""

import os
import time

__all__ = ["is_gone"]


def is_gone(pid: int) -> bool:
    """Return whether a child of this process ends within five seconds, and is reaped."""
    for _ in range(500):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False
