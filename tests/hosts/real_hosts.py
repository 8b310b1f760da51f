"""Real coding agents, each in a home folder of its own, with a fake model on loopback and no other network."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
from tests.hosts.fake_models import Call, FakeModel, serving

from permitry_hosts.hooks.hosts import host_named
from permitry_hosts.hooks.install import change

__all__ = ["HOSTS", "Outcome", "RealHost"]

MODULES = os.environ.get("PERMITRY_TEST_NODE_MODULES", "")
_MAIN = "from permitry.cli.main import run_from_shell; run_from_shell()"
_SECONDS = 150


@attrs.frozen
class Outcome:
    """What came of a session: what the model was shown, and the files in the project."""

    model: FakeModel
    files: frozenset[str]
    printed: str


@attrs.frozen
class RealHost:
    """How one agent is started: its program, a call of its shell, its settings, and its environment."""

    name: str
    argv: Sequence[str]
    shell: Callable[[str], Call]
    settings: Callable[[str], dict[str, Any]]
    """Files below the home folder, JSON or text, for the URL of the model."""
    environ: Callable[[str], dict[str, str]] = lambda _: {}

    @property
    def program(self) -> Path:
        """The program in the folder of npm."""
        return Path(MODULES) / ".bin" / self.argv[0]

    def session(
        self,
        home: Path,
        turns: Sequence[Sequence[str | Call]],
        *,
        code: str = "",
        options: Sequence[str] = (),
        command: Sequence[str] = (),
        prompt: str = "go",
    ) -> Outcome:
        """Run a session in which the model runs commands, turn by turn; `code` breaks the hook first.

        `command` is another hook than that in process; `prompt` is what the user says.
        """
        project = home / "project"
        project.mkdir(parents=True, exist_ok=True)
        model = FakeModel([[self.shell(each) if isinstance(each, str) else each for each in turn] for turn in turns])
        with serving(model):
            for name, data in self.settings(model.url).items():
                self._put(home / name, data)
            hook = command or [sys.executable, "-c", code + _MAIN, "hook", self.name, *options]
            host = host_named(self.name)
            change(host, home / host.settings.user, hook, seconds=100).carry_out()
            argv = [prompt if word == "go" else word for word in self.argv]
            printed = self._run(argv, home, project, self.environ(model.url))
        return Outcome(model, frozenset(path.name for path in project.iterdir()), printed)

    def _put(self, path: Path, data: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")

    def _run(self, argv: Sequence[str], home: Path, project: Path, environ: dict[str, str]) -> str:
        path = f"{MODULES}/.bin:/usr/local/bin:/usr/bin:/bin"
        done = subprocess.run(
            argv,
            cwd=project,
            env={"HOME": str(home), "PATH": path, "NO_UPDATE_NOTIFIER": "1", **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        return f"{done.returncode}\n{done.stdout}\n{done.stderr}"


def _described(tool: str) -> Callable[[str], Call]:
    return lambda text: Call(tool, {"command": text, "description": "a test"})


def _codex_settings(url: str) -> dict[str, Any]:
    provider = f'[model_providers.fake]\nname = "fake"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
    return {".codex/config.toml": f'model = "gpt-5"\nmodel_provider = "fake"\n{provider}'}


def _opencode_settings(url: str) -> dict[str, Any]:
    provider = {"anthropic": {"options": {"baseURL": f"{url}/v1", "apiKey": "x"}}}
    rest = {"model": "anthropic/claude-sonnet-4-5", "autoupdate": False, "share": "disabled"}
    return {".config/opencode/opencode.json": {"provider": provider, **rest}}


HOSTS = {
    host.name: host
    for host in (
        RealHost(
            "claude-code",
            ("claude", "-p", "go", "--model", "claude-sonnet-4-5", "--permission-mode", "acceptEdits"),
            _described("Bash"),
            lambda _: {},
            lambda url: {
                "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            },
        ),
        RealHost(
            "codex",
            (
                "codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust",
                "--dangerously-bypass-approvals-and-sandbox", "go",
            ),
            lambda text: Call("exec_command", {"cmd": text}),
            _codex_settings,
        ),
        RealHost(
            "gemini",
            ("gemini", "-p", "go", "--approval-mode", "yolo", "--skip-trust", "-m", "gemini-2.5-pro"),
            lambda text: Call("run_shell_command", {"command": text}),
            lambda _: {
                ".gemini/settings.json": {
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": False},
                    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
                }
            },
            lambda url: {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": url},
        ),
        RealHost(
            "copilot",
            ("copilot", "-p", "go", "--no-auto-update", "--allow-all-tools"),
            _described("bash"),
            lambda _: {},
            lambda url: {
                "COPILOT_PROVIDER_BASE_URL": url, "COPILOT_PROVIDER_TYPE": "anthropic", "COPILOT_PROVIDER_API_KEY": "x",
                "COPILOT_MODEL": "claude-sonnet-4.5", "COPILOT_AUTO_UPDATE": "false",
            },
        ),
        RealHost(
            "opencode",
            ("opencode", "run", "go"),
            _described("bash"),
            _opencode_settings,
            lambda _: {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        ),
        RealHost(
            "qwen",
            ("qwen", "--auth-type", "anthropic", "-m", "claude-sonnet-4-5", "--approval-mode", "yolo", "-p", "go"),
            lambda text: Call("run_shell_command", {"command": text, "is_background": False}),
            lambda _: {
                ".qwen/settings.json": {
                    "privacy": {"usageStatisticsEnabled": False},
                    "general": {"enableAutoUpdate": False},
                }
            },
            lambda url: {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x", "ANTHROPIC_MODEL": "claude-sonnet-4-5"},
        ),
    )
}  # fmt: skip
"""By the word of `permitry hook`."""
