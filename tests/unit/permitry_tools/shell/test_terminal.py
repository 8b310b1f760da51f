"""A command on a terminal of its own: it sees a terminal, what is typed reaches it, and a full one is reported."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from permitry.errors import ToolError
from permitry_tools.shell import terminal
from permitry_tools.shell.terminal import TerminalGroup

Started = Callable[[str], TerminalGroup]


@pytest.fixture
def started(root: Path) -> Iterator[Started]:
    """Return a function that runs a line of shell on a terminal; what still runs in the end is killed."""
    groups: list[TerminalGroup] = []

    def start(line: str) -> TerminalGroup:
        group = TerminalGroup(["/bin/sh", "-c", line], root, keep=1_000)
        groups.append(group)
        group.start()
        return group

    yield start
    for group in groups:
        group.kill()
        group.join(10)


def _shown(group: TerminalGroup, text: str) -> bool:
    """Return whether a command shows `text` within ten seconds."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if group.captures and text in group.captures[0].output.shown(1_000):
            return True
        time.sleep(0.01)
    return False


def test_the_command_sees_a_terminal_with_a_size(started: Started) -> None:
    """On all three of its streams."""
    assert _shown(started("test -t 0 && test -t 1 && test -t 2 && stty size"), "24 80")


def test_what_is_typed_reaches_the_command(started: Started) -> None:
    """A long line, too, which is typed in pieces."""
    group = started("read -r line; echo got ${#line}")
    group.started()
    group.write("x" * 3_000 + "\n")
    assert _shown(group, "got 3000")


def test_what_is_typed_into_what_has_ended_goes_unnoticed(started: Started) -> None:
    """It may end at any moment."""
    group = started("exit 3")
    assert group.ended.wait(10)
    group.write("too late\n")
    assert group.code == 3


def test_a_command_that_takes_nothing_in_is_reported(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    """With how much was not typed; its author is not held up for ever."""
    monkeypatch.setattr(terminal, "_PATIENCE", 0.1)
    group = started("stty -icanon -echo; echo ready; exec sleep 60")
    assert _shown(group, "ready")
    with pytest.raises(ToolError, match=r"takes no more input: \d+ bytes"):
        group.write("x" * 1_000_000)


def test_a_command_that_cannot_be_started_is_an_error(root: Path) -> None:
    """Such as one in a folder that is gone; its terminal is closed."""
    group = TerminalGroup(["/bin/true"], root / "gone", keep=1_000)
    group.start()
    with pytest.raises(ToolError, match="cannot be started"):
        group.started()
    group.join(10)
