"""How long a process takes that only imports permitry, or checks one call, next to one that does nothing."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs
from tests.bench.peers.everyone import absent, installed
from tests.bench.report import Report, Scale, Table, Tell

__all__ = ["run"]

_BARE = "bare Python"
_TEXT = """\
Whole processes from start to end, in turns, the same interpreter for all: the best time and the median of several.
`permitry check` decides one call with the shipped set `coding-agent`; for the shell command it loads the
readers of commands, too. It ran before, so whatever it keeps on disk is warm. For comparison, what it takes to import
the other engines."""


@attrs.frozen
class _Process:
    """A process to time: its words, and what must stand in its output."""

    words: tuple[str, ...]
    wanted: str = ""


def run(scale: Scale, tell: Tell) -> Report:
    """Return what processes take."""
    processes = dict(_processes())
    found: dict[str, list[float]] = {name: [] for name in processes}
    wrong: dict[str, None] = {}
    with tempfile.TemporaryDirectory() as folder:
        # Only at the usual places below the home folder something is kept.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG")}
        environment["HOME"] = folder
        for turn in range(scale.processes + 1):
            tell(f"start-up: turn {turn} of {scale.processes}")
            for name, process in processes.items():
                seconds, is_right = _timed(process, environment, folder)
                if not is_right:
                    wrong[f"start-up: {name} does not end as it should"] = None
                if turn:
                    found[name].append(seconds)
    best = {name: min(times) for name, times in found.items()}
    return Report(
        "Start-up",
        (_ratios(best),),
        (_figures(found),),
        text=_TEXT,
        facts={
            "import-ratio": best["import permitry"] / best[_BARE],
            "check-ratio": best["permitry check, a file read"] / best[_BARE],
            "check-shell-ratio": best["permitry check, a shell command"] / best[_BARE],
        },
        wrong=tuple(wrong),
    )


def _processes() -> Iterator[tuple[str, _Process]]:
    yield _BARE, _Process((sys.executable, "-c", "pass"))
    yield "import permitry", _Process((sys.executable, "-c", "import permitry"))
    used = "import permitry; permitry.AuthorizationPolicy; permitry.ToolCall; permitry.AuthContext"
    yield "import permitry, and what a decision needs", _Process((sys.executable, "-c", used))
    read = {"name": "read_file", "arguments": {"path": "notes.txt"}}
    yield "permitry check, a file read", _check(read)
    shell = {"name": "run_shell", "arguments": {"command": "git status --short | head -3"}}
    yield "permitry check, a shell command", _check(shell)
    for engine in installed():
        if engine.module and engine.name != "permitry":
            yield f"import {engine.module}", _Process((sys.executable, "-c", f"import {engine.module}"))


def _check(call: Mapping[str, object]) -> _Process:
    script = Path(sys.executable).with_name("permitry")
    program = (str(script),) if script.exists() else (sys.executable, "-m", "permitry")
    return _Process((*program, "check", "--rules", "permitry:coding-agent", "--call", json.dumps(call)), "allow")


def _timed(process: _Process, environment: Mapping[str, str], folder: str) -> tuple[float, bool]:
    begin = time.perf_counter()
    done = subprocess.run(process.words, check=False, capture_output=True, text=True, env=environment, cwd=folder)
    seconds = time.perf_counter() - begin
    return seconds, done.returncode == 0 and done.stdout.startswith(process.wanted)


def _ratios(best: Mapping[str, float]) -> Table:
    rows: list[tuple[str, str]] = [
        (name, f"{seconds / best[_BARE]:.1f}x") for name, seconds in best.items() if name != _BARE
    ]
    rows += [(one.name, one.reason) for one in absent()]
    return Table(
        "How many times as long as `python -c pass` (the best of each):", ("process", "times bare"), tuple(rows)
    )


def _figures(found: Mapping[str, Sequence[float]]) -> Table:
    rows = []
    for name, times in found.items():
        middle = sorted(times)[len(times) // 2]
        rows.append((name, f"{min(times) * 1000:.1f}", f"{middle * 1000:.1f}"))
    return Table("ms for a whole process:", ("process", "best", "median"), tuple(rows))
