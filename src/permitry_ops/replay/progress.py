"""How far a replay is, on one line of a terminal."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO, TypeVar

import attrs

__all__ = ["Progress"]

_PAUSE = 0.2
_T = TypeVar("_T")


@attrs.define
class Progress:
    """Shows on a terminal how many of so many files are read, and how many lines of the one that is read now.

    It has no thread, as processes are forked meanwhile. On anything but a terminal it shows nothing. `clock` returns
    seconds: within a file, a line is shown at most five times a second.
    """

    files: int
    stream: TextIO = attrs.field(factory=lambda: sys.stderr)
    clock: Callable[[], float] = time.monotonic
    _read: int = attrs.field(default=0, init=False)
    _calls: int = attrs.field(default=0, init=False)
    _width: int = attrs.field(default=0, init=False)
    _due: float = attrs.field(default=0.0, init=False)

    def begin(self) -> None:
        """Show that no file is read so far."""
        self._show()

    def finish_file(self, calls: int) -> None:
        """Count a file that was read, with so many calls; after the last one the line ends."""
        self._read += 1
        self._calls += calls
        self._show(end="\n" if self._read == self.files else "")

    def watch(self, lines: Iterable[_T]) -> Iterator[_T]:
        """Yield the lines of a file, and show how many there were."""
        return self._count(lines) if self.stream.isatty() else iter(lines)

    def _count(self, lines: Iterable[_T]) -> Iterator[_T]:
        for number, line in enumerate(lines, 1):
            if self.clock() >= self._due:
                self._show(f"; {number:,} lines of the next")
            yield line

    def _show(self, more: str = "", end: str = "") -> None:
        if not self.stream.isatty():
            return
        text = f"{self._read} of {self.files} files, {self._calls:,} calls{more}"
        # What is left of a longer line would be read as a part of this one.
        print(f"\r{text.ljust(self._width)}", end=end, file=self.stream, flush=True)
        self._width = len(text)
        self._due = self.clock() + _PAUSE
