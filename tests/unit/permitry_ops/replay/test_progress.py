"""How far a replay is."""

import io

from permitry_ops.replay.progress import Progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class _Clock:
    """Goes on by so many seconds at each look."""

    def __init__(self, step: float) -> None:
        self.step, self.now = step, 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_the_files_and_calls_are_counted() -> None:
    """And the line ends with the last file."""
    terminal = _Terminal()
    progress = Progress(2, terminal)
    progress.begin()
    progress.finish_file(1200)
    progress.finish_file(1)
    lines = terminal.getvalue().split("\r")[1:]
    assert lines == ["0 of 2 files, 0 calls", "1 of 2 files, 1,200 calls", "2 of 2 files, 1,201 calls\n"]


def test_a_large_file_shows_its_lines() -> None:
    """While it is read; what is left of the longer line is covered afterwards."""
    terminal = _Terminal()
    progress = Progress(1, terminal, _Clock(1.0))
    assert list(progress.watch("ab")) == ["a", "b"]
    progress.finish_file(2)
    *lines, last = terminal.getvalue().split("\r")[1:]
    assert lines == [f"0 of 1 files, 0 calls; {number} lines of the next" for number in (1, 2)]
    assert last == "1 of 1 files, 2 calls".ljust(len(lines[-1])) + "\n"


def test_not_each_line_is_shown() -> None:
    """At most five times a second."""
    terminal = _Terminal()
    assert len(list(Progress(1, terminal, _Clock(0.01)).watch(range(100)))) == 100
    assert 2 < terminal.getvalue().count("\r") < 6


def test_only_a_terminal_shows_it() -> None:
    """A file would be full of it."""
    stream = io.StringIO()
    progress = Progress(1, stream, _Clock(1.0))
    progress.begin()
    assert list(progress.watch("ab")) == ["a", "b"]
    progress.finish_file(2)
    assert stream.getvalue() == ""
