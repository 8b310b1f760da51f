"""What is logged, where a command shows it."""

import subprocess
import sys

_LOGGED = """
import logging
from permitry.cli.logs import show_logs

show_logs()
try:
    raise ValueError("\\x1b[2J\\x1b]0;own\\x07 \\u202e")
except ValueError:
    logging.getLogger("permitry.tools").exception("crashed: %s\\n", "\\x9b2J")
"""


def test_what_is_logged_steers_no_terminal() -> None:
    """A server, or a tool that crashed, chose the words."""
    done = subprocess.run([sys.executable, "-c", _LOGGED], capture_output=True, text=True, check=True)
    assert "crashed: \\u009b2J\n" in done.stderr
    assert "ValueError: \\u001b[2J\\u001b]0;own\\u0007 \\u202e\n" in done.stderr
    assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(done.stderr)
