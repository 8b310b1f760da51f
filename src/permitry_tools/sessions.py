"""The tools `exec_command`, `write_stdin` and `unified_exec`: commands that outlive their call, and are typed into."""

import secrets
import shlex
import shutil
import threading
import time
from collections.abc import Iterable
from typing import Any, Final, Literal

from pydantic import Field

from permitry.port import (
    SHELLS,
    PayloadKind,
    ToolError,
    ToolLimits,
    ToolRegistry,
    current_cancellation,
    reporter_here,
    with_check,
)
from permitry_tools._kept import Kept
from permitry_tools._output import Piece
from permitry_tools._process import ProcessGroup, default_shell, folder_of, launch
from permitry_tools._reading import ReadMemory
from permitry_tools._spec import ROLES, RUNS, Arguments, fit, spec, tool
from permitry_tools.patch import Patching
from permitry_tools.shell.codex import exit_code
from permitry_tools.shell.patching import apply_patch_in, check_patch, check_patch_in, patch_preview
from permitry_tools.shell.terminal import TerminalGroup
from permitry_tools.workspace import Workspace

__all__ = ["FORMS", "register"]

FORMS: Final = ("exec_command", "unified_exec")
"""The forms in which sessions are offered: two tools, one to start and one to type, or one for both."""

_MOST_SESSIONS = 64
_KEEP = 512 * 1024
_SHELL_FOLDERS = ("/bin", "/usr/bin")
_CHARS_PER_TOKEN = 4
_MOST_TOKENS = 10_000
_LEAST_WAIT, _LONGEST_WAIT, _LONGEST_POLL = 250, 30_000, 300_000
_KINDS = (PayloadKind.FUNCTION, PayloadKind.UNIFIED_EXEC)
_LIMIT = _MOST_TOKENS * _CHARS_PER_TOKEN + 1_000
_LONGEST_NUMBER = 10
_WAIT_TYPED, _WAIT_POLLED = 250, 5_000


class ExecCommand(Arguments):
    """The arguments of `exec_command`."""

    cmd: str = Field(min_length=1, description="The command, as for `bash -c`.")
    workdir: str | None = Field(None, description="The folder it starts in, relative to the workspace.")
    shell: str | None = Field(None, description="The shell: bash, sh or zsh; bash if absent.")
    login: bool = Field(False, description="Whether the shell reads the profile of the user first.")
    tty: bool = Field(False, description="Whether it gets a terminal, and can be typed into with write_stdin.")
    yield_time_ms: int = Field(
        10_000, ge=_LEAST_WAIT, le=_LONGEST_WAIT, description="Milliseconds to wait for its end before answering."
    )
    max_output_tokens: int = Field(_MOST_TOKENS, ge=1, le=_MOST_TOKENS, description="How much output to show.")
    sandbox_permissions: Literal["use_default"] = Field("use_default", description="There is no sandbox to leave.")
    justification: str | None = Field(None, description="Why this is to be run, for the human who is asked.")


class WriteStdin(Arguments):
    """The arguments of `write_stdin`."""

    session_id: int = Field(description="The session that `exec_command` answered.")
    chars: str = Field("", description="What to type, as it is; leave it out to only look at new output.")
    yield_time_ms: int | None = Field(
        None, ge=_LEAST_WAIT, le=_LONGEST_POLL, description="Milliseconds to wait for its end before answering."
    )
    max_output_tokens: int = Field(_MOST_TOKENS, ge=1, le=_MOST_TOKENS, description="How much output to show.")


class UnifiedExec(Arguments):
    """The arguments of `unified_exec`, as a model gives them."""

    input: list[str] | str = Field(
        description="Without session_id what to start: a program and its arguments, or a text as for `bash -c`. "
        "With session_id what to type, as it is; a list is joined. Empty: only look at new output."
    )
    session_id: int | str | None = Field(None, description="The session to type into; leave it out to start one.")
    timeout_ms: int | None = Field(
        None, ge=_LEAST_WAIT, le=_LONGEST_WAIT, description="Milliseconds to wait for its end before answering."
    )
    tty: bool = Field(True, description="Whether what is started gets a terminal, and can be typed into.")


def register(
    registry: ToolRegistry,
    workspace: Workspace,
    memory: ReadMemory | None = None,
    *,
    forms: Iterable[str] = ("exec_command",),
) -> None:
    """Add tools on sessions to `registry`, in each of `forms`; all have the same sessions, killed when it is closed.

    `memory` holds what the model knows of files: a command that only applies a patch is done by `apply_patch`.
    """
    tools = _Sessions(workspace, memory)
    registry.closing(tools.kept.close)
    chosen = tuple(forms)
    if "exec_command" in chosen:
        _register_two(registry, tools)
    if "unified_exec" in chosen:
        _register_one(registry, tools)


def _register_one(registry: ToolRegistry, tools: "_Sessions") -> None:
    registry.register(
        spec(
            "unified_exec", "Start a command as a session, type into one, or look at its new output.", UnifiedExec,
            RUNS,
            # The names are those of the form that rules see. What gives no `action` is in no such form.
            roles={
                "action": ROLES.TEXT, "cmd?": ROLES.COMMAND, "tty?": ROLES.TEXT, "chars?": ROLES.INPUT,
                "session_id?": ROLES.TEXT,
            },
            timeout=_LONGEST_WAIT / 1000 + 30, output_limit=_LIMIT, kinds=_KINDS, applies_patches=True,
        ),
        with_check(tools.unified_exec, _action_of, canonical=_with_action),
        preview=patch_preview(tools.patching, "cmd", "workdir"),
    )  # fmt: skip


def _with_action(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `unified_exec` as those of `exec_command` or `write_stdin`, with which of them it is."""
    if "action" in given:
        return given
    arguments = fit(UnifiedExec, given)
    given_input, number = arguments.input, arguments.session_id
    if number is None and not given_input:
        raise ToolError("The arguments do not fit: `input` is empty, and there is no `session_id` to look at.")
    wait = {} if arguments.timeout_ms is None else {"yield_time_ms": arguments.timeout_ms}
    if number is None:
        command = given_input if isinstance(given_input, str) else shlex.join(given_input)
        return {"action": "start", "cmd": command, "tty": arguments.tty, **wait}
    if isinstance(number, str) and not (number.isascii() and number.isdigit() and len(number) < _LONGEST_NUMBER):
        raise ToolError(f"Unknown process id {number}")
    typed = "".join(given_input)
    return {"action": "type", "session_id": int(number), **({"chars": typed} if typed else {}), **wait}


def _action_of(given: dict[str, Any]) -> ExecCommand | WriteStdin:
    if "action" not in given:
        _with_action(given)
        raise ToolError("The arguments do not fit: the call was not read as a start or as typing.")
    rest = {name: value for name, value in given.items() if name != "action"}
    match given["action"]:
        case "start":
            check_patch_in(rest.get("cmd"))
            return fit(ExecCommand, rest)
        case "type":
            return fit(WriteStdin, rest)
        case other:
            raise ToolError(f"The arguments do not fit: `action` is start or type, not {other!r}.")


def _register_two(registry: ToolRegistry, tools: "_Sessions") -> None:
    # `shell` and `login` have no role: they change what a command does, so a call with one is asked about. A terminal
    # does not: what is typed there is asked about when it is typed.
    tool(
        registry, ExecCommand, "Run a command in the workspace; a long one goes on as a session.", RUNS,
        check_patch("cmd"), _check_shell,
        roles={"cmd": ROLES.COMMAND, "workdir": ROLES.FOLDER, "sandbox_permissions": ROLES.TEXT, "tty": ROLES.TEXT},
        timeout=_LONGEST_WAIT / 1000 + 30, output_limit=_LIMIT, kinds=_KINDS, applies_patches=True,
        preview=patch_preview(tools.patching, "cmd", "workdir"),
    )(tools.exec_command)  # fmt: skip
    tool(
        registry, WriteStdin, "Type into a session, or look at its new output.", RUNS,
        roles={"chars?": ROLES.INPUT, "session_id": ROLES.TEXT},
        timeout=_LONGEST_POLL / 1000 + 10, output_limit=_LIMIT, kinds=_KINDS,
        # The session is at work with or without this call; other tools need not wait while it is looked at.
        limits=ToolLimits(resource=None),
    )(tools.write_stdin)  # fmt: skip


class _Session:
    """A command and the output of it that was not shown yet."""

    def __init__(self, group: ProcessGroup) -> None:
        self.group = group
        self._lock = threading.Lock()

    def kill(self) -> None:
        self.group.kill()

    def take(self) -> Piece:
        with self._lock:
            (capture,) = self.group.captures
            if self.group.ended.is_set():
                capture.finish()
            return capture.output.take()


class _Sessions:
    """The sessions of one registry, and the two tools on them."""

    def __init__(self, workspace: Workspace, memory: ReadMemory | None = None) -> None:
        full = f"There are {_MOST_SESSIONS} sessions; end one, or look at the output of those that ended."
        self.kept: Kept[_Session] = Kept(_MOST_SESSIONS, full)
        self._workspace = workspace
        self.patching = Patching(workspace, memory)

    def exec_command(self, arguments: ExecCommand) -> tuple[bool, str]:
        argv = [_shell_named(arguments.shell), "-lc" if arguments.login else "-c", arguments.cmd]
        folder = folder_of(self._workspace, arguments.workdir)
        result = apply_patch_in(arguments.cmd, folder, self.patching)
        if result is not None:
            return True, result
        group = (
            TerminalGroup(argv, folder, keep=_KEEP)
            if arguments.tty
            else ProcessGroup(argv, folder, is_merged=True, keep=_KEEP)
        )
        session = _Session(group)
        number = self.kept.add(session)
        begun = time.monotonic()
        try:
            with launch(group):
                group.ended.wait(arguments.yield_time_ms / 1000)
                return self._answer(number, session, arguments.max_output_tokens, since=begun)
        except BaseException:
            self.kept.drop(number)
            raise

    def write_stdin(self, arguments: WriteStdin) -> tuple[bool, str]:
        session = self.kept.get(arguments.session_id)
        if session is None:
            raise ToolError(f"Unknown process id {arguments.session_id}")
        begun = time.monotonic()
        session.group.report_to(reporter_here())
        with current_cancellation().calling(session.kill):
            wait = _WAIT_POLLED
            if arguments.chars:
                _type(session.group, arguments.chars)
                wait = _WAIT_TYPED
            session.group.ended.wait((arguments.yield_time_ms or wait) / 1000)
            return self._answer(arguments.session_id, session, arguments.max_output_tokens, since=begun)

    def unified_exec(self, given: dict[str, Any]) -> tuple[bool, str]:
        arguments = _action_of(given)
        return self.exec_command(arguments) if isinstance(arguments, ExecCommand) else self.write_stdin(arguments)

    def _answer(self, number: int, session: _Session, most_tokens: int, *, since: float) -> tuple[bool, str]:
        seconds = time.monotonic() - since
        # Asked before its output is taken: what ends in between is reported next time, with the rest of it.
        code = session.group.code
        output = session.take()
        if code is None:
            state = f"Process running with session ID {number}"
        else:
            self.kept.drop(number)
            state = f"Process exited with code {exit_code(code)}"
        lines = [
            f"Chunk ID: {secrets.token_hex(3)}",
            f"Wall time: {seconds:.4f} seconds",
            state,
            f"Original token count: {-(-output.length // _CHARS_PER_TOKEN)}",
            f"Output:\n{output.shown(most_tokens * _CHARS_PER_TOKEN, reporter_here())}",
        ]
        return code in (None, 0), "\n".join(lines)


def _type(group: ProcessGroup, text: str) -> None:
    if not isinstance(group, TerminalGroup):
        raise ToolError("stdin is closed for this session; rerun exec_command with tty=true to keep stdin open")
    group.write(text)


def _check_shell(arguments: dict[str, Any]) -> None:
    """Accept a shell whose name can be that of one; whether it is installed is for the run to see."""
    name = arguments.get("shell")
    if isinstance(name, str) and name.rpartition("/")[2] not in SHELLS:
        raise _unusable(name)


def _shell_named(name: str | None) -> str:
    """Return the path of a shell that reads the syntax that was decided on; elsewhere such a name may be anything."""
    if name is None:
        return default_shell()
    folder, _, base = name.rpartition("/")
    found = shutil.which(base) if base in SHELLS else None
    if found is not None and (name in (base, found) or folder in _SHELL_FOLDERS):
        return name if folder else found
    raise _unusable(name)


def _unusable(name: str) -> ToolError:
    return ToolError(f"`{name}` is not a shell that can be used here; leave `shell` out, or name bash, sh or zsh.")
