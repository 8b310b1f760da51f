"""A change of settings that would end the guard of a session is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from permitry_hosts.hooks.answering import Options, answer
from permitry_hosts.hooks.host import Reply
from permitry_hosts.hooks.hosts import host_named
from permitry_hosts.hooks.install import change, hook_command

Changed: TypeAlias = Callable[..., Reply]
SOURCES = {
    ".claude/settings.json": "user_settings",
    "project/.claude/settings.json": "project_settings",
    "project/.claude/settings.local.json": "local_settings",
}
OFF = {"disableAllHooks": True}
PROGRAM = {"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "git push"}]}]}}
PROJECT, LOCAL = "project/.claude/settings.json", "project/.claude/settings.local.json"


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Changed:
    """Return what Claude Code is answered when a file is about to count; our hook is in the settings of the user."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    change(host_named("claude-code"), tmp_path / ".claude/settings.json", hook_command("claude-code")).carry_out()

    def write(name: str, data: Any = None, *, session: str = "s1") -> Reply:  # noqa: ANN401 -- any JSON
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data)) if data is not None else path.unlink()
        payload = {
            "session_id": session, "transcript_path": "/t", "cwd": str(tmp_path / "project"), "prompt_id": "p1",
            "hook_event_name": "ConfigChange", "source": SOURCES.get(name, "skills"), "file_path": str(path),
        }  # fmt: skip
        return answer("claude-code", json.dumps(payload).encode(), Options(), {"HOME": str(tmp_path)})

    return write


def _is_refused(reply: Reply) -> bool:
    return bool(reply.out) and json.loads(reply.out)["decision"] == "block"


@pytest.mark.parametrize("name", [PROJECT, LOCAL, ".claude/settings.json"])
@pytest.mark.parametrize(
    "text", ['{"disableAllHooks": true}', '\ufeff{"disableAllHooks": true}', "{", '{"a": 1, "a": 2}']
)
def test_a_switch_and_what_cannot_be_read_are_refused(changed: Changed, name: str, text: str) -> None:
    """In any file that the session reads."""
    assert _is_refused(changed(name, text))


def test_other_changes_count(changed: Changed) -> None:
    """Nothing is printed about them."""
    permissions = {"permissions": {"allow": ["Bash(ls)"]}, "disableAllHooks": False}
    for name, data in [
        (PROJECT, permissions),
        (LOCAL, permissions),
        (LOCAL, None),
        ("project/.claude/skills/x.md", "# x"),
    ]:
        assert changed(name, data) == Reply(), name


def test_what_was_refused_does_not_come_in_with_the_next_change(changed: Changed) -> None:
    """The host reads all files again."""
    assert _is_refused(changed(PROJECT, OFF))
    assert _is_refused(changed(LOCAL, {}))
    assert not _is_refused(changed(PROJECT, {}))
    assert not _is_refused(changed(LOCAL, {"a": 1}))


def test_the_hook_cannot_be_taken_out_of_a_running_session(changed: Changed, tmp_path: Path) -> None:
    """By whatever is not seen to write there; in the settings of a project it may still be."""
    kept = (tmp_path / ".claude/settings.json").read_text()
    assert _is_refused(changed(".claude/settings.json", {}))
    assert _is_refused(changed(".claude/settings.json"))
    assert not _is_refused(changed(PROJECT, kept))


@pytest.mark.parametrize("data", [PROGRAM, {"statusLine": {"type": "command", "command": "git push"}}])
def test_programs_of_a_project_start_with_the_next_session(changed: Changed, data: object) -> None:
    """No rule is asked about them; those that a session has begun with are not looked at."""
    assert _is_refused(changed(PROJECT, data))
    assert _is_refused(changed(LOCAL, {}))
    assert not _is_refused(changed(LOCAL, {}, session="s2"))
    assert not _is_refused(changed(PROJECT))
