"""The settings of hosts: our hook is put in and taken out, and the rest stays."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.errors import PermitryError
from permitry_hosts.hooks import client
from permitry_hosts.hooks.host import Settings
from permitry_hosts.hooks.hosts import HOSTS, host_named
from permitry_hosts.hooks.install import OR_BLOCK, Change, change, hook_command, installed, is_as_written
from permitry_hosts.hooks.places import LONGEST_PATH, place
from permitry_hosts.hooks.switches import check_switches

every_host = pytest.mark.parametrize("host", HOSTS)
FIXED = [f"{name}=/home/ann/{name}" for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")]
MERGED = [host for host in HOSTS if host_named(host).settings.text is None]


def _settings(host: str) -> Settings:
    return host_named(host).settings


def _change(host: str, path: Path, *options: str) -> Change:
    """Return the change that puts our command in."""
    words = ["/usr/bin/env", *FIXED, "/opt/my python", "-I", "-m", "permitry", "hook", host, *options]
    return change(host_named(host), path, words)


def _removal(host: str, path: Path) -> Change:
    return change(host_named(host), path, None)


@every_host
def test_it_is_put_in_once_and_taken_out_again(host: str, tmp_path: Path) -> None:
    """And then nothing is left."""
    path = tmp_path / _settings(host).user
    first = _change(host, path)
    assert list(first.diff())
    first.carry_out()
    assert "my python" in path.read_text()
    second = _change(host, path)
    assert second.before == second.after
    _removal(host, path).carry_out()
    assert not path.exists()
    _removal(host, path).carry_out()
    assert not path.exists()


@every_host
def test_a_second_command_takes_the_place_of_the_first(host: str, tmp_path: Path) -> None:
    """A hook that is there twice would ask twice."""
    path = tmp_path / "settings"
    _change(host, path).carry_out()
    once = path.read_text()
    _change(host, path, "--grant").carry_out()
    assert path.read_text().replace(" --grant", "").replace(', "--grant"', "") == once


@for_each("host", MERGED)
def test_what_others_have_put_there_stays(host: str, tmp_path: Path) -> None:
    """Keys, hooks, and hooks in one group with ours."""
    path = tmp_path / "settings.json"
    (event, entry), *_ = _settings(host).entries("their-hook", 5).items()
    theirs = {"zeta": 1, "hooks": {event: [entry], "Stop": []}, "alpha": {"é": None}}
    path.write_text(json.dumps(theirs))
    _change(host, path).carry_out()
    mixed = json.loads(path.read_text())
    assert [key for key in mixed if key in theirs] == list(theirs)
    assert mixed["hooks"][event][0] == entry
    if "hooks" in entry:
        mixed["hooks"][event][0]["hooks"] += mixed["hooks"][event].pop()["hooks"]
        path.write_text(json.dumps(mixed))
    _removal(host, path).carry_out()
    left = json.loads(path.read_text())
    assert {key: left[key] for key in theirs} == theirs


@for_each("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}', '{"a": 1, "a": 2}', "\udcff"])
def test_settings_that_cannot_be_read_are_left_alone(text: str, tmp_path: Path) -> None:
    """A user's work is not thrown away."""
    path = tmp_path / "settings.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(PermitryError):
        _change("claude-code", path)


def test_a_file_of_ours_is_not_written_over_one_of_theirs(tmp_path: Path) -> None:
    """Cline has one program for an event."""
    path = tmp_path / "PreToolUse"
    path.write_text("#!/bin/sh\nexec theirs\n")
    with pytest.raises(PermitryError, match="not from permitry"):
        _change("cline", path)


def test_a_link_and_the_mode_of_its_file_stay(tmp_path: Path) -> None:
    """Settings may be kept in a folder of dot files."""
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "real.json").chmod(0o600)
    (tmp_path / "link.json").symlink_to("real.json")
    _change("gemini", tmp_path / "link.json").carry_out()
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").stat().st_mode & 0o777 == 0o600
    assert "BeforeTool" in (tmp_path / "real.json").read_text()


def test_a_program_can_be_run(tmp_path: Path) -> None:
    """Cline starts a file, not a command."""
    _change("cline", tmp_path / "PreToolUse").carry_out()
    assert (tmp_path / "PreToolUse").stat().st_mode & 0o111


def _lines(host: str, path: Path, words: list[str]) -> list[str]:
    """Return the lines by which a host asks before a call, as install writes them."""
    hooks = json.loads(change(host_named(host), path, words).after)["hooks"]
    entries = [hooks[event][0] for event in host_named(host).settings.entries("x", 1)]
    hooks = [each for entry in entries for each in entry.get("hooks", [entry])]
    return [each.get("command") or each["bash"] for each in hooks]


@for_each("host", MERGED)
@for_each("fault", ["exit 1", "exit 2", "exit 127", "kill -9 $$", "kill -13 $$", "exec /no/such/program"])
@for_each("shell", ["/bin/sh", "bash"])
def test_a_hook_that_ends_without_an_answer_blocks(host: str, fault: str, shell: str, tmp_path: Path) -> None:
    """With words: at exit code 2 alone, Codex and Gemini CLI run the call."""
    for line in _lines(host, tmp_path / "settings.json", ["/bin/sh", "-c", fault]):
        done = subprocess.run([shell, "-c", line], input="{}", capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "permitry did not permit this" in done.stderr
        assert not done.stdout


@for_each("host", MERGED)
def test_a_hook_that_answers_is_left_alone(host: str, tmp_path: Path) -> None:
    """Nothing is added to what it says."""
    for line in _lines(host, tmp_path / "settings.json", ["/bin/sh", "-c", "cat"]):
        done = subprocess.run(["/bin/sh", "-c", line], input="{}", capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "{}", "")


@for_each("host", MERGED)
def test_an_older_hook_is_found_and_replaced(host: str, tmp_path: Path) -> None:
    """Its line said nothing when it failed; until it is installed again it is not as it should be."""
    path, known = tmp_path / "settings.json", host_named(host)
    words, patience = hook_command(host, ["--grant"], 22), 20 + known.settings.spare
    now = change(known, path, words, patience).after
    older = now.replace(OR_BLOCK, " || exit 2")
    assert older != now
    path.write_text(older)
    assert installed(known, path) == words
    assert not is_as_written(known, path, words, 20)
    change(known, path, words, patience).carry_out()
    assert path.read_text() == now
    assert is_as_written(known, path, words, 20)
    path.write_text(older)
    _removal(host, path).carry_out()
    assert not path.exists()


@every_host
def test_what_is_only_reported_is_never_held_up(host: str) -> None:
    """Whatever goes wrong: a message of the user that is blocked is lost."""
    for entry in _settings(host).reports("hook || exit 0", 5).values():
        assert "hook || exit 0" in json.dumps(entry)
        assert "onFailure" not in json.dumps(entry)
    assert not _settings(host).reports("x", 5).keys() & _settings(host).entries("x", 5).keys()


def test_an_older_hook_gets_the_reports_as_well(tmp_path: Path) -> None:
    """When it is installed again; until then it is not as it should be."""
    path, host = tmp_path / "settings.json", host_named("claude-code")
    words = hook_command("claude-code")
    change(host, path, words).carry_out()
    now = json.loads(path.read_text())
    older = {event: entries for event, entries in now["hooks"].items() if event in host.settings.entries("x", 1)}
    path.write_text(json.dumps({**now, "hooks": older}))
    assert installed(host, path) == words
    assert not is_as_written(host, path, words, 20)
    change(host, path, words).carry_out()
    assert json.loads(path.read_text()) == now
    _removal("claude-code", path).carry_out()
    assert not path.exists()


def test_the_command_is_found_from_anywhere() -> None:
    """By its whole path, and without what the environment or the folder would add."""
    rest = hook_command("codex", ["--grant"])
    assert rest[5:] == [sys.executable, "-I", "-m", "permitry", "hook", "codex", "--grant"]
    assert Path(sys.executable).is_absolute()


def test_the_resident_is_asked_first_where_there_can_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a Python that starts fast; the hook in process is what it runs otherwise."""
    command = hook_command("codex", ["--grant"], 22.5)
    python, *rest = command[5:]
    assert Path(python).parent == Path(sys.base_prefix, "bin")
    assert rest[:4] == ["-I", "-S", client.__file__, str(place())]
    assert rest[4:] == ["22.5", *hook_command("codex", ["--grant"])[5:]]
    monkeypatch.setenv("XDG_STATE_HOME", "/" + "x" * 100)
    assert hook_command("codex", [], 20)[5:] == hook_command("codex")[5:]
    monkeypatch.undo()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / Path(python).name).symlink_to("/bin/false")
    # In the command, it would be taken for a variable.
    (tmp_path / "a=b/bin").mkdir(parents=True)
    (tmp_path / "a=b/bin" / Path(python).name).symlink_to(python)
    for prefix in ("/nowhere", tmp_path, tmp_path / "a=b"):
        monkeypatch.setattr("sys.base_prefix", str(prefix))
        assert hook_command("codex", [], 20) == hook_command("codex")


def test_a_socket_has_a_name_of_107_bytes_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """A longer one cannot be listened at, so that no client asks there."""
    monkeypatch.setenv("XDG_STATE_HOME", "/")
    rest = LONGEST_PATH - len(str(place()))
    for length, is_asked in ((rest, True), (rest + 1, False)):
        monkeypatch.setenv("XDG_STATE_HOME", "/" + "x" * (length - 1))
        assert ("client.py" in " ".join(hook_command("codex", [], 20))) is is_asked, len(str(place()))


@every_host
def test_one_kind_of_command_takes_the_place_of_the_other(host: str, tmp_path: Path) -> None:
    """So that there is one hook, and none after it is taken out."""
    path = tmp_path / "settings"
    kinds = [hook_command(host, ["--grant"], 20), hook_command(host)]
    assert kinds[0] != kinds[1]
    for command in (*kinds, *kinds):
        change(host_named(host), path, command).carry_out()
        settings = host_named(host).settings
        entries = {**settings.entries("x", 1), **settings.reports("x", 1)}
        assert path.read_text().count("/usr/bin/env") == len(entries or [1])
        assert ("client.py" in path.read_text()) is (command is kinds[0])
    _removal(host, path).carry_out()
    assert not path.exists()


def test_the_environment_of_a_project_moves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gemini CLI passes on what `.env` says, Claude Code what the settings of the project say."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    code = "from permitry.config.folders import *; print(user_config(), user_state(), user_cache())"
    command = hook_command("gemini")
    elsewhere = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"), "/srv/evil")
    start = [*command[: command.index("-m")], "-c", code]
    found = subprocess.run(start, env=elsewhere, capture_output=True, text=True, check=True).stdout.split()
    below = (".config", ".local/state", ".cache")
    assert found == [str(tmp_path / each / "permitry") for each in below]


OFF = [
    ("claude-code", {"disableAllHooks": True}),
    ("copilot", {"disableAllHooks": True}),
    ("gemini", {"hooksConfig": {"enabled": False}}),
    ("gemini", {"tools": {"enableHooks": False}}),
    ("gemini", {"hooksConfig": {"disabled": ["x", "permitry"]}}),
    ("gemini", {"hooks": {"disabled": ["permitry"]}}),
]


@for_each(("host", "settings"), OFF)
def test_a_hook_that_would_not_run_is_not_installed(host: str, settings: object, tmp_path: Path) -> None:
    """It would look as if calls were guarded."""
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    with pytest.raises(PermitryError, match="switches the hook off"):
        _change(host, tmp_path / "settings.json")
    assert not list(_removal(host, tmp_path / "settings.json").diff())


@for_each(("host", "name", "text", "is_off"))
def test_another_file_may_switch_the_hook_off(host: str, name: str, text: str, tmp_path: Path, *, is_off: bool) -> None:
    """It would look as if calls were guarded."""
    (tmp_path / name).write_text(text)
    if is_off:
        with pytest.raises(PermitryError, match=f"{name}` switches the hook off|cannot read .*{name}"):
            _change(host, tmp_path / "settings.json")
    else:
        assert _change(host, tmp_path / "settings.json").after
    assert not list(_removal(host, tmp_path / "settings.json").diff())


@for_each("settings", [{"disableAllHooks": False}, {"hooksConfig": {"disabled": ["x"]}}])
def test_other_values_of_these_switches_are_fine(settings: object, tmp_path: Path) -> None:
    """They switch nothing off."""
    for host in ("claude-code", "gemini"):
        (tmp_path / "settings.json").write_text(json.dumps(settings))
        assert _change(host, tmp_path / "settings.json").after


@for_each(
    "line",
    [
        "~/bin/audit.sh; permitry hook claude-code --rules ~/strict.toml",
        "notify-send 'permitry hook fired'",
        "~/bin/audit.sh && /opt/python -I -m permitry hook x || exit 2",
        "/opt/python -I -m permitry hook x; ~/bin/audit.sh || exit 2",
        "/opt/python -I -m permitry hook x",
        "permitry hook 'x",
        "/opt/logger /opt/python -I -m permitry hook claude-code || exit 2",
        "/opt/wrapper -I -m permitry hook claude-code || exit 2",
        "/opt/python -I -m permitry hook claude-code || exit 2",
        "FOO=1 /opt/python -I -m permitry hook claude-code || exit 2",
        "echo -I -m permitry hook claude-code || exit 2",
        "/usr/bin/env python -I -m permitry hook claude-code || exit 2",
        f"/usr/bin/env {shlex.join(FIXED)} /opt/python -I -m permitry hook codex || exit 2",
        f"/usr/bin/env {shlex.join(FIXED)} /opt/python -I -m permitry hook codex{OR_BLOCK}",
        f"/usr/bin/env {shlex.join(FIXED)} /opt/python -I -m permitry hook claude-code || exit 2{OR_BLOCK}",
        f"/usr/bin/env {shlex.join(FIXED)} log python -I -m permitry hook claude-code{OR_BLOCK}",
        f"/usr/bin/env {shlex.join(FIXED)} log python -I -m permitry hook claude-code || exit 2",
        f"/usr/bin/env {shlex.join(FIXED)} python -I -S",
        f"/usr/bin/env {shlex.join(FIXED)} python -I -S x.py s 1 python -I -m permitry hook claude-code || exit 2",
        f"/usr/bin/env {shlex.join(FIXED)} A=1 python -I -m permitry hook claude-code || exit 2",
    ],
)
def test_a_hook_of_the_user_that_names_permitry_stays(line: str, tmp_path: Path) -> None:
    """Ours is what install writes, and nothing else."""
    path = tmp_path / "settings.json"
    theirs = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": line}]}]}}
    path.write_text(json.dumps(theirs))
    for make in (_change, _removal):
        make("claude-code", path).carry_out()
        assert json.loads(path.read_text())["hooks"]["PreToolUse"][0] == theirs["hooks"]["PreToolUse"][0]


def test_a_program_of_the_user_that_names_permitry_stays(tmp_path: Path) -> None:
    """It may call the hook among other things."""
    path = tmp_path / "PreToolUse"
    path.write_text("#!/bin/sh\nlog\npermitry hook cline\n")
    with pytest.raises(PermitryError, match="not from permitry"):
        _removal("cline", path)


def test_what_changed_after_it_was_shown_is_not_written_over(tmp_path: Path) -> None:
    """The user would lose it unseen."""
    path = tmp_path / "settings.json"
    made = _change("claude-code", path)
    path.write_text('{"model": "x"}')
    with pytest.raises(PermitryError, match="changed meanwhile"):
        made.carry_out()
    assert path.read_text() == '{"model": "x"}'


def test_no_change_has_no_diff(tmp_path: Path) -> None:
    """So that nothing is written."""
    assert list(Change(tmp_path, "a\n", "a\n").diff()) == []


@every_host
def test_the_installed_command_is_found_again(host: str, tmp_path: Path) -> None:
    """Word for word, and among others; elsewhere there is none."""
    path = tmp_path / "settings"
    assert installed(host_named(host), path) is None
    words = hook_command(host, ["--record", 'it\'s "a" file'], 20)
    change(host_named(host), path, words).carry_out()
    assert installed(host_named(host), path) == words
    path.write_text('{"hooks": {"PreToolUse": [{"hooks": [{"command": "permitry hook x"}]}]}}')
    assert installed(host_named(host), path) is None


@for_each(("host", "settings"), OFF)
def test_an_installed_hook_that_would_not_run_is_said(host: str, settings: dict[str, object], tmp_path: Path) -> None:
    """It looks as if calls were guarded."""
    path = tmp_path / "settings.json"
    _change(host, path).carry_out()
    found = json.loads(path.read_text())
    hooks = {**found["hooks"], **settings.get("hooks", {})}  # type: ignore[dict-item]  # a table in all of them
    path.write_text(json.dumps({**found, **settings, "hooks": hooks}))
    with pytest.raises(PermitryError, match=r"switches the hook off|has no hooks in the form"):
        check_switches(host_named(host), path)


def test_a_damaged_file_of_ours_has_no_command(tmp_path: Path) -> None:
    """Its first lines are not enough."""
    path = tmp_path / "PreToolUse"
    path.write_text("#!/bin/sh\n# Written by permitry: x\n")
    assert installed(host_named("cline"), path) is None
    for command in ("", "[", "7", '["/bin/sh", "-m", "permitry", "hook", "opencode"]'):
        path.write_text(f"// Written by permitry: x\nconst COMMAND = {command}\n")
        assert installed(host_named("opencode"), path) is None


CHANGES = [
    ("PreToolUse", "Stop"),
    ("PostToolUse", "Stop"),
    ("throw", "void"),
    ('"*"', '"x"'),
    ("exit 2", "exit 0"),
    ("||", "&&"),
]


@every_host
def test_a_hook_is_as_it_is_written_only_if_nothing_was_changed(host: str, tmp_path: Path) -> None:
    """Not its program, nor when and how long it is asked."""
    path, known = tmp_path / "settings", host_named(host)
    words, patience = hook_command(host, ["--grant"], 22), 20 + known.settings.spare
    change(known, path, words, patience).carry_out()
    assert is_as_written(known, path, words, 20)
    assert not is_as_written(known, path, words, 30)
    text = path.read_text()
    for old, new in CHANGES:
        path.write_text(text.replace(old, new))
        assert old not in text or installed(known, path) is None or not is_as_written(known, path, words, 20)
    path.unlink()
    other = [word.replace(sys.executable, "/bin/true") for word in words]
    change(known, path, other, patience).carry_out()
    assert installed(known, path) == other
    assert not is_as_written(known, path, other, 20)
    alone = hook_command(host, ["--grant"])
    change(known, path, alone, patience).carry_out()
    assert is_as_written(known, path, alone, 20)
