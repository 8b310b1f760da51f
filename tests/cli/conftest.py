"""The program in three forms: called in process, as a process of its own, and behind a terminal with a human."""

import errno
import fcntl
import io
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import pytest

from permitry.cli.main import main

Outcome: TypeAlias = tuple[int, str, str]

_PATIENCE = 20.0
_PROGRAM = ("-m", "permitry")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that means the user's home, and make the environment a plain one."""
    folder = tmp_path / "home"
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
        monkeypatch.setenv(name, str(folder))
    # Unbuffered output, as some machines have it everywhere, would hide a line that is not flushed.
    for name in ("PYTHONUNBUFFERED", "NO_COLOR", "FORCE_COLOR", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TERM", "xterm-256color")
    return folder


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Return a function that runs one command in process: exit code, standard output, standard error."""

    def run(*words: object, stdin: str | bytes = b"") -> Outcome:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as end:
            code = int(end.code or 0)
        reported = capsys.readouterr()
        return code, reported.out, reported.err

    return run


@pytest.fixture
def asked() -> Callable[..., str]:
    """Return a function that writes one call as a line of `permitry check`."""

    def line(name: str, arguments: Mapping[str, object] | None = None, **rest: object) -> str:
        usual = {"path": "notes.txt"} if name in ("read_file", "write_file") else {}
        return json.dumps({"name": name, "arguments": dict(usual if arguments is None else arguments), **rest})

    return line


@pytest.fixture
def objects() -> Callable[[str], list[dict[str, Any]]]:
    """Return a function that reads JSON lines; anything else in the text fails."""

    def read(text: str) -> list[dict[str, Any]]:
        return [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]

    return read


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return an empty folder to work in."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Return the path of the record, which does not exist yet."""
    return tmp_path / "record.jsonl"


@pytest.fixture
def guarding(workspace: Path, record: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the words that start a session in the workspace under the shipped rules, in process without a human."""
    monkeypatch.setattr("permitry.cli.prompt.open_terminal", lambda: None)
    places = ["--workspace", str(workspace), "--record", str(record)]
    return ["run", "-", "--rules", "permitry:coding-agent", *places]


@pytest.fixture
def recorded(record: Path) -> Callable[[], list[dict[str, Any]]]:
    """Return a function that reads the record as it is now; an unfinished last line is left out."""

    def read() -> list[dict[str, Any]]:
        return [json.loads(line) for line in record.read_text().split("\n")[:-1]]

    return read


def _heed_signals() -> None:
    # `nohup`, or a shell that starts the tests in the background, has them ignored.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def processes() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Return a function that starts the program with three pipes; what still runs at the end is killed."""
    running: list[subprocess.Popen[bytes]] = []

    def start(*words: object, launcher: Sequence[str] = _PROGRAM, **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 -- Popen's own options
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        line = [sys.executable, *launcher, *map(str, words)]
        options = {**pipes, "preexec_fn": _heed_signals, **options}
        process = subprocess.Popen(line, **options)
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def say() -> Callable[[subprocess.Popen[bytes], str], str]:
    """Return a function that sends a line to an unbuffered process, and returns the line it answers before the next."""

    def said(process: subprocess.Popen[bytes], line: str) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{line}\n".encode())
        if not select.select([process.stdout], [], [], _PATIENCE)[0]:
            pytest.fail(f"no answer to {line}")
        return process.stdout.readline().decode()

    return said


class _Keyboard(io.RawIOBase):
    """What was typed, a line a time as terminals give it."""

    def __init__(self, typed: str) -> None:
        self.lines = typed.encode().splitlines(keepends=True)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 -- whatever a reader brings to be filled
        line = self.lines.pop(0) if self.lines else b""
        buffer[: len(line)] = line
        return len(line)


@pytest.fixture
def typing() -> Callable[[str], tuple[TextIO, Callable[[], str]]]:
    """Return a function that makes a terminal at which `typed` is typed; the second result tells what it shows."""

    def made(typed: str) -> tuple[TextIO, Callable[[], str]]:
        shown = io.BytesIO()
        both: Any = io.BufferedRWPair(_Keyboard(typed), shown)
        terminal = io.TextIOWrapper(both, encoding="utf-8")

        def text() -> str:
            terminal.flush()
            return shown.getvalue().decode()

        return terminal, text

    return made


class _Human:
    """Someone at a terminal, who waits for a text to appear and then types."""

    def __init__(self, terminal: int) -> None:
        self.terminal = terminal
        self.seen = b""

    def answer(self, prompt: str, text: str) -> None:
        """Wait for `prompt` among what is new, and type `text`."""
        known, end = len(self.seen), time.monotonic() + _PATIENCE
        while prompt.encode() not in self.seen[known:]:
            if not self.look(end - time.monotonic()):
                pytest.fail(f"{prompt!r} did not appear; seen: {self.seen!r}")
        os.write(self.terminal, text.encode())

    def look(self, patience: float) -> bool:
        """Read what comes within `patience` seconds; False when nothing comes or the program is gone."""
        if not select.select([self.terminal], [], [], max(patience, 0))[0]:
            return False
        try:
            read = os.read(self.terminal, 65_536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            # A terminal that no program has open any more says so with an error.
            return False
        self.seen += read
        return bool(read)


@pytest.fixture
def at_terminal(
    processes: Callable[..., subprocess.Popen[bytes]], warm_program: Path
) -> Iterator[Callable[..., tuple[int, str, str, str]]]:
    """Return a function that runs the program with a human at its terminal.

    `dialogue` holds prompts to wait for and what is typed then. Returned are exit code, standard output, standard
    error, and what was on the terminal.
    """
    opened: list[int] = []

    def run(words: Sequence[object], *dialogue: tuple[str, str], session: bytes = b"") -> tuple[int, str, str, str]:
        master, slave = pty.openpty()
        opened.append(master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
        environment = {**os.environ, "PERMITRY_TEST_TERMINAL": str(slave)}
        process = processes(*words, launcher=("-IS", str(warm_program)), env=environment, pass_fds=(slave,))
        os.close(slave)
        human = _Human(master)
        assert process.stdin is not None
        process.stdin.write(session)
        process.stdin.close()
        process.stdin = None
        for prompt, text in dialogue:
            human.answer(prompt, text)
        while human.look(_PATIENCE):
            pass
        out, err = process.communicate(timeout=_PATIENCE)
        return process.returncode, out.decode(), err.decode(), human.seen.decode()

    yield run
    for descriptor in opened:
        os.close(descriptor)
