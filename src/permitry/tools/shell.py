"""The tool `run_shell`."""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from typing import IO

from pydantic import Field

from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ToolError
from permitry.tools._spec import ROLES, RUNS, Arguments, handler, spec
from permitry.tools.workspace import Workspace

__all__ = ["register"]

_LONGEST = 600
_KEEP = 64 * 1024
_GRACE = 2.0


class RunShell(Arguments):
    """The arguments of `run_shell`."""

    command: str = Field(min_length=1, description="The command, as for `bash -c`, run in the workspace.")
    timeout: int = Field(45, ge=1, le=_LONGEST, description="Seconds until it and its processes are killed.")


def register(registry: ToolRegistry, workspace: Workspace) -> None:
    """Add `run_shell` to `registry`. It starts in the workspace; the command itself can reach what the user can."""
    shell = shutil.which("bash") or "/bin/sh"

    def run_shell(arguments: RunShell) -> tuple[bool, str]:
        return _run([shell, "-c", arguments.command], arguments, workspace)

    registry.register(
        spec(
            "run_shell", "Run a shell command in the workspace.", RunShell, RUNS,
            roles={"command": ROLES.COMMAND}, timeout=float(_LONGEST),
        ),
        handler(RunShell, run_shell),
    )  # fmt: skip


def _run(argv: list[str], arguments: RunShell, workspace: Workspace) -> tuple[bool, str]:
    starter = _Starter(argv, workspace)
    code: int | None = None
    captures: list[_Capture] = []
    try:
        starter.start()
        process = starter.started()
        captures = [_Capture(pipe) for pipe in (process.stdout, process.stderr) if pipe is not None]
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(arguments.timeout)
    finally:
        # Also after a normal end: what the command left in the background ends with the call.
        starter.kill()
    stdout, stderr = (capture.text() for capture in captures)
    end = f"[timeout after {arguments.timeout}s: processes killed]" if code is None else f"[exit_code={code}]"
    return code == 0, f"$ {arguments.command}\n{end}\n[stdout]\n{stdout}\n[stderr]\n{stderr}"


class _Starter(threading.Thread):
    """Starts the command in a thread of its own.

    A signal interrupts the main thread alone, and may come at any moment, also while the command is being started: so
    whoever is interrupted can wait here until there is a process to kill.
    """

    def __init__(self, argv: list[str], workspace: Workspace) -> None:
        super().__init__(daemon=True)
        self._argv = argv
        self._folder = workspace.root
        self._process: subprocess.Popen[bytes] | None = None
        self._error: Exception | None = None
        # Not `join`: interrupted once, it takes the thread for ended.
        self._is_settled = threading.Event()

    def run(self) -> None:
        quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "PAGER": "cat", "GIT_PAGER": "cat", "TERM": "dumb"}
        try:
            self._process = subprocess.Popen(  # noqa: S603 -- running commands is this tool's purpose; the policy decides which
                self._argv,
                cwd=self._folder,
                env=quiet,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._error = error
        finally:
            self._is_settled.set()

    def started(self) -> subprocess.Popen[bytes]:
        """Return the process.

        Raises: `ToolError` when it cannot be started.
        """
        self._is_settled.wait()
        if self._process is None:
            raise ToolError(f"The command cannot be started: {self._error}.") from self._error
        return self._process

    def kill(self) -> None:
        """End the command and its group, if it was started or is being started."""
        self._is_settled.wait(_GRACE)
        if self._process is not None:
            _kill_group(self._process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Capture:
    """Reads a pipe to its end in a thread, and keeps its beginning and end: output of any size costs little."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Return what was kept, with a marker where something was dropped."""
        # A process that left the group may hold the pipe open for ever; it is not waited for.
        self._thread.join(_GRACE)
        marker = f"\n...[{self._dropped} bytes left out]...\n".encode() if self._dropped else b""
        return bytes(self._head + marker + self._tail).decode(errors="replace")

    def _read(self) -> None:
        with self._pipe as pipe:
            while chunk := os.read(pipe.fileno(), 65_536):
                room = max(0, _KEEP - len(self._head))
                self._head += chunk[:room]
                self._tail += chunk[room:]
                excess = max(0, len(self._tail) - _KEEP)
                self._dropped += excess
                del self._tail[:excess]
