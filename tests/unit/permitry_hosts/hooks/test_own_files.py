"""The program that guards an agent is not the agent's to change."""

import os
import shlex
import sys
from pathlib import Path

import attrs
import pytest
from tests.tables import for_each

import permitry
from permitry.config.ruleset import RuleSet
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry_hosts.hooks.own_files import own_rules
from permitry_hosts.hooks.places import base_python, place

PACKAGES = Path(attrs.__file__).parents[1]
LIBRARY = Path(os.__file__).parent
CODE = Path(permitry.__file__).parent


def _is_blocked(tool: str, **arguments: str) -> bool:
    policy = RuleSet(rules=own_rules()).policy()
    decision = policy.decide(ToolCall(tool, arguments), AuthContext(workspace="/home/ann/project"))
    return decision.verdict is Verdict.BLOCK


@for_each(
    "path",
    [
        PACKAGES / "a.pth",
        PACKAGES / "sitecustomize.py",
        PACKAGES / "attr/__init__.py",
        LIBRARY / "os.py",
        CODE / "core/policy.py",
        CODE.with_name("permitry_hosts") / "hooks/client.py",
        # The folder of an editable install is on the path as well.
        CODE.with_name("sitecustomize.py"),
        Path(sys.prefix, "pyvenv.cfg"),
        Path(sys.executable),
        Path(os.path.realpath(sys.executable)),
        base_python(),
    ],
    ids=str,
)
def test_no_tool_writes_there(path: Path) -> None:
    """The next hook would run what is written."""
    assert _is_blocked("write_file", path=str(path), content="x")
    assert _is_blocked("run_shell", command=f"echo x > {path}")
    assert _is_blocked("run_shell", command=f"rm -r {path.parent}")


@for_each(
    "command",
    [f"cat {CODE}/guard.py", f"grep -r x {PACKAGES}", "pip install requests", 'rm "$x"', "rm -r build", "make"],
)
def test_reading_and_other_files_are_left_alone(command: str) -> None:
    """An agent reads its libraries, installs others, and works where it likes."""
    assert not _is_blocked("run_shell", command=command)
    assert not _is_blocked("read_file", path=str(LIBRARY / "os.py"))


@for_each(
    ("prefix", "program"), [("/srv/venv", "bin/permitry"), ("/srv/venv", "bin/pip"), (sys.base_prefix, "bin/permitry")]
)
def test_the_program_that_the_human_starts_is_guarded(
    prefix: str, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`permitry approve` gets the terminal of the human; in a system's folder only it is permitry's."""
    monkeypatch.setattr("sys.prefix", prefix)
    monkeypatch.setattr("sys.executable", f"{prefix}/bin/python3")
    assert _is_blocked("run_shell", command=f"echo x > {prefix}/{program}")
    assert _is_blocked("write_file", path=f"{prefix}/bin/ruff", content="x") is (prefix == "/srv/venv")
    assert not _is_blocked("run_shell", command=f"{prefix}/bin/pip install requests")


def test_rules_and_answers_are_guarded_wherever_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders may be moved by the environment."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, f"/srv/{name}")
        assert _is_blocked("write_file", path=f"/srv/{name}/permitry/x", content="x")


def test_what_the_resident_has_is_not_even_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who knows its key can answer in its place; what else is in the state folder may be read."""
    monkeypatch.setenv("XDG_STATE_HOME", "/srv/state")
    for path in (place(), f"{place()}.key", place().parent):
        assert _is_blocked("read_file", path=str(path))
        assert _is_blocked("run_shell", command=f"cat {path}")
        assert _is_blocked("run_shell", command=f"cp -r {path} /tmp/x")
    assert not _is_blocked("run_shell", command="cat /srv/state/permitry/audit.jsonl")


@for_each("name", ["st[1]", "st*", "**", "s?t", "{a,b}", "{a", "a\\b", "a\nb", "a]b", "~", "[!x]", ".."])
def test_a_folder_is_guarded_whatever_its_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is no pattern, and makes no rule invalid."""
    monkeypatch.setenv("XDG_STATE_HOME", f"/srv/deep/{name}")
    folder = "/srv/permitry" if name == ".." else f"/srv/deep/{name}/permitry"
    assert _is_blocked("write_file", path=f"{folder}/x", content="x")
    assert _is_blocked("run_shell", command=f"rm -r {shlex.quote(folder)}")
    assert not _is_blocked("write_file", path="/srv/deep/stone/permitry/x", content="x")
    assert not _is_blocked("run_shell", command="ls")


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which the state is reached by links: `.local` to `dots/now`, which is a link to `v1`."""
    (tmp_path / "dots/v1/state").mkdir(parents=True)
    (tmp_path / "dots/now").symlink_to("v1")
    (tmp_path / ".local").symlink_to("sub/../dots/now")
    (tmp_path / "sub").mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", f"{tmp_path}/.local/state")
    return tmp_path


@pytest.mark.parametrize("link", [".local", "dots/now"])
@pytest.mark.parametrize(
    "command", ["rm {}", "unlink {}", "ln -sfn /tmp/evil {}", "mv {} x", "rm {} && ln -s evil {}", "mv -T evil {}"]
)
def test_a_link_on_the_way_is_guarded(links: Path, link: str, command: str) -> None:
    """Replaced by another one, it leads to other files."""
    assert _is_blocked("run_shell", command=command.replace("{}", str(links / link)))


@pytest.mark.parametrize(
    "command",
    [
        "cp x {}/share/",
        "cp x {}/bin/x",
        "mkdir -p {}/share/x",
        "echo x > {}/y",
        "rm -r {}/share",
        "ls {}",
        "mv x {}/share/y",
    ],
)
def test_what_else_a_link_leads_to_is_left_alone(links: Path, command: str) -> None:
    """Others keep their files there."""
    for link in (".local", "dots/now"):
        assert not _is_blocked("run_shell", command=command.replace("{}", str(links / link)))


@for_each("text", ["rm {}", "cp x {}", "echo x > {}", "mv {} y", "ln -sf x {}", "ls {}"])
def test_stores_are_guarded_wherever_they_are(text: str) -> None:
    """Whatever writes to them; they may be read."""
    policy = RuleSet(rules=own_rules([Path("/srv/s.db")])).policy()
    decision = policy.decide(ToolCall("run_shell", {"command": text.format("/srv/s.db")}), AuthContext())
    assert (decision.rule_id == "protect-own-files") is (text != "ls {}")
    assert not _is_blocked("run_shell", command=text.format("/srv/s.db"))
