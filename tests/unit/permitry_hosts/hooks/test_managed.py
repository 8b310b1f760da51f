"""Settings of a machine keep hooks switched on; what else is in them stays."""

import json
import tomllib
from pathlib import Path
from typing import cast

import pytest

from permitry.errors import PermitryError
from permitry_hosts.hooks.hosts import host_named
from permitry_hosts.hooks.install import installed, write_managed_command
from permitry_hosts.hooks.managed import find_managed, is_pinned, pin

CLAUDE, CODEX = host_named("claude-code"), host_named("codex")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that stands for `/etc`."""
    monkeypatch.setattr("sys.platform", "linux")
    for host in (CLAUDE, CODEX):
        real = find_managed(host)
        assert real is not None
        monkeypatch.setitem(cast("dict[str, str]", host.settings.managed), "linux", str(tmp_path / real.name))
    return tmp_path


def test_claude_code_gets_the_hook_and_the_pin(machine: Path) -> None:
    """The command names no home folder: it is for every user."""
    path, words = machine / "managed-settings.json", write_managed_command("claude-code", ["--grant"])
    assert not is_pinned(CLAUDE)
    path.write_text('{"model": "x"}')
    pin(CLAUDE, path, words, 30).carry_out()
    assert json.loads(path.read_text())["disableAllHooks"] is False
    assert is_pinned(CLAUDE)
    assert installed(CLAUDE, path) == words
    assert not any("=" in word for word in words)
    assert not list(pin(CLAUDE, path, words, 30).diff())
    pin(CLAUDE, path, None, 30).carry_out()
    assert json.loads(path.read_text()) == {"model": "x"}
    path.write_text('{"disableAllHooks": true}')
    with pytest.raises(PermitryError, match="switches the hook off"):
        pin(CLAUDE, path, words, 30)


@pytest.mark.parametrize(
    "text", ["", '[hooks]\nmanaged_dir = "/x"\n', "# ours\n[features] # x\nother = true\n\n[a]\nb = 1\n", "a = 1"]
)
def test_codex_gets_one_line(machine: Path, text: str) -> None:
    """And loses it again."""
    path = machine / "requirements.toml"
    path.write_text(text)
    assert not is_pinned(CODEX)
    made = pin(CODEX, path, ["x"], 30)
    made.carry_out()
    assert is_pinned(CODEX)
    assert set(text.split()) <= set(path.read_text().split())
    assert not list(pin(CODEX, path, ["x"], 30).diff())
    pin(CODEX, path, None, 30).carry_out()
    left = tomllib.loads(path.read_text()) if path.exists() else {}
    assert left == {"features": {}, **tomllib.loads(text)} or left == tomllib.loads(text)


@pytest.mark.parametrize(
    "text", ["[features]\nhooks = false", "[features]\ncodex_hooks = false", "features = {a = true}", "["]
)
def test_what_switches_off_or_cannot_be_changed_is_left_alone(machine: Path, text: str) -> None:
    """The administrator decides."""
    (machine / "requirements.toml").write_text(text)
    with pytest.raises(PermitryError):
        pin(CODEX, machine / "requirements.toml", ["x"], 30)


def test_other_hosts_have_none() -> None:
    """So that nothing is promised."""
    assert find_managed(host_named("cline")) is None
    assert not is_pinned(host_named("cline"))
