"""The tool `run_shell`."""

import threading
from typing import Any

import attrs
from pydantic import Field

from permitry.port import ToolError, ToolRegistry, programs_in, reporter_here
from permitry_tools._process import Ended, ProcessGroup, default_shell, run_group
from permitry_tools._reading import ReadMemory
from permitry_tools._spec import ROLES, RUNS, Arguments, require, tool
from permitry_tools.patch import Patching
from permitry_tools.shell.patching import apply_patch_in, check_patch, patch_preview
from permitry_tools.workspace import Workspace

__all__ = ["check_terminal", "register"]

_LONGEST = 600
_SHOWN = 12_000
"""The characters of output that are shown where some are on disk alone; with the command they fit the output limit."""
_MOST_REPEATS = 2
_INTERACTIVE = ("vim", "nano", "less", "more", "top", "htop", "man")


class RunShell(Arguments):
    """The arguments of `run_shell`."""

    command: str = Field(min_length=1, description="The command, as for `bash -c`, run in the workspace.")
    timeout: int = Field(45, ge=1, le=_LONGEST, description="Seconds until it and its processes are killed.")


def register(registry: ToolRegistry, workspace: Workspace, memory: ReadMemory | None = None) -> None:
    """Add `run_shell` to `registry`. It starts in the workspace; the command itself can reach what the user can.

    `memory` holds what the model knows of files: a command that only applies a patch is done by `apply_patch`.
    """
    shell = default_shell()
    repeats = _Repeats()
    patching = Patching(workspace, memory)

    @tool(
        registry, RunShell, "Run a shell command in the workspace.", RUNS,
        require("command", "run_shell requires command"), check_terminal, check_patch("command"),
        roles={"command": ROLES.COMMAND}, timeout=_LONGEST + 10.0, applies_patches=True,
        preview=patch_preview(patching, "command"),
    )  # fmt: skip
    def run_shell(arguments: RunShell) -> tuple[bool, str]:
        result = apply_patch_in(arguments.command, workspace.root, patching)
        if result is not None:
            return True, result
        repeats.refuse(arguments)
        ended = run_group(ProcessGroup([shell, "-c", arguments.command], workspace.root), arguments.timeout)
        text = _as_text(arguments, ended)
        repeats.note(arguments, text)
        return ended.code == 0, text


def _as_text(arguments: RunShell, ended: Ended) -> str:
    stdout, stderr = _show(ended)
    output = f"\n[stdout]\n{stdout}\n[stderr]\n{stderr}"
    if ended.code is not None:
        end = f"[exit_code={ended.code}]"
    else:
        end = "[cancelled" if ended.is_cancelled else f"[timeout after {arguments.timeout}s"
        end += " — processes killed]"
        output = output if stdout or stderr else ""
    return f"$ {arguments.command}\n{end}{output}"


def _show(ended: Ended) -> tuple[str, str]:
    """Return both outputs; where they are in memory, the registry shortens and keeps the whole answer."""
    stdout, stderr = ended.outputs
    if stdout.is_whole and stderr.is_whole:
        return stdout.text(), stderr.text()
    least = _SHOWN // 3
    room = max(least, _SHOWN - min(stderr.length, least)), max(least, _SHOWN - min(stdout.length, 2 * least))
    reporter = reporter_here()
    return stdout.shown(room[0], reporter), stderr.shown(room[1], reporter)


def check_terminal(arguments: dict[str, Any]) -> None:
    """Accept a command that runs no program for a terminal: there is none, and such a program would only hang.

    Raises: `ToolError` for any other.
    """
    command = arguments.get("command")
    if isinstance(command, str) and not programs_in(command).isdisjoint(_INTERACTIVE):
        programs = "/".join(_INTERACTIVE)
        raise ToolError(f"BLOCKED: Interactive terminal programs are not allowed by runtime policy ({programs}).")


@attrs.define
class _Repeats:
    """Notices that a model runs the same command again and again and gets the same again and again."""

    _last: tuple[RunShell, str] | None = None
    _count: int = 0
    _lock: threading.Lock = attrs.field(factory=threading.Lock)

    def refuse(self, arguments: RunShell) -> None:
        with self._lock:
            if self._last is not None and self._last[0] == arguments and self._count >= _MOST_REPEATS:
                raise ToolError(
                    "Blocked by runtime policy: identical run_shell command repeated more than twice at the same depth."
                    " Change strategy instead of retrying the same command."
                )

    def note(self, arguments: RunShell, text: str) -> None:
        with self._lock:
            self._count = self._count + 1 if self._last == (arguments, text) else 1
            self._last = (arguments, text)
