"""What a hook lets run is kept first, and undone without force once the host has reported its end."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.permitry_hosts.hooks.payloads import command

from permitry.undo.restoration import restore
from permitry.undo.vault import Vault
from permitry_hosts.hooks.answering import Options, answer
from permitry_hosts.hooks.host import Reply
from permitry_hosts.hooks.undo import note_end

RULES = """
schema = 1
extends = ["permitry:tools-claude-code"]
[[rule]]
id = "undoable"
effect = "allow"
keep = true
tools = ["@shell"]
"""
After = dict[str, Any]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a folder with a file."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a").write_text("a\n")
    return folder


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    """Return the vault of the user."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Vault(tmp_path / "state" / "permitry" / "undo")


@pytest.fixture
def hook(tmp_path: Path, work: Path, vault: Vault) -> Callable[..., Reply]:
    """Return a function that sends what Claude Code sends about a command."""
    assert not vault.folder.exists()
    (tmp_path / "rules.toml").write_text(RULES)
    options = Options([str(tmp_path / "rules.toml")], grants=True, record=str(tmp_path / "r.jsonl"))

    def send(text: str, **more: object) -> Reply:
        payload = {**command("claude-code", text), "cwd": str(work), **more}
        return answer("claude-code", json.dumps(payload).encode(), options, {})

    return send


def test_what_a_hook_allows_is_kept_and_can_be_undone(hook: Callable[..., Reply], vault: Vault, work: Path) -> None:
    """The end that the host reports says what is the call's work."""
    assert "allow" in str(hook("rm a"))
    (work / "a").unlink()
    assert vault.entries()[0].after is None
    hook("rm a", hook_event_name="PostToolUse", tool_response={})
    (entry,) = vault.entries()
    assert entry.after is not None
    assert (entry.session, entry.call_id) == ("claude-code:s1", "toolu_1")
    hook("rm a", hook_event_name="PostToolUse", tool_response={})
    restore(vault, entry.id)
    assert (work / "a").read_text() == "a\n"


def test_what_cannot_be_kept_is_not_allowed_by_a_hook(hook: Callable[..., Reply], vault: Vault) -> None:
    """It is left to the host, as without that rule."""
    reply = hook("make")
    assert "allow" not in str(reply)
    assert vault.entries() == []


def test_an_end_of_which_nothing_is_kept_is_nothing(hook: Callable[..., Reply], vault: Vault) -> None:
    """Without a vault, without an id, for another call, and for a vault that is damaged."""
    hook("ls", hook_event_name="PostToolUse", tool_response={})
    assert not vault.folder.exists()
    hook("rm a")
    note_end(vault.folder, "claude-code:s1", None, set)
    note_end(vault.folder, "claude-code:s1", "other", set)
    assert vault.entries()[0].after is None
    shutil.rmtree(vault.folder / "1")
    (vault.folder / "1").write_text("")
    note_end(vault.folder, "claude-code:s1", "toolu_1", set)


def test_the_end_of_another_call_with_this_id_is_not_its_own(
    hook: Callable[..., Reply], vault: Vault, work: Path
) -> None:
    """A model may use an id twice, and so may a sub-agent: the end belongs to the call that was made."""
    (work / "b").write_text("b\n")
    hook("rm a")
    hook("rm b")
    hook("rm c", hook_event_name="PostToolUse", tool_response={})
    hook("rm a", hook_event_name="PostToolUse", tool_response={}, agent_id="a7", agent_type="reviewer")
    hook("rm a", hook_event_name="PostToolUse", tool_response={}, session_id="s2")
    assert [entry.after for entry in vault.entries()] == [None, None]
    hook("rm a", hook_event_name="PostToolUse", tool_response={})
    first, second = vault.entries()
    assert first.after is not None
    assert second.after is None
