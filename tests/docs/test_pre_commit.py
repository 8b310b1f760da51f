"""The hooks for pre-commit run, and fail where something is wrong."""

import importlib
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.cli.main import ExitCode, main

_ROOT = Path(__file__).resolve().parents[2]
_RULES = """schema = 1

[[rule]]
id = "no-mail"
effect = "block"
tools = ["send_mail"]
match = ["send_mail"]
"""


def _hooks() -> list[dict[str, Any]]:
    yaml = importlib.import_module("yaml")
    hooks: list[dict[str, Any]] = yaml.safe_load((_ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return hooks


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], int]:
    """Return a function that runs a hook in a project with a rule file, as pre-commit does."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / ".permitry/rules.toml"
    path.parent.mkdir()

    def made(name: str, text: str) -> int:
        path.write_text(text, encoding="utf-8")
        (hook,) = (hook for hook in _hooks() if hook["id"] == name)
        more: list[str] = hook.get("args", [])
        program, *words = shlex.split(hook["entry"]) + more
        assert program == "permitry"
        if hook.get("pass_filenames", True):
            words.append(".permitry/rules.toml")
        return main(words)

    return made


@for_each(
    ("name", "old", "new"),
    [
        ("permitry-lint", 'tools = ["send_mail"]', 'tools = ["send_mail", "send_mail"]'),
        ("permitry-test", 'match = ["send_mail"]', 'match = ["read_mail"]'),
    ],
)
def test_a_hook_finds_what_is_wrong(run: Callable[[str, str], int], name: str, old: str, new: str) -> None:
    """And nothing in rules that are right."""
    assert run(name, _RULES) == ExitCode.OK
    assert run(name, _RULES.replace(old, new)) != ExitCode.OK


def test_files_are_laid_out(run: Callable[[str, str], int], tmp_path: Path) -> None:
    """Which makes pre-commit fail, as it sees a change."""
    assert run("permitry-fmt", _RULES.replace(" = ", "=")) == ExitCode.OK
    assert (tmp_path / ".permitry/rules.toml").read_text(encoding="utf-8") == _RULES


def test_each_hook_is_on_its_page() -> None:
    """All that there are."""
    page = (_ROOT / "docs/how-to/test-your-rules.md").read_text(encoding="utf-8")
    hooks = _hooks()
    assert len(hooks) == 3
    assert all(f"| `{hook['id']}` |" in page for hook in hooks)
