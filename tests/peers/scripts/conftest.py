"""A scratch folder in which real programs run scripts, and what the fuzzers of scripts share.

A miss is a call that permitry says only reads, and that wrote, created or deleted a file, started a
program, or opened a connection. Each call runs as an unprivileged user, with a processor second,
small files and little memory; the programs on its `PATH` are loggers that leave a file, and a
socket listens at the address that scripts may name.
"""

import os
import random
import re
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

import attrs
import pytest

from permitry.actions.command import Command
from permitry.actions.derive.unwrap import why_not_reading
from permitry.core.action import Word

NOBODY = 65534
BATCH = 50
FILES = {
    "in": 'a b c\n1 2 3\n/x/ > "y"\n\nw out\n',
    "in2": "1\n22\n",
    "d/f": "f\n",
    "-d": "x\n",
    "list": "in\0",
}
LOGGED = ("cat", "date", "echo", "id", "ls", "rm", "sort", "tee", "touch")
LIMITS = {
    resource.RLIMIT_CPU: 1,
    resource.RLIMIT_FSIZE: 1 << 20,
    resource.RLIMIT_AS: 1 << 29,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NPROC: 2000,
}
SIGNS = str.maketrans("␣␉␤", " \t\n")
SYMBOL = re.compile("«([a-z]+)»")

Call: TypeAlias = tuple[str, ...]
State: TypeAlias = dict[str, tuple[int, int, bytes]]
Make: TypeAlias = Callable[[random.Random], Call]
Judge: TypeAlias = Callable[[Call], bool]


# The sandbox -------------------------------------------------------------------------------------


@attrs.frozen
class Sandbox:
    """A scratch folder, the programs on its `PATH`, and a socket; `PORT` in a call is its port."""

    folder: Path
    listener: socket.socket

    @property
    def scratch(self) -> Path:
        """The folder in which calls run."""
        return self.folder / "scratch"

    def culprits(self, calls: Sequence[Call]) -> list[Call]:
        """Return the calls that did more than read."""
        if not calls or not self._does(calls):
            return []
        if len(calls) == 1:
            return list(calls)
        half = len(calls) // 2
        return self.culprits(calls[:half]) + self.culprits(calls[half:])

    def _does(self, calls: Sequence[Call]) -> bool:
        before = self._fresh()
        self._run(calls)
        return self._state() != before or self._is_called()

    def _fresh(self) -> State:
        shutil.rmtree(self.scratch, ignore_errors=True)
        for name, text in FILES.items():
            file = self.scratch / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for path in (self.scratch, *self.scratch.rglob("*")) if os.geteuid() == 0 else ():
            os.chown(path, NOBODY, NOBODY)
        return self._state()

    def _state(self) -> State:
        found = {}
        for path in self.scratch.rglob("*"):
            seen = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            found[str(path)] = (seen.st_mode, seen.st_mtime_ns, content)
        return found

    def _run(self, calls: Sequence[Call]) -> None:
        text = "".join(f"{shlex.join(call)} </dev/null >/dev/null 2>&1\n" for call in calls)
        user = NOBODY if os.geteuid() == 0 else None
        process = subprocess.Popen(
            ["/bin/sh"], cwd=self.scratch, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={"PATH": f"{self.folder}/bin", "LC_ALL": "C.UTF-8"},
            start_new_session=True, user=user, group=user,
            extra_groups=None if user is None else (),
            preexec_fn=_limit,  # noqa: PLW1509 -- these tests start no thread
        )  # fmt: skip
        try:
            port = str(self.listener.getsockname()[1])
            process.communicate(text.replace("PORT", port).encode(), timeout=5 + 2 * len(calls))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def _is_called(self) -> bool:
        try:
            self.listener.accept()[0].close()
        except BlockingIOError:
            return False
        return True


def _limit() -> None:
    for kind, most in LIMITS.items():
        resource.setrlimit(kind, (most, most))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """Return a scratch folder that an unprivileged user may reach; those of pytest are not."""
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as listener:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "bin").mkdir()
        for program in LOGGED:
            logger = folder / "bin" / program
            logger.write_text('#!/bin/sh\n: >"ran.$$"\n', encoding="utf-8")
            logger.chmod(0o755)
        listener.setblocking(False)
        yield Sandbox(folder, listener)


# Scripts -----------------------------------------------------------------------------------------


@attrs.frozen
class Grammar:
    """Prints random texts of a language.

    A line of `text` is a symbol, a colon, and what it may mean, between bars. `«x»` means
    one of the symbol `x`; `␣`, `␉` and `␤` for a blank, a tab and a new line. What is behind a
    symbol with `!` is chosen seldom: of `risk`.
    """

    text: str
    risk: float
    rules: dict[str, list[str]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        for line in self.text.strip().splitlines():
            symbol, _, choices = line.partition(":")
            texts = (choice.strip(" ").translate(SIGNS) for choice in choices.split("¦"))
            self.rules.setdefault(symbol, []).extend(texts)

    @rules.default
    def _no_rules(self) -> dict[str, list[str]]:
        return {}

    def grow(self, chance: random.Random, symbol: str, depth: int = 6) -> str:
        """Return a random text that a symbol means, seldom deeper than `depth`."""
        choices = self.rules[symbol]
        if f"{symbol}!" in self.rules and chance.random() < self.risk:
            choices = self.rules[f"{symbol}!"]
        if depth <= 0:
            least = min(choice.count("«") for choice in choices)
            choices = [choice for choice in choices if choice.count("«") == least]
        text = chance.choice(choices)
        return SYMBOL.sub(lambda found: self.grow(chance, found[1], depth - 1), text)

    def mutated(self, chance: random.Random, symbol: str) -> str:
        """Return a text with a few pieces put in, taken out, doubled, or another text behind it."""
        text = self.grow(chance, symbol)
        for _ in range(chance.choice((0, 0, 0, 1, 1, 2, 3))):
            at = chance.randint(0, len(text))
            end = min(len(text), at + chance.randint(1, 6))
            match chance.randrange(6):
                case 0 | 1 | 2:
                    text = text[:at] + self.grow(chance, "piece") + text[at:]
                case 3:
                    text = text[:at] + text[end:]
                case 4:
                    text = text[:end] + text[at:end] + text[end:]
                case 5:
                    other = self.grow(chance, symbol)
                    text = text[:at] + other[chance.randint(0, len(other)) :]
        return text


@pytest.fixture(scope="session")
def grammar() -> type[Grammar]:
    """Return the class of grammars."""
    return Grammar


def only_reads(call: Call) -> bool:
    """Return whether permitry says that a call only reads."""
    return why_not_reading(Command(tuple(map(Word, call)))) is None


class Fuzz(Protocol):
    """Runs random calls that permitry calls reading."""

    def __call__(
        self, programs: Mapping[str, Call], make: Make, count: int, judge: Judge = only_reads
    ) -> tuple[int, int]:
        """Return how many of `count` calls are called reading, and how many were run; a miss fails.

        A call begins with the name that permitry knows; each of the programs runs it. Skips when
        none of them is installed.
        """
        ...


@pytest.fixture(scope="module")
def fuzz(sandbox: Sandbox) -> Fuzz:
    """Return a function that compares random calls with what programs do."""

    def run(programs: Mapping[str, Call], make: Make, count: int, judge: Judge = only_reads) -> tuple[int, int]:
        installed = [program for program in programs.values() if Path(program[0]).exists()]
        if not installed:
            pytest.skip("none of the programs is installed")
        chance = random.Random(20261122 + count)  # noqa: S311 -- a seed for tests
        reading = [call for call in (make(chance) for _ in range(count)) if judge(call)]
        runs = [(*program, *call[1:]) for call in reading for program in installed]
        for at in range(0, len(runs), BATCH):
            missed = sandbox.culprits(runs[at : at + BATCH])
            assert not missed, missed
        return len(reading), len(runs)

    return run


@pytest.fixture(scope="module")
def is_seen(sandbox: Sandbox) -> Callable[[Call], bool]:
    """Return a function that says whether the sandbox sees a call do more than read."""

    def run(call: Call) -> bool:
        if not Path(call[0]).exists():
            pytest.skip(f"{call[0]} is not installed")
        return bool(sandbox.culprits([call]))

    return run
