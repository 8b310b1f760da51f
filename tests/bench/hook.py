"""How long a hook takes: the client with a resident, next to the hook in process and to a process that does nothing."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
from tests.bench.report import Report, Scale, Table, Tell

from permitry_hosts.hooks.install import hook_command

__all__ = ["run"]

_TEXT = """\
A payload of Claude Code through the command that `permitry hook install` writes, whole processes from start to end, in
turns. The first call decides in process and starts the resident, the next ones are the client alone. The decision is on
the record, which is written to the disk, before the reply. `python -I -c pass` is run with the same environment."""
_AT_ONCE = 12
_SECONDS = 30
_GONE = 11
_BARE = "python -I -c pass"
_CLIENT = "the client, with a resident"
_ALONE = "the hook in process"


@attrs.frozen
class _User:
    """A user with an empty home folder."""

    home: str

    @property
    def words(self) -> list[str]:
        """The installed command; of another home folder than that of who measures."""
        before = dict(os.environ)
        try:
            os.environ.update(self.environ)
            return hook_command("claude-code", (), _SECONDS)
        finally:
            os.environ.clear()
            os.environ.update(before)

    @property
    def environ(self) -> dict[str, str]:
        """The environment of all processes."""
        return {"HOME": self.home, "PATH": os.environ["PATH"]} | {
            f"XDG_{name}_HOME": f"{self.home}/{below}"
            for name, below in (("CONFIG", ".config"), ("STATE", ".local/state"), ("CACHE", ".cache"))
        }

    @property
    def folder(self) -> Path:
        """Where the resident listens."""
        return Path(self.home, ".local/state/permitry/resident")

    def payload(self, command: str, session: int = 0) -> str:
        """Return what Claude Code sends before it runs a command."""
        return json.dumps(
            {
                "session_id": f"s{session}", "transcript_path": "/t", "cwd": self.home, "permission_mode": "default",
                "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command},
            }
        )  # fmt: skip

    def took(self, words: Sequence[str], payload: str, **more: str) -> tuple[float, str]:
        """Return how long a process takes, and what it prints; it must end well."""
        begin = time.perf_counter()
        done = subprocess.run(
            words, input=payload, check=True, capture_output=True, text=True, env=self.environ | more, cwd=self.home
        )
        return time.perf_counter() - begin, done.stdout


def run(scale: Scale, tell: Tell) -> Report:
    """Return what hooks take."""
    with tempfile.TemporaryDirectory() as folder:
        user = _User(folder)
        words, found = user.words, dict[str, list[float]]()
        tell("hook: the first calls")
        cold = _cold(user, words)
        first, _ = user.took(words, user.payload("make"))
        wrong = [] if "client.py" in " ".join(words) and _is_there(user) else ["hook: there is no resident"]
        for turn in range(scale.processes + 2):
            tell(f"hook: turn {turn} of {scale.processes}")
            for name, seconds, is_right in _turn(user, words, turn):
                if not is_right:
                    wrong = ["hook: an answer is not as it should be"]
                # The workers have to read the rules once.
                if turn > 1:
                    found.setdefault(name, []).append(seconds)
        together = [_together(user, words) for _ in range(3)]
        _end(user)
    middle = {name: sorted(times)[len(times) // 2] for name, times in found.items()}
    rows = [(name, f"{seconds / middle[_BARE]:.2f}x") for name, seconds in middle.items() if name != _BARE]
    rows.append(("the first call, which starts the resident", f"{first / middle[_BARE]:.2f}x"))
    return Report(
        "Hooks",
        (Table(f"How many times as long as `{_BARE}` (medians):", ("process", "times bare"), tuple(rows)),),
        (_figures(found, first, {"": together, ", the first ones": cold}),),
        text=_TEXT,
        facts={"hook-ratio": middle[_CLIENT] / middle[_BARE], "hook-at-once": min(together), "hook-cold": min(cold)},
        wrong=tuple(wrong),
    )


def _turn(user: _User, words: Sequence[str], turn: int) -> Iterator[tuple[str, float, bool]]:
    seconds, _ = user.took([sys.executable, "-I", "-c", "pass"], "")
    yield _BARE, seconds, True
    seconds, said = user.took(words, user.payload("make", turn))
    yield _CLIENT, seconds, not said
    seconds, said = user.took(words, user.payload("git push", turn))
    yield f"{_CLIENT}, a call that is blocked", seconds, "deny" in said
    seconds, said = user.took(words, user.payload("make", turn), PERMITRY_NO_RESIDENT="1")
    yield _ALONE, seconds, not said


def _is_there(user: _User) -> bool:
    """Return whether the resident is there, within some seconds."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if any(each.is_socket() for each in user.folder.glob("*")):
            return True
        time.sleep(0.05)
    return False


def _together(user: _User, words: Sequence[str]) -> float:
    """Return how long twelve take that are started at once."""
    begin = time.perf_counter()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda number: user.took(words, user.payload("make", number)), range(_AT_ONCE)))
    return time.perf_counter() - begin


def _cold(user: _User, words: Sequence[str]) -> list[float]:
    """Return how long twelve take, three times, that are started at once where no resident is."""
    user.folder.mkdir(mode=0o700, parents=True)
    times = []
    for _ in range(3):
        times.append(_together(user, words))
        _end(user)
        # The old resident sees that within ten seconds, and only then is there a new one.
        time.sleep(_GONE)
    return times


def _end(user: _User) -> None:
    """Let the resident end: without its socket it does."""
    for each in user.folder.glob("*"):
        each.unlink()


def _figures(found: Mapping[str, Sequence[float]], first: float, together: Mapping[str, Sequence[float]]) -> Table:
    rows = [("the first call", f"{first * 1000:.0f}", "")]
    for name, times in found.items():
        rows.append((name, f"{min(times) * 1000:.1f}", f"{sorted(times)[len(times) // 2] * 1000:.1f}"))
    for when, times in together.items():
        rows.append((f"{_AT_ONCE} at once{when}, all of them", f"{min(times) * 1000:.0f}", f"{max(times) * 1000:.0f}"))
    return Table(
        "ms for a whole process (of those at once: best and worst):", ("process", "best", "median"), tuple(rows)
    )
