"""Processes that tools run: each leads a session of its own, is read in threads, and is killed with all it started."""

import codecs
import contextlib
import os
import re
import select
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

import attrs

from permitry.port import Reporter, ToolError, current_cancellation, reporter_here
from permitry_tools._descendants import kill_all_of, process_of
from permitry_tools._output import Output, Piece
from permitry_tools.workspace import Workspace

if TYPE_CHECKING:
    import psutil

__all__ = ["KEEP", "Capture", "Ended", "ProcessGroup", "default_shell", "folder_of", "launch", "run_group"]

KEEP = 64 * 1024
_GRACE = 2.0
_COUNT = re.compile(r"[0-9]{1,4}")


def default_shell() -> str:
    """Return the path of bash, or `/bin/sh` where there is none."""
    return shutil.which("bash") or "/bin/sh"


def folder_of(workspace: Workspace, workdir: str | None) -> Path:
    """Return the folder of the workspace a command is to start in; without `workdir` the root.

    Raises: `ToolError` when that is outside, or no folder.
    """
    if not workdir:
        return workspace.root
    folder = workspace.root / workspace.locate(workdir)
    if not folder.is_dir():
        raise ToolError(f"There is no folder `{workdir}`; name one of the workspace, or leave `workdir` out.")
    return folder


class ProcessGroup(threading.Thread):
    """A command with all that it starts: what is left of it when it ends is killed.

    It is started in a thread of its own. A signal interrupts the main thread alone, and may come at any moment, also
    while the command is being started: so a caller that is interrupted can wait here until there is a process to kill.
    `ended` is set once it is over. With `is_merged` there is one capture for both outputs, otherwise two; `keep` is how
    many characters of the beginning and of the end each has in memory. What it writes is reported as the output of the
    call in which it was made.
    """

    def __init__(self, argv: Sequence[str], folder: Path, *, is_merged: bool = False, keep: int | None = None) -> None:
        super().__init__(daemon=True)
        self.argv = list(argv)
        self.folder = folder
        self.ended = threading.Event()
        self.captures: list[Capture] = []
        self.keep = KEEP if keep is None else keep
        self._reporter = reporter_here()
        self._is_merged = is_merged
        self._process: subprocess.Popen[bytes] | None = None
        self._tree: psutil.Process | None = None
        self._error: Exception | None = None
        # Not `join`: interrupted once, it takes the thread for ended.
        self._is_settled = threading.Event()
        self._has_begun = False
        self._is_unwanted = False
        self._is_over = False
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the command.

        Raises: `ToolError` when it was killed before.
        """
        self._has_begun = True
        if self._is_unwanted:
            raise ToolError("The command was ended before it was started.")
        super().start()

    def run(self) -> None:
        try:
            self._process = self.spawn()
            self._tree = process_of(self._process.pid)
        except (OSError, ValueError) as error:
            self._error = error
            self.ended.set()
            return
        finally:
            self._is_settled.set()
        if self._is_unwanted:
            self._end(self._process)
        self._process.wait()
        with self._lock:
            kill_all_of(self._process.pid, self._tree)
            # INVARIANT: from here on its number may belong to another process, and is not killed any more.
            self._is_over = True
        self.ended.set()

    def spawn(self) -> "subprocess.Popen[bytes]":
        """Return the process, newly started, and have its output captured."""
        stderr = subprocess.STDOUT if self._is_merged else subprocess.PIPE
        process = self.popen(subprocess.DEVNULL, subprocess.PIPE, stderr)
        pipes = (pipe for pipe in (process.stdout, process.stderr) if pipe is not None)
        self.captures = [Capture(pipe, self.new_output()) for pipe in pipes]
        return process

    def new_output(self) -> Output:
        """Return where a stream of it goes."""
        return Output(self.keep, self._reporter)

    def report_to(self, reporter: Reporter | None) -> None:
        """Have what it writes from now on reported, and kept, as output of another call."""
        self._reporter = reporter
        for capture in self.captures:
            capture.output.reporter = reporter

    def popen(self, stdin: int, stdout: int, stderr: int) -> "subprocess.Popen[bytes]":
        """Return the process on these streams, in a session of its own."""
        env = _environment(os.environ)
        return subprocess.Popen(  # noqa: S603 -- running commands is the purpose of these tools; the policy decides which
            self.argv, cwd=self.folder, env=env, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
        )

    def started(self) -> "subprocess.Popen[bytes]":
        """Return the process.

        Raises: `ToolError` when it cannot be started.
        """
        self._is_settled.wait()
        if self._process is None:
            raise ToolError(f"The command cannot be started: {self._error}.") from self._error
        return self._process

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; None until it is over."""
        return self._process.returncode if self._process is not None and self.ended.is_set() else None

    def kill(self) -> None:
        """End the command and all that it started, also if it is just being started; safe to call again."""
        self._is_unwanted = True
        if self._has_begun and self._is_settled.wait(_GRACE) and self._process is not None:
            self._end(self._process)
            self.ended.wait(_GRACE)

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        with self._lock:
            if not self._is_over:
                kill_all_of(process.pid, self._tree)


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command: nothing waits for a human, and git trusts and fetches nothing unasked.

    A folder with the files `HEAD`, `config`, `objects` and `refs` is a bare repository to git, which runs the commands
    that its `config` names: with such files a harmless `git status` would run what their writer wants.
    In a partial clone `git show` connects for what is missing, by a program that `config` may name.
    """
    count = given.get("GIT_CONFIG_COUNT", "")
    at = int(count) if _COUNT.fullmatch(count) else 0
    return {
        **given, "GIT_TERMINAL_PROMPT": "0", "PAGER": "cat", "GIT_PAGER": "cat", "TERM": "dumb",
        "GIT_NO_LAZY_FETCH": "1",
        # Of several values git takes the last one.
        "GIT_CONFIG_COUNT": str(at + 1),
        f"GIT_CONFIG_KEY_{at}": "safe.bareRepository",
        f"GIT_CONFIG_VALUE_{at}": "explicit",
    }  # fmt: skip


class Capture:
    """Reads a pipe to its end in a thread, and adds what comes to an `Output`: any amount of it costs little."""

    def __init__(self, pipe: IO[bytes], output: Output) -> None:
        self.output = output
        self._pipe = pipe
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait until all is read; not for a process that left the session and may hold the pipe open for ever."""
        self._thread.join(_GRACE)
        self.output.end()

    def _read(self) -> None:
        # A character may come in two parts.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            with self._pipe as pipe:
                while chunk := _chunk(pipe.fileno()):
                    self.output.add(decoder.decode(chunk))
            if rest := decoder.decode(b"", final=True):
                self.output.add(rest)
        finally:
            # Also of a command that is killed and never looked at again.
            self.output.end()


def _chunk(file: int) -> bytes:
    """Return the next bytes of a pipe or terminal, or nothing at its end."""
    while True:
        try:
            return os.read(file, 65_536)
        except BlockingIOError:
            waiting = select.poll()
            waiting.register(file, select.POLLIN)
            waiting.poll()
        except OSError:
            # The end of a terminal: no process has its other side open.
            return b""


# Calls ---------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def launch(group: ProcessGroup) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a group for the call that runs here: cancelled, or left by an exception, it leaves no process behind.

    Raises: `ToolError` when the command cannot be started.
    """
    cancellation = current_cancellation()
    if cancellation.is_cancelled:
        raise ToolError("The call was cancelled before its command was started.")
    try:
        group.start()
        process = group.started()
        with cancellation.calling(group.kill):
            yield process
    except BaseException:
        group.kill()
        raise


@attrs.frozen
class Ended:
    """How a command ended: its exit code (None: it was killed), what it wrote, and in how many seconds."""

    code: int | None
    outputs: tuple[Piece, ...]
    seconds: float
    is_cancelled: bool = False


def run_group(group: ProcessGroup, timeout: float) -> Ended:
    """Run a group to its end, or for `timeout` seconds, and return how it ended; nothing of it is left running.

    Raises: `ToolError` when the command cannot be started.
    """
    begun = time.monotonic()
    try:
        with launch(group):
            has_ended = group.ended.wait(timeout)
    finally:
        group.kill()
    is_cancelled = current_cancellation().is_cancelled
    for capture in group.captures:
        capture.finish()
    outputs = tuple(capture.output.take() for capture in group.captures)
    code = group.code if has_ended and not is_cancelled else None
    return Ended(code, outputs, time.monotonic() - begun, is_cancelled)
