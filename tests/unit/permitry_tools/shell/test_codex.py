"""The tools `shell`, `shell_command` and `local_shell`."""

import concurrent.futures
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.decision import Verdict
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools.shell import codex
from permitry_tools.workspace import Workspace

Use = Callable[..., ToolResult]


@pytest.fixture
def registry(root: Path) -> Iterator[ToolRegistry]:
    """Yield a registry of the tools; it is closed in the end."""
    registry = ToolRegistry()
    codex.register(registry, Workspace(root))
    yield registry
    registry.close()


def _timeless(result: ToolResult) -> tuple[bool, str]:
    return result.ok, re.sub(r"Wall time: \d+\.\d seconds", "Wall time: S seconds", result.text)


@pytest.mark.parametrize("tool", ["shell", "shell_command"])
def test_a_text_is_run_by_a_shell(use: Use, tool: str) -> None:
    """The answer has the exit code, the time, and both outputs as one."""
    done = use(tool, command="echo out; echo err >&2")
    assert _timeless(done) == (True, "Exit code: 0\nWall time: S seconds\nOutput:\nout\nerr\n")


@pytest.mark.parametrize(("tool", "more"), [("shell", {}), ("local_shell", {"type": "exec", "env": {}, "user": None})])
def test_a_list_is_run_without_a_shell(use: Use, tool: str, more: dict[str, Any]) -> None:
    """Nothing in it is expanded or split."""
    done = use(tool, command=["echo", "$HOME *", "; echo b"], **more)
    assert _timeless(done) == (True, "Exit code: 0\nWall time: S seconds\nOutput:\n$HOME * ; echo b\n")


@pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("kill -9 $$", 137), ("no-such-program-here", 127)])
def test_only_zero_is_success(use: Use, command: str, code: int) -> None:
    """A signal is reported as shells do."""
    done = use("shell", command=command)
    assert (done.ok, done.text.split("\n")[0]) == (False, f"Exit code: {code}")


def test_a_program_that_is_not_there_is_reported(use: Use) -> None:
    """It is the command that is wrong; the tool has not crashed."""
    done = use("shell", command=["no-such-program-here"])
    assert (done.ok, done.text.split(":")[0]) == (False, "The command cannot be started")


def test_it_starts_in_a_folder_of_the_workspace(root: Path, use: Use) -> None:
    """By the argument each tool has for it."""
    (root / "sub").mkdir()
    assert f"Output:\n{root.resolve()}\n" in use("shell", command="pwd -P").text
    assert f"Output:\n{root.resolve()}/sub\n" in use("shell", command="pwd -P", workdir="sub").text
    assert f"{root.resolve()}/sub\n" in use("local_shell", command=["pwd", "-P"], working_directory="sub").text


@pytest.mark.parametrize("workdir", ["..", "/", "missing"])
def test_no_other_folder_will_do(use: Use, workdir: str) -> None:
    """Nothing is run anywhere else instead."""
    assert not use("shell", command="touch made", workdir=workdir).ok
    assert not use("local_shell", command=["touch", "made"], working_directory=workdir).ok


def test_a_timeout_kills_all_its_processes(root: Path, use: Use) -> None:
    """Its exit code is 124; what was written before is shown."""
    os.mkfifo(root / "alive")
    alive = os.open(root / "alive", os.O_RDONLY | os.O_NONBLOCK)
    done = use("shell", command="echo before; (exec sleep 60 3>alive) & wait", timeout_ms=1000)
    assert _timeless(done) == (
        False,
        "Exit code: 124\nWall time: S seconds\nOutput:\ncommand timed out after 1000 milliseconds\nbefore\n",
    )
    until = time.monotonic() + 10
    while os.read(alive, 1) != b"":
        assert time.monotonic() < until
    os.close(alive)


def test_a_long_output_is_clipped_and_its_lines_are_counted(use: Use) -> None:
    """Its beginning and its end are shown."""
    text = use("shell", command="seq 100000").text
    assert "\nTotal output lines: 100000\nOutput:\n1\n2\n" in text
    assert text.endswith("\n99999\n100000\n")
    assert len(text) < 16_000


def test_a_login_shell_reads_the_profile(root: Path, use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only when it is asked for."""
    (root / ".bash_profile").write_text("echo profile\n", encoding="utf-8")
    (root / ".profile").write_text("echo profile\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(root))
    assert "profile\n" in use("shell", command="true", login=True).text
    assert "profile\n" not in use("shell", command="true").text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("shell", {}), ("shell", {"command": []}), ("shell", {"command": ""}), ("shell", {"command": ["a", 1]}),
        ("shell", {"command": "a", "timeout_ms": 0}),
        ("shell", {"command": "a", "sandbox_permissions": "require_escalated"}),
        ("shell", {"command": "a", "env": {}}), ("shell_command", {"command": ["a"]}),
        ("local_shell", {"command": ["a"], "type": "other"}), ("local_shell", {"command": []}),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_run_nothing(use: Use, tool: str, arguments: dict[str, Any]) -> None:
    """The model is shown what is wrong before anything starts."""
    done = use(tool, **arguments)
    assert (done.ok, done.text.split(":")[0]) == (False, "The arguments do not fit")


def test_variables_and_users_are_refused(use: Use) -> None:
    """What was judged is the command; it says as well what surrounds it."""
    assert use("local_shell", command=["env"], env={"A": "b"}).text.startswith("`env` must be empty; write `env NAME=")
    assert use("local_shell", command=["env"], user="root").text.startswith("`user` must be absent")


# What is asked about ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "verdict"),
    [
        ("shell", {"command": "ls | head"}, Verdict.ALLOW),
        ("shell", {"command": ["ls", "-l"], "justification": "x", "timeout_ms": 5}, Verdict.ALLOW),
        ("shell", {"command": ["bash", "-lc", "ls"], "sandbox_permissions": "use_default"}, Verdict.ALLOW),
        ("shell", {"command": "ls", "login": False}, Verdict.ALLOW),
        ("shell", {"command": "ls", "login": True}, Verdict.CONFIRM),
        ("shell", {"command": ["rm", "a"]}, Verdict.CONFIRM),
        ("shell", {"command": "rm a"}, Verdict.CONFIRM),
        ("shell_command", {"command": "ls"}, Verdict.ALLOW),
        ("shell_command", {"command": "rm a"}, Verdict.CONFIRM),
        ("local_shell", {"type": "exec", "command": ["ls"], "env": {}}, Verdict.ALLOW),
        ("local_shell", {"type": "exec", "command": ["ls"], "env": {"A": "b"}}, Verdict.BLOCK),
        ("local_shell", {"type": "exec", "command": ["ls"], "user": "root"}, Verdict.BLOCK),
        ("local_shell", {"type": "exec", "command": ["rm", "a"]}, Verdict.CONFIRM),
    ],
)
def test_the_command_is_what_is_judged(
    root: Path, registry: ToolRegistry, tool: str, arguments: dict[str, Any], verdict: Verdict
) -> None:
    """In either shape; what else would change what it does is asked about, and what cannot be done is an error."""
    handler = ToolHandler(Session(workspace=str(root)), registry=registry)
    assert handler.decide(ToolCall(tool, arguments)).verdict is verdict


def test_local_shell_takes_calls_of_its_kind(root: Path, registry: ToolRegistry) -> None:
    """As they come from a model that knows it."""
    handler = ToolHandler(Session(workspace=str(root)), registry=registry)
    action: dict[str, Any] = {
        "type": "exec",
        "command": ["echo", "hi"],
        "timeout_ms": None,
        "working_directory": None,
        "env": {},
    }
    done = handler.handle(ToolCall("local_shell", action, kind=PayloadKind.LOCAL_SHELL))
    assert _timeless(done) == (True, "Exit code: 0\nWall time: S seconds\nOutput:\nhi\n")


def test_a_cancelled_call_leaves_nothing_behind(root: Path, registry: ToolRegistry) -> None:
    """The process is gone when the call is over."""
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)
    code = "import os, pathlib, time; pathlib.Path('pid').write_text(f'{os.getpid()}.'); time.sleep(60)"
    call = ToolCall("shell", {"command": [sys.executable, "-ISc", code]}, call_id="c1")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(handler.handle, call)
        pid = root / "pid"
        while not (pid.exists() and pid.read_text(encoding="utf-8").endswith(".")):
            time.sleep(0.01)
        assert registry.cancel("c1")
        assert not running.result().ok
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text(encoding="utf-8").rstrip(".")), 0)
