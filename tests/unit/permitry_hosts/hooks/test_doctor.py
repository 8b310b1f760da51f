"""What is wrong with a hook is found, and what is well is not called wrong."""

import sys
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry_hosts.hooks.doctor import Finding, trials, unfit, version
from permitry_hosts.hooks.hosts import HOSTS, host_named
from permitry_hosts.hooks.install import hook_command

MAIN = "from permitry.cli.main import run_from_shell; run_from_shell()"


def _program(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@for_each(
    ("host", "said", "found"),
    [
        ("claude-code", "2.1.197 (Claude Code)", (False, "2.1.295 or later")),
        ("claude-code", "2.1.295 (Claude Code)", (True, "2.1.295")),
        ("claude-code", "10.0.0", (True, "10.0.0")),
        ("codex", "codex-cli 0.169.0", (True, "0.169.0")),
        ("codex", "dev", (None, "says no version")),
        ("gemini", "1.2.3", (None, "not on the path")),
    ],
)
def test_the_version_is_what_the_host_says(
    host: str, said: str, found: tuple[bool | None, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that runs calls whose hook has crashed is not well."""
    _program(tmp_path, monkeypatch, host.removesuffix("-code").replace("gemini", "other"), f"echo '{said}'")
    assert version(host_named(host)).is_well is found[0]
    assert found[1] in version(host_named(host)).text


@for_each("path", [".", "", "bin", "./bin"])
def test_a_program_of_the_project_is_not_asked(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the path has folders that are named from the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    for folder in (tmp_path, tmp_path / "bin"):
        _program(folder, monkeypatch, "codex", "touch ran; echo 1.2.3")
    monkeypatch.setenv("PATH", f"{path}:/usr/bin:/bin:{path}")
    assert "not on the path" in version(host_named("codex")).text
    assert not (tmp_path / "ran").exists()


def test_a_host_that_does_not_say_its_version_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It might wait for a human."""
    monkeypatch.setattr("permitry_hosts.hooks.doctor._SECONDS", 0.2)
    _program(tmp_path, monkeypatch, "codex", "exec sleep 60")
    assert version(host_named("codex")).is_well is False


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder, in which nothing is started that stays."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PERMITRY_NO_RESIDENT", "1")
    return tmp_path


CHECKS = [
    "a rule that blocks",
    "the next call",
    "garbage",
    "a rule that raises",
    "a hook that crashes",
    "a hook that ends without a word",
    "a rule that is slow",
]


_TRIED = ("claude-code", "cline")
"""The hosts of a change; each starts a process for each trial."""


@pytest.mark.parametrize(
    "host", [*_TRIED, *(pytest.param(host, marks=pytest.mark.large) for host in HOSTS if host not in _TRIED)]
)
def test_a_hook_that_is_well_blocks_in_every_trial(host: str, home: Path) -> None:
    """As its host would run it."""
    found = list(trials(host_named(host), hook_command(host, ["--deadline", "15"], 17), home))
    assert [each.check for each in found] == CHECKS
    assert [each for each in found if not each.is_well] == []


@pytest.mark.parametrize("host", ["codex", "cline", "opencode", "cursor"])
def test_a_hook_that_lets_calls_run_is_found(host: str, home: Path) -> None:
    """It says nothing at all, or that the call may run."""
    silent = ["/bin/sh", "-c", "cat >/dev/null; exit 0", "-m", "permitry", "hook", host]
    assert not any(each.is_well for each in trials(host_named(host), silent, home))
    allowing = ["/bin/sh", "-c", """cat >/dev/null; echo '{"permission": "allow"}'""", "-m", "permitry", "hook", host]
    assert not any(each.is_well for each in trials(host_named(host), allowing, home))


def test_an_exit_code_without_a_word_blocks_no_call(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codex and Gemini CLI run the call then."""
    monkeypatch.setattr("permitry_hosts.hooks.doctor.OR_BLOCK", " || exit 2")
    words = ["/bin/sh", "-c", "cat >/dev/null; exit 2", "-m", "permitry", "hook", "codex"]
    assert not any(each.is_well for each in trials(host_named("codex"), words, home))


def test_a_hook_that_hangs_is_found(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not waited for."""
    monkeypatch.setattr("permitry_hosts.hooks.doctor._SECONDS", 0.2)
    words = ["/bin/sh", "-c", "exec sleep 60", "-m", "permitry", "hook", "codex"]
    found = list(trials(host_named("codex"), words, home))
    assert not any(each.is_well for each in found)
    assert "nothing" in found[0].text


def test_a_hook_that_blocks_everything_is_found(home: Path) -> None:
    """Its rules have a mistake, or it cannot be started."""
    (home / "rules.toml").write_text("schema = 7")
    words = hook_command("codex", ["--rules", str(home / "rules.toml")])
    found = {each.check: each for each in trials(host_named("codex"), words, home)}
    assert found["a rule that blocks"].is_well is False
    assert "all calls are blocked" in found["a rule that blocks"].text
    words = [sys.executable, "-I", "-m", "nowhere", "hook", "codex"]
    assert next(trials(host_named("codex"), words, home)).is_well is False


RULES = """
schema = 1
[[rule]]
id = "questions"
effect = "confirm"
tools = ["Bash", "write_stdin"]
reason = "r"
[[rule]]
id = "edits"
effect = "block"
tools = ["Edi*"]
reason = "r"
[[rule]]
id = "server"
effect = "block"
tools = ["mcp:x/y"]
reason = "r"
[[rule]]
id = "shells"
effect = "block"
tools = ["@shell"]
when.command = "x"
reason = "r"
[[rule]]
id = "typing"
effect = "block"
tools = ["write_stdin"]
reason = "r"
"""


def _unfit(host: str, path: Path, tools: set[str], wait: float = 0, *, rules: str = RULES) -> list[Finding]:
    (path / "rules.toml").write_text(rules)
    return list(unfit(host_named(host), load_rules([Origin(str(path / "rules.toml"))]), frozenset(tools), wait))


def test_what_a_host_cannot_carry_out_is_said(tmp_path: Path) -> None:
    """Questions where it does not ask, and rules about tools that it does not have, or not before its hook."""
    questions, tools = _unfit("codex", tmp_path, {"Bash", "write_stdin"})
    assert "the questions of 1 rules are refused, such as `questions`" in questions.text
    assert "`edits`, `typing`" in tools.text
    assert "waited for, 9 seconds" in _unfit("codex", tmp_path, {"Bash", "Edit"}, 9)[0].text
    assert [each.check for each in _unfit("claude-code", tmp_path, {"Bash", "Edit", "write_stdin"})] == []


def test_many_rules_are_not_all_named(tmp_path: Path) -> None:
    """A few are enough to know what is meant."""
    rule = '[[rule]]\nid = "r{}"\neffect = "block"\ntools = ["none"]\nreason = "r"\n'
    rules = "schema = 1\n" + "".join(rule.format(each) for each in range(5))
    (found,) = _unfit("claude-code", tmp_path, {"Bash"}, rules=rules)
    assert found.text.endswith("`r0`, `r1`, `r2`, …")


ASKING = """\
schema = 1
[[rule]]
id = "named"
effect = "block"
when.args.to.not_from = ["user"]
[[rule]]
id = "found"
effect = "block"
when.args.to.not_from = ["contacts#mail"]
"""


@for_each(("host", "said"))
def test_a_host_that_is_not_heard_is_said(host: str, said: list[str], tmp_path: Path) -> None:
    """With the rules that ask where a value comes from."""
    found = [each.text for each in _unfit(host, tmp_path, set(), rules=ASKING)]
    assert len(found) == len(said)
    assert all(text in each for text, each in zip(said, found, strict=True))
