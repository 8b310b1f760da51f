"""`permitry hook doctor`."""

import json
import sys
from pathlib import Path

import pytest

from permitry.cli.main import main
from permitry_hosts.hooks.doctor import Finding
from permitry_hosts.hooks.host import Host
from permitry_hosts.hooks.hosts import host_named

Out = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home folder; the current one is a project in it."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("PERMITRY_NO_RESIDENT", "1")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def test_a_hook_as_it_is_installed_is_well(capsys: Out) -> None:
    """The table has a line for each thing that was looked at."""
    assert main(["hook", "install", "gemini"]) == 0
    capsys.readouterr()
    assert main(["hook", "doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["host", "check", "result"]
    assert all(line.startswith("gemini") for line in lines[1:])
    assert len([line for line in lines if "the call is blocked" in line]) == 7
    assert any("gemini cannot ask" in line for line in lines)


def test_findings_can_be_read_by_programs(capsys: Out) -> None:
    """One object a line."""
    assert main(["hook", "install", "codex", "--project"]) == 0
    capsys.readouterr()
    assert main(["hook", "doctor", "codex", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {tuple(each) for each in found} == {("host", "check", "is_well", "text")}
    assert [each["check"] for each in found][:2] == ["version", "settings"]


def test_a_host_without_a_hook_is_not_well(home: Path, capsys: Out) -> None:
    """It runs its calls unguarded."""
    assert main(["hook", "doctor", "codex"]) == 1
    assert "no hook is installed" in capsys.readouterr().out
    assert main(["hook", "doctor"]) == 4
    assert "no hook is installed here" in capsys.readouterr().err
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text("{")
    assert main(["hook", "doctor"]) == 1
    assert "cannot read" in capsys.readouterr().out


def test_settings_that_switch_hooks_off_are_found(home: Path, capsys: Out) -> None:
    """Whatever is written there does not run."""
    assert main(["hook", "install", "claude-code"]) == 0
    file = home / ".claude/settings.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "disableAllHooks": True}))
    assert main(["hook", "doctor", "claude-code"]) == 1
    assert "switches the hook off" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_project_that_switches_the_hook_of_the_user_off_is_found(
    name: str, home: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook itself is as it should be."""
    monkeypatch.setattr("permitry_hosts.cli.hook_doctor.trials", lambda *_: [])
    assert main(["hook", "install", "claude-code"]) == 0
    file = home / "project/.claude" / name
    file.parent.mkdir()
    file.write_text('{"disableAllHooks": true}')
    assert main(["hook", "doctor"]) == 1
    assert f"{name}` switches the hook off" in capsys.readouterr().out.replace("\n", "")


@pytest.mark.parametrize("host", ["claude-code", "cline", "opencode"])
def test_no_program_of_a_project_is_started(host: str, home: Path, capsys: Out) -> None:
    """Its settings may look like ours."""
    assert main(["hook", "install", host, "--project"]) == 0
    program = home / "project/program"
    program.write_text(f"#!/bin/sh\ntouch {home}/started\nexit 2\n")
    program.chmod(0o755)
    file = home / "project" / host_named(host).settings.project
    file.write_text(file.read_text().replace(sys.executable, str(program)))
    assert main(["hook", "doctor", host]) == 1
    assert "install it again" in capsys.readouterr().out
    assert not (home / "started").exists()


def test_rules_with_a_mistake_and_options_that_are_none_are_found(
    home: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every call would be blocked."""

    def none(*_: object) -> list[object]:
        return []

    monkeypatch.setattr("permitry_hosts.cli.hook_doctor.trials", none)
    Path("rules.toml").write_text("schema = 1\n")
    assert main(["hook", "install", "codex", "--rules", "rules.toml"]) == 0
    Path("rules.toml").unlink()
    assert main(["hook", "doctor"]) == 1
    assert "rules.toml" in capsys.readouterr().out
    file = home / ".codex/hooks.json"
    file.write_text(file.read_text().replace("--rules", "--ruels"))
    assert main(["hook", "doctor"]) == 1
    assert "--ruels" in capsys.readouterr().out


def test_a_hook_that_does_not_block_is_found(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code is 1."""

    def trial(host: Host, *_: object) -> list[object]:
        return [Finding("a rule that blocks", is_well=False, text=f"the call of {host.name} is NOT blocked")]

    monkeypatch.setattr("permitry_hosts.cli.hook_doctor.trials", trial)
    assert main(["hook", "install", "opencode"]) == 0
    assert main(["hook", "doctor"]) == 1
    assert "PROBLEM" in capsys.readouterr().out


def test_a_folder_that_cannot_be_entered_is_not_taken_for_a_broken_hook(
    monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    """No program can be started in it."""
    monkeypatch.setattr("permitry_hosts.cli.hook_doctor.os.access", lambda *_: False)
    assert main(["hook", "doctor", "codex"]) == 4
    assert "in a folder that you cannot enter" in capsys.readouterr().err


SWITCHES = {
    "codex": (".codex/config.toml", "[features]\nhooks = false\n"),
    "claude-code": (".claude/settings.json", '{"disableAllHooks": true}'),
}


@pytest.mark.parametrize(("host", "code"), [("codex", 1), ("claude-code", 0)])
def test_a_folder_above_that_switches_off_is_named(
    host: str, code: int, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codex reads the settings of all folders up to the project's, Claude Code those of the one it is started in."""
    monkeypatch.setattr("permitry_hosts.cli.hook_doctor.trials", lambda *_: [])
    assert main(["hook", "install", host]) == 0
    assert "so that none can" in capsys.readouterr().err
    name, text = SWITCHES[host]
    Path(name).parent.mkdir()
    Path(name).write_text(text)
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    assert main(["hook", "doctor", host, "--json"]) == code
    assert f"project/{name}` switches the hook off" in capsys.readouterr().out


def test_a_host_without_settings_of_the_machine_gets_none(capsys: Out) -> None:
    """Nothing is promised that does not hold."""
    assert main(["hook", "install", "cline", "--managed"]) == 4
    assert "no settings of a machine" in capsys.readouterr().err


def test_settings_of_the_machine_keep_hooks_on(home: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a project says: it is only named."""
    monkeypatch.setattr("permitry_hosts.cli.hook_doctor.trials", lambda *_: [])
    managed = home / "etc/managed-settings.json"
    for module in ("cli.hook_doctor", "cli.hook_settings", "hooks.managed"):
        monkeypatch.setattr(f"permitry_hosts.{module}.find_managed", lambda _: managed)
    assert main(["hook", "install", "claude-code", "--managed"]) == 0
    (home / "project/.claude").mkdir()
    (home / "project/.claude/settings.json").write_text('{"disableAllHooks": true}')
    assert main(["hook", "doctor", "claude-code", "--json"]) == 0
    assert "keeps it on" in capsys.readouterr().out
    assert main(["hook", "uninstall", "claude-code", "--managed"]) == 0
    assert not managed.exists()
