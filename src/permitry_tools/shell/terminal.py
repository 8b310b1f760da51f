"""A command on a terminal of its own, which can be typed into."""

import contextlib
import os
import select
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

from permitry.port import ToolError
from permitry_tools._process import Capture, ProcessGroup

# Windows has neither, and no such terminals.
with contextlib.suppress(ImportError):
    import fcntl
    import termios

__all__ = ["TerminalGroup"]

_PATIENCE = 5.0
_PIECE = 1024
_SIZE = struct.pack("HHHH", 24, 80, 0, 0)

# A session leader must take the terminal for its own before it becomes the command, and give back the signals that
# Python ignores. No `preexec_fn`: what runs between fork and exec next to other threads may wait for ever.
_TAKE_TERMINAL = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(ignored, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


class TerminalGroup(ProcessGroup):
    """A command whose input and outputs are one terminal; `argv` begins with an absolute path."""

    def __init__(self, argv: list[str], folder: Path, *, keep: int) -> None:
        super().__init__([sys.executable, "-ISc", _TAKE_TERMINAL, *argv], folder, is_merged=True, keep=keep)
        self._keyboard: IO[bytes] | None = None
        self._typing = threading.Lock()

    def run(self) -> None:
        """Run the group to its end; then the keyboard is closed."""
        try:
            super().run()
        finally:
            with self._typing:
                if self._keyboard is not None:
                    self._keyboard.close()

    def spawn(self) -> "subprocess.Popen[bytes]":
        """Start the program on a terminal of its own."""
        ours, theirs = os.openpty()
        with os.fdopen(theirs, "wb", buffering=0), contextlib.ExitStack() as undo:
            screen = undo.enter_context(os.fdopen(ours, "rb", buffering=0))
            keyboard = undo.enter_context(os.fdopen(os.dup(ours), "wb", buffering=0))
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, _SIZE)
            # What does not take its input must not hold up who types.
            os.set_blocking(ours, False)
            process = self.popen(theirs, theirs, theirs)
            undo.pop_all()
        self._keyboard = keyboard
        self.captures = [Capture(screen, self.new_output())]
        return process

    def write(self, text: str) -> None:
        """Type `text`; into what has ended it goes unnoticed.

        Raises: `ToolError` when the command does not take it in for five seconds.
        """
        left = text.encode(errors="replace")
        until = time.monotonic() + _PATIENCE
        with self._typing:
            while left and self._keyboard is not None and not self.ended.is_set():
                try:
                    left = left[os.write(self._keyboard.fileno(), left[:_PIECE]) :]
                except BlockingIOError:
                    if time.monotonic() > until:
                        problem = f"The command takes no more input: {len(left)} bytes were not typed."
                        raise ToolError(problem) from None
                    select.select([], [], [], 0.05)
                except (
                    OSError
                ):  # pragma: no cover -- Linux drops what is typed where no process reads; other systems fail
                    return
