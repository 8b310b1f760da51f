"""`permitry hook install` and `uninstall`."""

import json
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.hooks.payloads import command

from permitry.cli.main import main
from permitry_hosts.hooks.hosts import HOSTS, host_named

Out = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home folder; the current one is a project in it."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def _claude(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    (folder / "bin").mkdir()
    (folder / "bin/claude").write_text(f"#!/bin/sh\necho '{version}'\n")
    (folder / "bin/claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}/bin:/usr/bin:/bin")


def test_the_settings_of_the_user_get_the_hook(home: Path, capsys: Out) -> None:
    """What changes is shown."""
    Path("a.toml").write_text("schema = 1\n")
    assert main(["hook", "install", "claude-code", "--grant", "--deadline", "9", "--rules", "a.toml"]) == 0
    entry = json.loads((home / ".claude/settings.json").read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
    assert entry["onFailure"] == "block"
    assert f"hook claude-code --grant --rules {home}/project/a.toml --deadline 9 || " in entry["command"]
    out, err = capsys.readouterr()
    assert '+            "onFailure": "block"' in out
    pinned, done = err.splitlines()
    assert "alias claude='claude --settings " in pinned
    again = "start claude-code again: a session that runs has not read it"
    tried = "to try the hook: permitry hook doctor claude-code"
    assert done == f"permitry: installed in {home}/.claude/settings.json; {again}; {tried}"
    assert main(["hook", "uninstall", "claude-code"]) == 0
    assert not (home / ".claude/settings.json").exists()


def test_a_file_that_is_observed_is_named_as_well(home: Path, capsys: Out) -> None:
    """One that does not load is not installed: the hook would block each call."""
    Path("a.toml").write_text("schema = 1\n")
    assert main(["hook", "install", "claude-code", "--observe", "a.toml", "--observe", "permitry:publishing"]) == 0
    entry = json.loads((home / ".claude/settings.json").read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
    assert f"hook claude-code --observe {home}/project/a.toml --observe permitry:publishing" in entry["command"]
    capsys.readouterr()
    assert main(["hook", "install", "claude-code", "--observe", "b.toml"]) == 4
    assert "there is no file" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "why"), [(None, "there is no file"), ("schema = 1\nbad = 2\n", "unknown key `bad`")])
def test_rules_that_do_not_load_are_not_installed(home: Path, capsys: Out, text: str | None, why: str) -> None:
    """The hook would block each call of the agent."""
    if text is not None:
        Path("a.toml").write_text(text)
    assert main(["hook", "install", "claude-code", "--rules", "a.toml"]) == 4
    assert why in capsys.readouterr().err
    assert not (home / ".claude").exists()


def test_the_settings_of_a_project_may_get_it(home: Path) -> None:
    """With those of the user left alone."""
    assert main(["hook", "install", "copilot", "--project", "--record", "r.jsonl", "--rules", "permitry:hooks"]) == 0
    text = (home / "project/.github/hooks/permitry.json").read_text()
    assert f"--rules permitry:hooks --record {home}/project/r.jsonl" in text
    assert not (home / ".copilot").exists()


def test_a_record_in_postgresql_is_named_without_a_password(home: Path, capsys: Out) -> None:
    """Settings may be read by others."""
    install = ["hook", "install", "copilot", "--project", "--record"]
    assert main([*install, "postgresql://u:hunter2@h/db"]) == 4
    assert main([*install, "postgresql://u@h/db?password=hunter2"]) == 4
    assert "hunter2" not in capsys.readouterr().err
    assert main([*install, "postgresql://u@h/db"]) == 0
    assert "--record postgresql://u@h/db" in (home / "project/.github/hooks/permitry.json").read_text()


def test_a_store_is_named_as_a_record_is(home: Path, capsys: Out) -> None:
    """By its whole path, or by an address without a password."""
    install = ["hook", "install", "copilot", "--project", "--store"]
    assert main([*install, "postgresql://u:hunter2@h/db"]) == 4
    assert "keep the password of --store in" in capsys.readouterr().err
    assert main([*install, "s.db"]) == 0
    assert f" --store {home}/project/s.db" in (home / "project/.github/hooks/permitry.json").read_text()
    assert main([*install, "postgresql://u@h/db"]) == 0
    assert " --store postgresql://u@h/db" in (home / "project/.github/hooks/permitry.json").read_text()


def test_a_dry_run_changes_nothing(home: Path, capsys: Out) -> None:
    """It shows what would."""
    assert main(["hook", "install", "opencode", "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert "+export const Permitry" in out
    assert "installed" not in err
    assert [each.name for each in home.iterdir()] == ["project"]


@for_each("host", HOSTS)
def test_being_asked_less_is_offered_in_a_sentence(capsys: Out, host: str) -> None:
    """Where the host runs what the hook permits, and `--grant` is not given."""
    assert main(["hook", "install", host, "--dry-run"]) == 0
    is_offered = "asked less: with `--grant`" in capsys.readouterr().err
    assert is_offered is host_named(host).takes_permissions
    assert main(["hook", "install", host, "--dry-run", "--grant"]) == 0
    assert "asked less" not in capsys.readouterr().err


def test_what_is_there_already_is_said(capsys: Out) -> None:
    """And nothing is written."""
    for _ in range(2):
        assert main(["hook", "install", "codex"]) == 0
    shown = capsys.readouterr()
    assert "nothing to change in" in shown.out
    assert "trusted it" in shown.err


@pytest.mark.parametrize(("version", "code"), [("2.1.197 (Claude Code)", 4), ("2.1.295", 0), ("3.0.0", 0), ("dev", 0)])
def test_a_claude_code_that_would_run_calls_unguarded_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out, version: str, code: int
) -> None:
    """Before 2.1.295 a crash of a hook lets the call run."""
    _claude(home, monkeypatch, version)
    assert main(["hook", "install", "claude-code"]) == code
    assert (home / ".claude/settings.json").exists() is (code == 0)
    assert ("2.1.295 or later is needed" in capsys.readouterr().err) is (code == 4)


def test_a_permitry_that_cannot_be_started_is_not_installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call would be blocked, or none."""
    python = sys.executable
    monkeypatch.setattr("sys.executable", "/bin/false")
    assert main(["hook", "install", "gemini"]) == 4
    # In the command it would be taken for a variable.
    program = home / "a=b"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(python)} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))
    assert main(["hook", "install", "gemini"]) == 4
    assert not (home / ".gemini").exists()


def test_a_permitry_in_reach_of_the_agent_is_pointed_out(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    """It could be changed by what it guards."""
    monkeypatch.setattr("sys.prefix", str(home / "project/.venv"))
    assert main(["hook", "install", "gemini"]) == 0
    assert "could change permitry itself" in capsys.readouterr().err


def test_a_mistake_is_an_invalid_input(capsys: Out) -> None:
    """Not a block: no host waits for an answer."""
    with pytest.raises(SystemExit, match="4"):
        main(["hook", "install", "nothing"])
    assert "there is no `nothing`" in capsys.readouterr().err


def test_the_installed_program_of_cline_always_answers(home: Path) -> None:
    """It looks at no exit code, so that there must be a document even if permitry is gone."""
    assert main(["hook", "install", "cline"]) == 0
    script = home / ".cline/hooks/PreToolUse"
    script.write_text(script.read_text().replace("-m permitry", "-m nowhere"))
    done = subprocess.run([str(script)], input="{}", capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["cancel"] is True


def test_the_first_installed_hook_starts_the_resident_for_the_next(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each blocks what the rules block; the second one needs no other process."""
    home = tmp_path_factory.mktemp("h")
    monkeypatch.setenv("HOME", str(home))
    assert main(["hook", "install", "codex", "--deadline", "30"]) == 0
    hooks = json.loads((home / ".codex/hooks.json").read_text())["hooks"]
    line = hooks["PreToolUse"][0]["hooks"][0]["command"]
    payload = json.dumps(command("codex", "npm publish"))

    def said(line: str) -> tuple[int, str, str]:
        done = subprocess.run(["/bin/sh", "-c", line], input=payload, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    # There the first of several that start at once notes that it starts the resident.
    assert (home / ".local/state/permitry/resident").stat().st_mode & 0o777 == 0o700
    first = said(line)
    assert (first[0], first[2]) == (0, "")
    assert "Publishing" in first[1]
    end = time.monotonic() + 30
    alone = line.replace("-m permitry", "-m nowhere")
    while said(alone) != first and time.monotonic() < end:
        time.sleep(0.1)
    assert said(alone) == first
    # It ends without its socket, and then nothing answers.
    for each in (home / ".local/state/permitry/resident").iterdir():
        if each.is_socket():
            each.unlink()
    assert said(alone)[0] == 2


def test_a_hook_takes_no_longer_than_its_host_waits(home: Path, capsys: Out) -> None:
    """Cline has a limit of its own, and then runs the call."""
    assert main(["hook", "install", "cline", "--ask", "wait"]) == 4
    assert "may take 20 seconds" in capsys.readouterr().err
    assert main(["hook", "install", "cline", "--deadline", "20.5"]) == 4
    assert main(["hook", "install", "cline", "--ask", "wait=5", "--deadline", "15"]) == 0
    assert (home / ".cline/hooks/PreToolUse").exists()


@pytest.mark.parametrize(
    ("host", "key", "unit"), [("codex", "timeout", 1), ("copilot", "timeoutSec", 1), ("gemini", "timeout", 1000)]
)
def test_a_host_that_runs_a_late_call_is_made_to_wait_long(capsys: Out, host: str, key: str, unit: int) -> None:
    """The hook gives up by itself, and should do so first on a busy machine as well."""
    assert main(["hook", "install", host, "--dry-run", "--deadline", "9"]) == 0
    assert f'"{key}": {309 * unit}' in capsys.readouterr().out


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_no_report_holds_up_the_user(host: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Garbage, or rules with mistakes: nothing is said, where a call is blocked."""
    monkeypatch.setenv("PERMITRY_NO_RESIDENT", "1")
    assert main(["hook", "install", host]) == 0
    settings = home / (".claude/settings.json" if host == "claude-code" else ".codex/hooks.json")
    hooks = json.loads(settings.read_text())["hooks"]
    (home / ".config/permitry").mkdir(parents=True)
    (home / ".config/permitry/rules.toml").write_text("schema =")
    report = {**command(host, "x"), "hook_event_name": "UserPromptSubmit", "prompt": "go"}
    for payload in ("what?", json.dumps({**report, "cwd": str(home)})):
        for event, entries in hooks.items():
            line = entries[0]["hooks"][0]["command"]
            done = subprocess.run(["/bin/sh", "-c", line], input=payload, capture_output=True, text=True, check=False)
            is_report = event in ("UserPromptSubmit", "PostToolUse")
            assert (done.returncode, done.stdout) == (0 if is_report else 2, "")
