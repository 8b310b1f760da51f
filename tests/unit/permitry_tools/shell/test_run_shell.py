"""The tool `run_shell`."""

import contextlib
import os
import re
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ArgumentRole
from permitry.dispatch.cancel import SIGNAL, Cancellation, SetFor
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ToolError
from permitry.guard.outcome import Blocked, Cause
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import _process, background, shell
from permitry_tools.workspace import Workspace

Use = Callable[..., ToolResult]


@pytest.fixture
def registry(root: Path) -> Iterator[ToolRegistry]:
    """Yield a registry of the tool; what it left is ended with it."""
    registry = ToolRegistry()
    shell.register(registry, Workspace(root))
    yield registry
    registry.close()


def _ends(alive: int) -> bool:
    """Return whether everybody who could write to the pipe goes away soon."""
    for _ in range(500):
        with contextlib.suppress(BlockingIOError):
            return os.read(alive, 100) == b""
        time.sleep(0.01)
    return False


def _wait_for(alive: int, text: bytes) -> None:
    """Return once `text` has come out of the pipe."""
    got = b""
    while got != text:
        with contextlib.suppress(BlockingIOError):
            got += os.read(alive, 100)
        time.sleep(0.01)


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
    """Any other end is reported with its number; a signal is negative."""
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
def test_a_command_that_cannot_be_started_is_reported(use: Use, command: str) -> None:
    """It is the command that is wrong; the tool has not crashed."""
    result = use("run_shell", command=command)
    assert result.ok is False
    assert result.text.startswith("The command cannot be started: ")


def test_a_workspace_that_is_gone_is_reported(root: Path, use: Use) -> None:
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
    assert "[timeout after 1s — processes killed]\n[stdout]\nbefore\n" in result.text
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
    monkeypatch.setattr(_process, "_GRACE", 0.1)
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


def test_a_shell_with_jobs_leaves_none_behind(use: Use, alive: int) -> None:
    """A job in a process group of its own is still one of the command's processes."""
    child = "(echo started; touch ready; exec sleep 60) >alive 2>&1"
    command = f"set -m; {child} & until [ -e ready ]; do sleep 0.02; done"
    assert use("run_shell", command=command).ok
    assert os.read(alive, 100) == b"started\n"
    assert _ends(alive)


def test_a_timeout_without_output_shows_none(use: Use) -> None:
    """There is nothing to show next to how it ended."""
    assert use("run_shell", command="sleep 60", timeout=1) == ToolResult(
        False, "$ sleep 60\n[timeout after 1s — processes killed]"
    )


@pytest.mark.parametrize("before", ["", "trap '' TERM INT HUP; "])
def test_a_cancelled_call_leaves_nothing_behind(registry: ToolRegistry, alive: int, before: str) -> None:
    """The one who cancels a call ends its processes, whether they like it or not."""
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)
    call = ToolCall("run_shell", {"command": f"{before}echo started >alive; sleep 60 3>alive"}, call_id="c1")
    results: list[ToolResult] = []
    thread = threading.Thread(target=lambda: results.append(handler.handle(call)))
    thread.start()
    _wait_for(alive, b"started\n")
    assert registry.cancel("c1")
    thread.join()
    assert not results[0].ok
    assert _ends(alive)


def test_nothing_is_started_for_a_call_that_is_cancelled_already(root: Path) -> None:
    """A late start would outlive the call."""
    cancellation = Cancellation()
    cancellation.cancel()
    group = _process.ProcessGroup(["touch", "made"], root)
    with SetFor(SIGNAL, cancellation), pytest.raises(ToolError, match="cancelled before its command was started"):
        _process.run_group(group, 5)
    assert not (root / "made").exists()


# What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", ["vim a", "ls | less", "cd /tmp && top", "/usr/bin/man ls", "echo $(nano x)", "more <a"]
)
def test_programs_for_a_terminal_are_refused(use: Use, command: str) -> None:
    """There is no terminal for them."""
    assert use("run_shell", command=command) == ToolResult(
        False,
        "BLOCKED: Interactive terminal programs are not allowed by runtime policy (vim/nano/less/more/top/htop/man).",
    )


@pytest.mark.parametrize("tool", ["run_shell", "run_shell_bg"])
def test_no_question_is_asked_about_a_program_for_a_terminal(registry: ToolRegistry, root: Path, tool: str) -> None:
    """The command alone tells that it cannot work."""
    background.register(registry, Workspace(root))
    outcome = ToolHandler(Session(), registry=registry).begin(ToolCall(tool, {"command": "vim a"}))
    assert isinstance(outcome, Blocked)
    assert (outcome.cause, outcome.result.text[:7]) == (Cause.MISFIT, "BLOCKED")


@pytest.mark.parametrize("command", ["echo vim", "echo 'a; top'", "echo x # less", "ls >man"])
def test_their_names_alone_are_not_refused(use: Use, command: str) -> None:
    """It is what runs that counts, not what is written."""
    assert use("run_shell", command=command).ok


def test_a_here_document_is_a_command_like_any_other(use: Use) -> None:
    """The rules judge it; the tool has no say."""
    assert "[stdout]\nx\n\n[stderr]" in use("run_shell", command="cat <<EOF\nx\nEOF").text


def test_the_third_of_the_same_in_a_row_is_refused(use: Use) -> None:
    """The same command with the same result: a third try would bring nothing."""
    first = use("run_shell", command="echo a")
    assert use("run_shell", command="echo a") == first
    for _ in range(2):
        assert use("run_shell", command="echo a") == ToolResult(
            False,
            "Blocked by runtime policy: identical run_shell command repeated more than twice at the same depth."
            " Change strategy instead of retrying the same command.",
        )
    assert use("run_shell", command="echo b").ok
    assert use("run_shell", command="echo a").ok


def test_a_command_that_brings_something_new_may_be_repeated(use: Use) -> None:
    """Who edits a file and runs the tests again is not going in circles."""
    for count in range(1, 5):
        assert f"[stdout]\n{count}\n" in use("run_shell", command="echo x >>log; wc -l <log | tr -d ' '").text


def test_a_longer_timeout_is_another_try(use: Use) -> None:
    """The arguments as a whole are what is repeated."""
    for timeout in (3, 3, 4):
        assert use("run_shell", command="echo a", timeout=timeout).ok


# Much output ------------------------------------------------------------------------------------------------------


def test_endless_output_ends_with_the_time(use: Use) -> None:
    """A beginning and an end are shown, and the rest is counted."""
    result = use("run_shell", command="yes", timeout=1)
    assert "[timeout after 1s" in result.text
    assert len(result.text) < 17_000


def test_a_gap_in_the_output_is_marked(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Head and tail are shown, and the number of characters between them."""
    monkeypatch.setattr(_process, "KEEP", 10)
    text = use("run_shell", command="printf 'aaaaaaaaaa%0100dzzzzzzzzzz' 0").text
    assert re.search(r"\[stdout\]\naaaaaaaaaa\n\.\.\.\[100 characters left out[^\n]*\]\.\.\.\nzzzzzzzzzz\n", text)


def test_output_that_just_fits_has_no_gap(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is marked where nothing is missing."""
    monkeypatch.setattr(_process, "KEEP", 10)
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
    [{"command": ["ls"]}, {"command": "ls", "timeout": -5}, {"command": "ls", "timeout": 0},
     {"command": "ls", "timeout": 601}, {"command": "ls", "timeout": "9"}, {"command": "ls", "cwd": "/"}],
)  # fmt: skip
def test_arguments_that_do_not_fit_run_nothing(use: Use, arguments: dict[str, object]) -> None:
    """The model is shown what is wrong before anything starts."""
    result = use("run_shell", **arguments)
    assert result.ok is False
    assert result.text.startswith("The arguments do not fit: `")


@pytest.mark.parametrize("arguments", [{}, {"command": ""}, {"command": None}, {"command": " \n"}])
def test_a_command_is_required(use: Use, arguments: dict[str, object]) -> None:
    """Without one there is nothing to run."""
    assert use("run_shell", **arguments) == ToolResult(False, "run_shell requires command")


def test_the_tool_says_that_it_can_do_anything(registry: ToolRegistry) -> None:
    """Its argument is a command, and its reach is the world."""
    spec = registry.get("run_shell")
    assert spec is not None
    assert (spec.traits.only_reads, spec.traits.open_world) == (False, True)
    assert dict(spec.roles or {}) == {"command": ArgumentRole.COMMAND}
