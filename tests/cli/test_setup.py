"""`permitry setup`: the plan, one word, every file, and all of it put back."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.config.trust import TrustStore
from permitry_hosts.cli.init import write_rules
from permitry_hosts.hooks.hosts import HOSTS, host_named
from permitry_hosts.hooks.install import installed

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]
Tree = dict[str, bytes]

_STATE = ".local/state"
"""What permitry keeps for itself there, the record above all, is not put back."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder in which a Python project is the current folder; the trial of hooks is left out."""
    folder = tmp_path / "home"
    (folder / "project").mkdir(parents=True)
    (folder / "project/pyproject.toml").touch()
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(folder / "project")
    monkeypatch.setattr("permitry_hosts.cli.setup.examine_hooks", lambda _: 0)
    return folder


def _tree(home: Path) -> Tree:
    files = {str(path.relative_to(home)): path for path in home.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if not name.startswith(_STATE)}


def _make(home: Path, host: str) -> None:
    """Make the folder of a host, as its first start does."""
    (home / host_named(host).settings.folder).mkdir(parents=True)


@pytest.mark.parametrize("host", HOSTS)
def test_each_host_is_guarded_and_put_back(home: Path, cli: Cli, host: str) -> None:
    """It is found by its folder; the rules count, and afterwards each byte is as before."""
    _make(home, host)
    before, settings = _tree(home), host_named(host).settings
    code, out, err = cli("setup", "--yes")
    assert code == 0, err
    assert host in out
    words = installed(host_named(host), home / settings.user)
    assert words is not None
    assert "--grant" in words
    assert TrustStore().is_trusted(home / "project/.permitry/rules.toml")
    assert 'extends = ["permitry:hooks"]' in (home / "project/.permitry/rules.toml").read_text()
    code, _, err = cli("setup", "--undo", "--yes")
    assert (code, _tree(home)) == (0, before), err
    assert not TrustStore().entries()
    assert not (home / "project/.permitry").exists()


def test_settings_that_were_there_are_put_back_to_the_byte(home: Path, cli: Cli) -> None:
    """However they were written."""
    _make(home, "claude-code")
    text = b'{"model":\r\n "x"}'
    (home / ".claude/settings.json").write_bytes(text)
    assert cli("setup", "--yes")[0] == 0
    assert json.loads((home / ".claude/settings.json").read_text())["model"] == "x"
    assert cli("setup", "--undo", "--yes")[0] == 0
    assert (home / ".claude/settings.json").read_bytes() == text


def test_without_a_terminal_the_plan_is_all(home: Path, cli: Cli) -> None:
    """And the code says that someone has to agree, also to undo it."""
    _make(home, "claude-code")
    before = _tree(home)
    code, out, err = cli("setup")
    assert (code, _tree(home)) == (3, before)
    assert "~/.claude/settings.json" in out
    assert "pytest *" in out
    assert "with --yes it is done" in err
    assert cli("setup", "--yes")[0] == 0
    done = _tree(home)
    assert cli("setup", "--undo")[0] == 3
    assert _tree(home) == done


def test_what_was_changed_since_is_not_put_back(home: Path, cli: Cli) -> None:
    """Until the user has gone the way out that is named."""
    for host in ("claude-code", "codex"):
        _make(home, host)
    assert cli("setup", "--yes")[0] == 0
    settings = home / ".claude/settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "model": "x"}))
    done = _tree(home)
    code, _, err = cli("setup", "--undo", "--yes")
    assert (code, _tree(home)) == (4, done)
    assert "`permitry hook uninstall claude-code` takes the hook out" in err
    assert cli("hook", "uninstall", "claude-code")[0] == 0
    assert cli("setup", "--undo", "--yes")[0] == 0
    assert json.loads(settings.read_text()) == {"model": "x"}
    assert not (home / ".codex/hooks.json").exists()


def test_trust_that_came_later_is_kept(home: Path, cli: Cli) -> None:
    """The projects are trusted in one file: this one is taken out of it by name."""
    _make(home, "codex")
    other = home / "other/.permitry/rules.toml"
    other.parent.mkdir(parents=True)
    other.write_text("schema = 1\n")
    assert cli("setup", "--yes")[0] == 0
    assert cli("trust", str(home / "other"))[0] == 0
    code, _, err = cli("setup", "--undo", "--yes")
    assert code == 4
    assert f"permitry trust --revoke {home}/project" in err
    assert cli("trust", "--revoke", str(home / "project"))[0] == 0
    assert cli("setup", "--undo", "--yes")[0] == 0
    assert TrustStore().is_trusted(other)


def test_a_rule_file_that_was_there_is_not_trusted(home: Path, cli: Cli) -> None:
    """It came with the project; the user reads it first. One above counts as the project's."""
    _make(home, "codex")
    file = home / "project/.permitry/rules.toml"
    file.parent.mkdir()
    file.write_text("schema = 1\n")
    (home / "project/sub").mkdir()
    code, out, _ = cli("setup", "--yes", "sub")
    assert code == 0
    assert "not trusted" in out
    assert not TrustStore().is_trusted(file)
    assert file.read_text() == "schema = 1\n"
    assert not (home / "project/sub/.permitry").exists()
    assert cli("trust")[0] == 0
    assert "given already" in cli("setup", "--yes")[1]


@pytest.mark.parametrize("folder", [".", "empty"])
def test_what_is_no_project_gets_no_rules(home: Path, cli: Cli, folder: str) -> None:
    """A home folder, or one in which no project is found: the hook alone."""
    _make(home, "codex")
    (home / "empty").mkdir()
    (home / ".git").mkdir()
    code, out, _ = cli("setup", "--yes", str(home / folder))
    assert code == 0
    assert "run this again in" in out
    assert not list(home.rglob("rules.toml"))
    assert (home / ".codex/hooks.json").exists()
    assert cli("setup", "--undo", "--yes", str(home / folder))[0] == 0
    assert not (home / ".codex/hooks.json").exists()


def test_no_host_and_no_setup_are_errors(home: Path, cli: Cli) -> None:
    """They name the way out."""
    code, _, err = cli("setup")
    assert code == 4
    assert "name it with --host: " in err
    code, _, err = cli("setup", "--undo")
    assert code == 4
    assert "setups that can be undone: none" in err
    assert cli("setup", str(home / "project/pyproject.toml"))[0] == 4


def test_a_host_is_named_before_its_first_start(home: Path, cli: Cli) -> None:
    """And may be left to restrict alone."""
    code, out, _ = cli("setup", "--yes", "--host", "gemini", "--no-grant")
    assert code == 0
    assert "asks as before" in out
    assert "--grant" not in (home / ".gemini/settings.json").read_text()
    assert cli("setup", "--undo", "--yes")[0] == 0
    assert not (home / ".gemini").exists()


def test_a_host_that_cannot_be_guarded_is_left_out(home: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several; one that is alone, or named, is an error before anything is written."""
    for host in ("claude-code", "codex"):
        _make(home, host)
    program = home / "bin/claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 2.1.197\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{home}/bin:/usr/bin:/bin")
    code, out, _ = cli("setup", "--host", "claude-code", "--yes")
    assert code == 4
    assert not (home / ".claude/settings.json").exists()
    code, out, _ = cli("setup", "--yes")
    assert code == 0
    assert "left out" in out
    assert not (home / ".claude/settings.json").exists()
    assert (home / ".codex/hooks.json").exists()


def test_the_options_of_a_hook_that_is_there_are_kept(home: Path, cli: Cli) -> None:
    """It gets `--grant`; a second time nothing is left to do."""
    assert cli("hook", "install", "codex", "--ask", "wait=9")[0] == 0
    assert cli("setup", "--yes")[0] == 0
    words = installed(host_named("codex"), home / ".codex/hooks.json")
    assert words is not None
    assert words[-3:] == ["--grant", "--ask", "wait=9"]
    done = _tree(home)
    code, out, _ = cli("setup")
    assert code == 0
    assert "its hook is installed already" in out
    assert _tree(home) == done


def test_a_problem_of_the_hook_is_the_code(home: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written stays, and how it is put back is said."""
    _make(home, "codex")
    monkeypatch.setattr("permitry_hosts.cli.setup.examine_hooks", lambda _: 1)
    code, _, err = cli("setup", "--yes")
    assert code == 1
    assert "to put all of it back: permitry setup --undo" in err


def test_a_setup_that_breaks_off_can_be_undone(home: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has written by then is known."""
    _make(home, "codex")
    before = _tree(home)

    def fail(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr("permitry_hosts.cli.hook_settings.carry_out", fail)
    assert cli("setup", "--yes")[0] == 1
    assert (home / "project/.permitry/rules.toml").exists()
    assert cli("setup", "--undo", "--yes")[0] == 0
    assert _tree(home) == before


def test_rules_that_an_agent_changes_meanwhile_are_not_trusted(
    home: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user has seen those of the plan, and no others."""
    _make(home, "codex")

    def write_and_change(folder: Path, text: str) -> None:
        write_rules(folder, text)
        more = '[[rule]]\nid = "all"\neffect = "allow"\ntools = ["*"]\n'
        (folder / ".permitry/rules.toml").write_text(text + more)

    monkeypatch.setattr("permitry_hosts.cli.setup.write_rules", write_and_change)
    code, _, err = cli("setup", "--yes")
    assert code == 4
    assert "was changed while it was to be trusted" in err
    assert not TrustStore().entries()


def test_no_rules_are_written_through_a_link(home: Path, cli: Cli) -> None:
    """A repository may bring one that leads to the rules of the user, which count everywhere."""
    _make(home, "claude-code")
    (home / ".config/permitry").mkdir(parents=True)
    (home / "project/.permitry").symlink_to("../.config/permitry")
    code, out, _ = cli("setup", "--yes")
    assert code == 0
    assert "is through a link" in out.replace("\n", " ")
    assert list((home / ".config/permitry").iterdir()) == []
    assert not TrustStore().entries()
