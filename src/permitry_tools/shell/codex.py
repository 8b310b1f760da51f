"""The tools `shell`, `shell_command` and `local_shell`: one command, as Codex and its models write it."""

from typing import Annotated, Any, Literal

from pydantic import Field

from permitry.port import PayloadKind, ToolError, ToolRegistry, reporter_here
from permitry_tools._process import Ended, ProcessGroup, default_shell, folder_of, run_group
from permitry_tools._reading import ReadMemory
from permitry_tools._spec import ROLES, RUNS, Arguments, tool
from permitry_tools.patch import Patching
from permitry_tools.shell.patching import apply_patch_in, check_patch, patch_preview
from permitry_tools.workspace import Workspace

__all__ = ["exit_code", "register"]

_LONGEST = 600_000
_DEFAULT = 10_000
_SHOWN = 15_000
_TIMED_OUT = 124
_SIGNALED = 128

_Words = Annotated[list[str], Field(min_length=1)]
_Text = Annotated[str, Field(min_length=1)]
_Milliseconds = Annotated[
    int | None,
    Field(ge=1, le=_LONGEST, description=f"Milliseconds until it and its processes are killed; {_DEFAULT} if absent."),
]


class _Options(Arguments):
    workdir: str | None = Field(None, description="The folder it starts in, relative to the workspace.")
    timeout_ms: _Milliseconds = None
    login: bool = Field(False, description="Whether the shell reads the profile of the user first.")
    sandbox_permissions: Literal["use_default"] = Field("use_default", description="There is no sandbox to leave.")
    justification: str | None = Field(None, description="Why this is to be run, for the human who is asked.")


class Shell(_Options):
    """The arguments of `shell`."""

    command: _Words | _Text = Field(
        description="A program and its arguments, started without a shell; or a text, as for `bash -c`."
    )


class ShellCommand(_Options):
    """The arguments of `shell_command`."""

    command: _Text = Field(description="The command, as for `bash -c`.")


class LocalShell(Arguments):
    """The arguments of `local_shell`: the `action` of a local shell call."""

    type: Literal["exec"] = Field("exec", description="The kind of the action.")
    command: _Words = Field(description="A program and its arguments.")
    timeout_ms: _Milliseconds = None
    working_directory: str | None = Field(None, description="The folder it starts in, relative to the workspace.")
    env: dict[str, str] | None = Field(None, description="Must be empty: set variables with the program `env`.")
    user: str | None = Field(None, description="Must be absent: commands run as the user of this process.")


def register(registry: ToolRegistry, workspace: Workspace, memory: ReadMemory | None = None) -> None:
    """Add `shell`, `shell_command` and `local_shell` to `registry`; commands start in folders of the workspace.

    `login` has no role: what a profile does is unknown, so a call with it is asked about.
    `memory` holds what the model knows of files: a command that only applies a patch is done by `apply_patch`.
    """
    default = default_shell()
    patching = Patching(workspace, memory)

    def run(command: str | list[str], argv: list[str], workdir: str | None, timeout_ms: int | None) -> tuple[bool, str]:
        folder = folder_of(workspace, workdir)
        result = apply_patch_in(command, folder, patching)
        if result is not None:
            return True, result
        limit = timeout_ms or _DEFAULT
        ended = run_group(ProcessGroup(argv, folder, is_merged=True), limit / 1000)
        return ended.code == 0, _describe(ended, limit)

    def start(arguments: Shell | ShellCommand) -> tuple[bool, str]:
        command = arguments.command
        argv = [default, "-lc" if arguments.login else "-c", command] if isinstance(command, str) else command
        return run(command, argv, arguments.workdir, arguments.timeout_ms)

    timeout = _LONGEST / 1000 + 10
    about = {"workdir": ROLES.FOLDER, "sandbox_permissions": ROLES.TEXT}
    shown = patch_preview(patching, "command", "workdir")

    @tool(
        registry, Shell, "Run a command in the workspace.", RUNS, check_patch("command"),
        roles={"command": ROLES.COMMAND_OR_ARGV, **about}, timeout=timeout, applies_patches=True, preview=shown,
    )  # fmt: skip
    def shell(arguments: Shell) -> tuple[bool, str]:
        return start(arguments)

    @tool(
        registry, ShellCommand, "Run a command in the workspace.", RUNS, check_patch("command"),
        roles={"command": ROLES.COMMAND, **about}, timeout=timeout, applies_patches=True, preview=shown,
    )  # fmt: skip
    def shell_command(arguments: ShellCommand) -> tuple[bool, str]:
        return start(arguments)

    @tool(
        registry, LocalShell, "Run a program in the workspace.", RUNS, check_patch("command"), _check_surroundings,
        roles={"command": ROLES.ARGV, "type": ROLES.TEXT, "working_directory": ROLES.FOLDER},
        timeout=timeout, kinds=(PayloadKind.LOCAL_SHELL, PayloadKind.FUNCTION), applies_patches=True,
        preview=patch_preview(patching, "command", "working_directory"),
    )  # fmt: skip
    def local_shell(arguments: LocalShell) -> tuple[bool, str]:
        argv = arguments.command
        return run(argv, argv, arguments.working_directory, arguments.timeout_ms)


def exit_code(code: int) -> int:
    """Return the exit code as shells tell it: 128 and the number of the signal for a command that was killed."""
    return code if code >= 0 else _SIGNALED - code


def _check_surroundings(arguments: dict[str, Any]) -> None:
    if arguments.get("env"):
        raise ToolError("`env` must be empty; write `env NAME=VALUE PROGRAM …` as the command instead.")
    if arguments.get("user"):
        raise ToolError("`user` must be absent; commands run as the user of this process.")


def _describe(ended: Ended, limit: int) -> str:
    (output,) = ended.outputs
    if ended.code is not None:
        code, how = exit_code(ended.code), ""
    else:
        code = _TIMED_OUT
        how = "command cancelled\n" if ended.is_cancelled else f"command timed out after {limit} milliseconds\n"
    total = f"Total output lines: {output.lines}\n" if output.length > _SHOWN else ""
    shown = output.shown(_SHOWN, reporter_here())
    return f"Exit code: {code}\nWall time: {ended.seconds:.1f} seconds\n{total}Output:\n{how}{shown}"
