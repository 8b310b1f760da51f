"""How often one is asked behind Claude Code's hook, with what `permitry setup` writes, and without permitry.

What Claude Code asks about by itself was seen with the real program, for each of the everyday commands;
`tests/hosts/test_setup.py` looks again at some of them.
"""

import json
import re
from collections import Counter
from collections.abc import Container, Sequence
from pathlib import Path

import pytest

from permitry.config.layers import find_layers
from permitry.config.load import load_rules
from permitry.config.starter import kinds_of, starter_text
from permitry.config.trust import TrustStore
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase
from permitry_hosts.hooks.own_files import own_rules
from permitry_hosts.hooks.policies import Policies

_HERE = Path(__file__).parent
_PAGE = _HERE.parents[1] / "docs/start.md"
COMMANDS: list[str] = [
    json.loads(line)["command"] for line in (_HERE / "ordinary_commands.jsonl").read_text(encoding="utf-8").splitlines()
]
_SEEN = json.loads((_HERE / "claude_code_unasked.json").read_text(encoding="utf-8"))
UNASKED = frozenset(_SEEN["unasked"])
"""What Claude Code runs without a question, and without permitry."""

_PUBLISHED = _HERE.parents[2] / "shared/cases/nl2bash.txt"
_PYTHON = ("pyproject.toml",)
_ALL = ("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "Makefile")
_SCRIPTS = '{"scripts": {"test": "", "lint": "", "build": ""}}'


def _figures(home: Path, commands: Sequence[str], unasked: Container[str], markers: Sequence[str]) -> list[int]:
    """Return how many commands Claude Code asks about, how many it does after a setup, and how many are blocked then.

    The setup is that of a project with these files.
    """
    project = home / "project"
    (project / ".permitry").mkdir(parents=True)
    for marker in markers:
        (project / marker).write_text(_SCRIPTS if marker == "package.json" else "")
    (project / ".permitry/rules.toml").write_text(starter_text("project", kinds_of(project), is_for_host=True))
    TrustStore().trust(project)
    said = list(zip([command in unasked for command in commands], _said(project, commands), strict=True))
    left = sum(answer == "silence" and not is_unasked for is_unasked, answer in said)
    answers = Counter(answer for _, answer in said)
    return [sum(not is_unasked for is_unasked, _ in said), left + answers["confirm"], answers["block"]]


def _said(project: Path, commands: Sequence[str]) -> list[str]:
    """Return what the rules of a hook say in a project: a verdict, or `silence`, which leaves it to Claude Code."""
    rules = load_rules(find_layers(project, shipped=("permitry:hooks", "permitry:tools-claude-code")))
    policy = Policies().policy(rules, own_rules(), "Bash", None)
    calls = [ToolCall("Bash", {"command": command}) for command in commands]
    decisions = policy.decide_many(calls, AuthContext(workspace=str(project)))
    return ["silence" if each.phase is Phase.DEFAULT else each.verdict.value for each in decisions]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home folder."""
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def page() -> list[list[int]]:
    """Return the figures of the page, row by row."""
    rows = re.findall(r"\| (\d+) \| (\d+) \| (\d+) \|$", _PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [list(map(int, row)) for row in rows]


def test_everyday_commands_are_asked_about_less(home: Path, page: list[list[int]]) -> None:
    """As the page says."""
    assert set(COMMANDS) >= UNASKED
    python = _figures(home / "a", COMMANDS, UNASKED, _PYTHON)
    assert [python, _figures(home / "b", COMMANDS, UNASKED, _ALL)] == page[:2]
    assert python[1] < 0.9 * python[0]


def test_published_commands_are_asked_about_less(home: Path, page: list[list[int]]) -> None:
    """As the page says, but for the few commands whose paths outside of the project are looked at on this disk."""
    if not _PUBLISHED.exists():
        pytest.skip("needs ../shared/cases")
    commands = _PUBLISHED.read_text(encoding="utf-8").splitlines()[::5]
    seen = zip(commands, _SEEN["asked of every fifth line of nl2bash.txt"], strict=True)
    unasked = {command for command, asked in seen if asked == "0"}
    [expected] = page[2:]
    assert _figures(home, commands, unasked, _PYTHON) == pytest.approx(expected, abs=4)
