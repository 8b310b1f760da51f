"""The tool `run_shell`."""

import contextlib
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from permitry.core.spec import ArgumentRole
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.result import ToolResult
from permitry.tools import shell

Use = Callable[..., ToolResult]


def _ends(alive: int) -> bool:
    """Return whether everybody who could write to the pipe goes away soon."""
    for _ in range(500):
        with contextlib.suppress(BlockingIOError):
            return os.read(alive, 100) == b""
        time.sleep(0.01)
    return False


@pytest.fixture
def alive(root: Path) -> Iterator[int]:
    """Yield the reading end of a pipe `alive` in the workspace: a process that holds it open lives."""
    os.mkfifo(root / "alive")
    file = os.open(root / "alive", os.O_RDONLY | os.O_NONBLOCK)
    yield file
    os.close(file)


def test_a_command_is_run(use: Use) -> None:
    """The result has the command, how it ended, and both outputs."""
    assert use("run_shell", command="echo out; echo err >&2") == ToolResult(
        True, "$ echo out; echo err >&2\n[exit_code=0]\n[stdout]\nout\n\n[stderr]\nerr\n"
    )


@pytest.mark.parametrize(
    ("command", "code"), [("exit 3", 3), ("false", 1), ("no-such-program-here", 127), ("kill -9 $$", -9)]
)
def test_only_zero_is_success(use: Use, command: str, code: int) -> None:
    """Any other end is told with its number; a signal is negative."""
    result = use("run_shell", command=command)
    assert result.ok is False
    assert f"[exit_code={code}]" in result.text


def test_it_starts_in_the_workspace(root: Path, use: Use) -> None:
    """Relative names are names of the workspace."""
    assert f"[stdout]\n{root.resolve()}\n" in use("run_shell", command="pwd -P").text


def test_its_input_is_empty(use: Use) -> None:
    """A command that reads gets an end at once instead of waiting."""
    assert "[stdout]\n0\n" in use("run_shell", command="cat | wc -c | tr -d ' '").text


def test_no_pager_and_no_prompt_wait_for_anybody(use: Use) -> None:
    """The environment says that no human is at the terminal."""
    text = use("run_shell", command='echo "$PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $TERM"').text
    assert "[stdout]\ncat cat 0 dumb\n" in text


def test_bytes_that_are_no_text_are_replaced(use: Use) -> None:
    """A result is text in any case."""
    assert "[stdout]\n\ufffdok\n" in use("run_shell", command=r"printf '\377ok\n'").text


@pytest.mark.parametrize("command", ["echo \0", "echo " + "x" * 200_000])
def test_a_command_that_cannot_be_started_is_told(use: Use, command: str) -> None:
    """It is the command that is wrong; the tool has not crashed."""
    result = use("run_shell", command=command)
    assert result.ok is False
    assert result.text.startswith("The command cannot be started: ")


def test_a_workspace_that_is_gone_is_told(root: Path, use: Use) -> None:
    """Nothing is run somewhere else instead."""
    root.rmdir()
    assert use("run_shell", command="pwd").text.startswith("The command cannot be started: ")


# Ends -------------------------------------------------------------------------------------------------------------


def test_a_timeout_kills_all_its_processes(use: Use, alive: int) -> None:
    """Children and grandchildren end with the command."""
    command = "echo before; (sh -c 'echo started >alive; exec sleep 60' 3>alive; true) & wait"
    begun = time.monotonic()
    result = use("run_shell", command=command, timeout=1)
    assert time.monotonic() - begun < 10
    assert result.ok is False
    assert "[timeout after 1s: processes killed]\n[stdout]\nbefore\n" in result.text
    assert os.read(alive, 100) == b"started\n"
    assert _ends(alive)


def test_what_is_left_in_the_background_ends_with_the_call(use: Use, alive: int) -> None:
    """A command that ends well leaves nothing running."""
    child = "(echo started; touch ready; exec sleep 60) >alive 2>&1"
    command = f"{child} & until [ -e ready ]; do sleep 0.02; done; echo done"
    result = use("run_shell", command=command)
    assert (result.ok, "[stdout]\ndone\n" in result.text) == (True, True)
    assert os.read(alive, 100) == b"started\n"
    assert _ends(alive)


def test_a_process_that_left_the_group_does_not_hang_the_call(
    root: Path, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that keeps the output open is not waited for."""
    monkeypatch.setattr(shell, "_GRACE", 0.1)
    daemon = "import os, time; os.setsid(); open('pid', 'w').write(f'{os.getpid()}.'); time.sleep(60)"
    command = (
        f"{shlex.quote(sys.executable)} -ISc {shlex.quote(daemon)} & until [ -s pid ]; do sleep 0.02; done; echo up"
    )
    begun = time.monotonic()
    result = use("run_shell", command=command)
    elapsed = time.monotonic() - begun
    os.kill(int((root / "pid").read_text(encoding="utf-8").rstrip(".")), signal.SIGKILL)
    assert "[exit_code=0]\n[stdout]\nup\n" in result.text
    assert elapsed < 10


# Much output ------------------------------------------------------------------------------------------------------


def test_endless_output_costs_little(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a stream without end, a beginning and an end are kept in memory, and the rest is counted."""
    kept: list[int] = []
    text = shell._Capture.text  # noqa: SLF001 -- how much it holds is what is looked at

    def watched(capture: shell._Capture) -> str:
        found = text(capture)
        kept.append(len(found))
        return found

    monkeypatch.setattr(shell._Capture, "text", watched)  # noqa: SLF001 -- as above
    result = use("run_shell", command="yes", timeout=1)
    assert "[timeout after 1s" in result.text
    assert kept[0] < 2 * 64 * 1024 + 100
    assert len(result.text) < 17_000


def test_a_gap_in_the_output_is_marked(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Head and tail are shown, and the number of bytes between them."""
    monkeypatch.setattr(shell, "_KEEP", 10)
    text = use("run_shell", command="printf 'aaaaaaaaaa%0100dzzzzzzzzzz' 0").text
    assert "[stdout]\naaaaaaaaaa\n...[100 bytes left out]...\nzzzzzzzzzz\n" in text


def test_output_that_just_fits_has_no_gap(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is marked where nothing is missing."""
    monkeypatch.setattr(shell, "_KEEP", 10)
    assert "[stdout]\naaaaaaaaaazzzzzzzzzz\n" in use("run_shell", command="printf aaaaaaaaaazzzzzzzzzz").text


def test_a_long_result_is_clipped_with_a_marker(use: Use) -> None:
    """The model gets the end of the output and how the command ended, and sees the gap."""
    text = use("run_shell", command="yes | head -c 60000; echo the end").text
    assert "characters left out]..." in text
    assert "[exit_code=0]" in text
    assert "the end\n" in text
    assert len(text) < 17_000


# What it declares -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [{}, {"command": ""}, {"command": ["ls"]}, {"command": "ls", "timeout": 0}, {"command": "ls", "timeout": 601},
     {"command": "ls", "timeout": "9"}, {"command": "ls", "cwd": "/"}],
)  # fmt: skip
def test_arguments_that_do_not_fit_run_nothing(use: Use, arguments: dict[str, object]) -> None:
    """The model is told what is wrong before anything starts."""
    result = use("run_shell", **arguments)
    assert result.ok is False
    assert result.text.startswith("The arguments do not fit: `")


def test_the_tool_says_that_it_can_do_anything(registry: ToolRegistry) -> None:
    """Its argument is a command, and its reach is the world."""
    spec = registry.get("run_shell")
    assert spec is not None
    assert (spec.traits.only_reads, spec.traits.open_world) == (False, True)
    assert dict(spec.roles or {}) == {"command": ArgumentRole.COMMAND}
