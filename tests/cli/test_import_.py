"""`permitry import`: the rules of another host, written once, and what became of each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.config.rule_text import Draft

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]

EVERY = "it holds for every tool and command"
WHY = "a permission for several tools must name a server"
SETTINGS = '{"permissions": {\n"deny": ["Read(./.env)"],\n"allow": ["Bash(npm test:*)", "Web*"]}}'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with settings of Claude Code, as the current folder."""
    folder = tmp_path / "project"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude" / "settings.json").write_text(SETTINGS, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def test_the_usual_files_are_read_and_named(cli: Cli, project: Path) -> None:
    """Without a file the places of the host are looked at; the rules are printed."""
    code, out, err = cli("import", "claude-code")
    assert code == 0
    assert 'reason = "denied in .claude/settings.json:2"' in out
    assert err.splitlines() == [
        "read .claude/settings.json",
        "stricter             .claude/settings.json:2  line 7, line 16  deny Read(./.env): " + EVERY,
        "same words           .claude/settings.json:3  line 24          allow Bash(npm test:*)",
        "ignored by the host  .claude/settings.json:3  -                allow Web*: " + WHY,
        "3 rules: 1 stricter, 1 same words, 1 ignored by the host",
    ]
    assert sorted(each.name for each in project.iterdir()) == [".claude"]


@pytest.mark.usefixtures("project")
def test_the_users_own_settings_are_read_too(cli: Cli, home: Path) -> None:
    """Those in the home folder, whose paths start there."""
    (home / ".claude").mkdir(parents=True)
    (home / ".claude" / "settings.json").write_text('{"permissions": {"deny": ["Read(/x)"]}}', encoding="utf-8")
    _, out, err = cli("import", "claude-code")
    assert err.startswith("read .claude/settings.json, ~/.claude/settings.json\n")
    assert 'when.path = ["~/.claude/x", "~/.claude/x/**"]' in out
    assert str(home) not in out


def test_the_rules_are_written_to_a_file_and_decide(cli: Cli, project: Path) -> None:
    """Nothing is trusted or installed: the user names the file."""
    code, out, err = cli("import", "claude-code", ".claude/settings.json", "-o", "rules.toml")
    assert (code, out) == (0, "")
    assert "rules.toml:7" in err
    call = '{"name": "Read", "arguments": {"file_path": ".env"}}'
    assert cli("check", "--rules", "rules.toml", "--call", call)[0] == 2
    assert cli("lint", "--rules", "rules.toml")[0] in (0, 1)
    first = (project / "rules.toml").read_text(encoding="utf-8")
    assert first == cli("import", "claude-code", ".claude/settings.json")[1]


def test_what_is_there_is_never_replaced(cli: Cli, project: Path) -> None:
    """The file stays as it is."""
    (project / "rules.toml").write_text("mine", encoding="utf-8")
    code, _, err = cli("import", "claude-code", "-o", "rules.toml")
    assert code == 4
    assert "`rules.toml` exists already" in err
    assert (project / "rules.toml").read_text(encoding="utf-8") == "mine"
    assert cli("import", "claude-code", "-o", "no/rules.toml")[0] == 4


def test_a_restriction_that_is_lost_ends_with_1(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is written; no rule of a host leads there as yet."""
    monkeypatch.setattr(Draft, "wider", lambda _: None)
    (project / "a.json").write_text('{"permissions": {"deny": ["Read(a/../b)"]}}', encoding="utf-8")
    code, out, err = cli("import", "claude-code", "a.json")
    assert (code, out) == (1, "")
    assert err.endswith("nothing was written: a restriction could be neither said nor widened\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["codex"], "no rules of codex found at `.codex/rules/*.rules`, `~/.codex/rules/*.rules`; name its files"),
        (["claude-code", "none.json"], "`none.json` cannot be read: No such file or directory"),
        (["claude-code", ".claude"], "`.claude` cannot be read: it is not a regular file"),
        (["claude-code", "odd.json"], "`odd.json` is not UTF-8"),
        (["claude-code", "long.json"], "`long.json` has more than 4194304 bytes"),
        (["emacs"], "there is no `emacs`; there are: claude-code, codex, gemini,"),
        (["claude"], "there is no `claude`; did you mean `claude-code`?"),
    ],
)
def test_what_cannot_be_read_is_an_error(cli: Cli, project: Path, words: list[str], message: str) -> None:
    """With code 4, and a hint."""
    (project / "odd.json").write_bytes(b"\xff")
    (project / "long.json").write_bytes(b" " * (4 * 1024 * 1024 + 1))
    code, out, err = cli("import", *words)
    assert (code, out) == (4, "")
    assert message in err


def test_only_the_host_is_required(cli: Cli) -> None:
    """Files are at their usual places, so that the error does not ask for them."""
    code, _, err = cli("import")
    assert (code, err.splitlines()[-1]) == (4, "permitry import: the following arguments are required: HOST")
