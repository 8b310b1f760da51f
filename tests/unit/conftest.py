"""What tests share: a call, decisions to ask about it, and a clock; a folder to write rule files in."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.channels.clock import Moment
from permitry.config.load import Origin, load_rules
from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Phase, Verdict
from permitry.errors import ConfigError, Problem


@pytest.fixture
def call() -> ToolCall:
    """Return a call that would write a file."""
    return ToolCall("write_file", {"path": "a.txt", "content": "hello"}, call_id="c1")


@pytest.fixture
def unruled() -> Decision:
    """Return the decision to ask because no rule matched."""
    return Decision(Verdict.CONFIRM, None, Phase.DEFAULT, "no rule matched")


@pytest.fixture
def restricted() -> Decision:
    """Return the decision to ask because a restriction wants it."""
    return Decision(Verdict.CONFIRM, "night", Phase.RESTRICTION, "nobody watches at night")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[Moment]:
    """Return the time, which the test sets."""
    now = [Moment(1_000.0, "boot", 50.0)]
    monkeypatch.setattr(Moment, "now", lambda: now[0])
    return now


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current directory, which holds a folder named `folder` and a FIFO named `pipe`."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(folder: Path) -> Callable[[str, str], Origin]:
    """Return a function that writes a rule file under a relative name and returns its origin."""

    def written(name: str, text: str) -> Origin:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return Origin(name)

    return written


@pytest.fixture
def problems_of(write: Callable[[str, str], Origin]) -> Callable[[str], tuple[Problem, ...]]:
    """Return a function that loads a text as `rules.toml` and returns the problems found, none when it loads."""

    def found(text: str) -> tuple[Problem, ...]:
        try:
            load_rules([write("rules.toml", text)])
        except ConfigError as error:
            return error.problems
        return ()

    return found
