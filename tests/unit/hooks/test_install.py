"""The settings of hosts: our hook is put in and taken out, and the rest stays."""

import json
from pathlib import Path

import pytest

from permitry.errors import PermitryError
from permitry.hooks.answering import HOSTS, host_named
from permitry.hooks.host import Settings
from permitry.hooks.install import Change, change, hook_command

every_host = pytest.mark.parametrize("host", HOSTS)
COMMAND = ["/opt/my python", "-I", "-m", "permitry", "hook", "x"]
MERGED = [host for host in HOSTS if host_named(host).settings.text is None]


def _settings(host: str) -> Settings:
    return host_named(host).settings


@every_host
def test_it_is_put_in_once_and_taken_out_again(host: str, tmp_path: Path) -> None:
    """And then nothing is left."""
    path = tmp_path / _settings(host).user
    first = change(_settings(host), path, COMMAND)
    assert list(first.diff())
    first.carry_out()
    assert "my python" in path.read_text()
    second = change(_settings(host), path, COMMAND)
    assert second.before == second.after
    change(_settings(host), path, None).carry_out()
    assert not path.exists()
    change(_settings(host), path, None).carry_out()
    assert not path.exists()


@every_host
def test_a_second_command_takes_the_place_of_the_first(host: str, tmp_path: Path) -> None:
    """A hook that is there twice would ask twice."""
    path = tmp_path / "settings"
    change(_settings(host), path, COMMAND).carry_out()
    once = path.read_text()
    change(_settings(host), path, [*COMMAND, "--grant"]).carry_out()
    assert path.read_text().replace(" --grant", "").replace(', "--grant"', "") == once


@pytest.mark.parametrize("host", MERGED)
def test_what_others_have_put_there_stays(host: str, tmp_path: Path) -> None:
    """Keys, hooks, and hooks in one group with ours."""
    path = tmp_path / "settings.json"
    (event, entry), *_ = _settings(host).entries("their-hook", 5).items()
    theirs = {"zeta": 1, "hooks": {event: [entry], "Stop": []}, "alpha": {"é": None}}
    path.write_text(json.dumps(theirs))
    change(_settings(host), path, COMMAND).carry_out()
    mixed = json.loads(path.read_text())
    assert [key for key in mixed if key in theirs] == list(theirs)
    assert mixed["hooks"][event][0] == entry
    if "hooks" in entry:
        mixed["hooks"][event][0]["hooks"] += mixed["hooks"][event].pop()["hooks"]
        path.write_text(json.dumps(mixed))
    change(_settings(host), path, None).carry_out()
    left = json.loads(path.read_text())
    assert {key: left[key] for key in theirs} == theirs


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}', '{"a": 1, "a": 2}', "\udcff"]
)
def test_settings_that_cannot_be_read_are_left_alone(text: str, tmp_path: Path) -> None:
    """A user's work is not thrown away."""
    path = tmp_path / "settings.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(PermitryError):
        change(_settings("claude-code"), path, COMMAND)


def test_a_file_of_ours_is_not_written_over_one_of_theirs(tmp_path: Path) -> None:
    """Cline has one program for an event."""
    path = tmp_path / "PreToolUse"
    path.write_text("#!/bin/sh\nexec theirs\n")
    with pytest.raises(PermitryError, match="not from permitry"):
        change(_settings("cline"), path, COMMAND)


def test_a_link_and_the_mode_of_its_file_stay(tmp_path: Path) -> None:
    """Settings may be kept in a folder of dot files."""
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "real.json").chmod(0o600)
    (tmp_path / "link.json").symlink_to("real.json")
    change(_settings("gemini"), tmp_path / "link.json", COMMAND).carry_out()
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").stat().st_mode & 0o777 == 0o600
    assert "BeforeTool" in (tmp_path / "real.json").read_text()


def test_a_program_can_be_run(tmp_path: Path) -> None:
    """Cline starts a file, not a command."""
    change(_settings("cline"), tmp_path / "PreToolUse", COMMAND).carry_out()
    assert (tmp_path / "PreToolUse").stat().st_mode & 0o111


def test_a_hook_that_cannot_be_started_blocks(tmp_path: Path) -> None:
    """In hosts that look at the exit code alone, too."""
    text = change(_settings("codex"), tmp_path / "hooks.json", COMMAND).after
    assert json.loads(text)["hooks"]["PreToolUse"][0]["hooks"][0]["command"].endswith("permitry hook x || exit 2")


def test_the_command_is_found_from_anywhere() -> None:
    """By its whole path, and without what the environment or the folder would add."""
    program, *rest = hook_command("codex", ["--grant"])
    assert Path(program).is_absolute()
    assert rest == ["-I", "-m", "permitry", "hook", "codex", "--grant"]


def test_no_change_has_no_diff(tmp_path: Path) -> None:
    """So that nothing is written."""
    assert list(Change(tmp_path, "a\n", "a\n").diff()) == []
