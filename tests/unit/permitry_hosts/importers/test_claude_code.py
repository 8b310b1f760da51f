"""The permissions of Claude Code, as rules of ours: by their verdicts and by what is reported."""

import json

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.importers.conftest import Import, Verdicts

from permitry.core.decision import Verdict
from permitry.errors import PermitryError
from permitry_hosts.importers import HOSTS, Outcome, Row, Source, Written, write_rules


def _settings(**permissions: object) -> str:
    return json.dumps({"permissions": permissions}, indent=1)


def _row(rules: Written, text: str) -> Row:
    (row,) = [row for row in rules.rows if row.text == text]
    return row


@for_each(
    ("kind", "rule", "tool", "arguments", "verdict"),
    [
        ("deny", "Read(./.env)", "Read", {"file_path": ".env"}, Verdict.BLOCK),
        ("deny", "Read(./.env)", "Bash", {"command": "cat .env"}, Verdict.BLOCK),
        ("deny", "Read(/secrets/**)", "Read", {"file_path": "secrets/a"}, Verdict.BLOCK),
        ("deny", "Read(//etc/**)", "Read", {"file_path": "/etc/passwd"}, Verdict.BLOCK),
        ("deny", "Read(~/.ssh/**)", "Read", {"file_path": "/home/ann/.ssh/id"}, Verdict.BLOCK),
        ("deny", "Read(build)", "Read", {"file_path": "lib/build/a"}, Verdict.BLOCK),
        ("deny", "Read(./secrets/)", "Read", {"file_path": "secrets/a"}, Verdict.BLOCK),
        ("deny", "Bash(FOO=1 make)", "Bash", {"command": "FOO=1 make"}, Verdict.BLOCK),
        ("deny", "Edit", "NotebookEdit", {"notebook_path": "a.ipynb"}, Verdict.BLOCK),
        ("deny", "Edit(src/**)", "Write", {"file_path": "src/a", "content": ""}, Verdict.BLOCK),
        ("deny", "mcp__fs", "mcp:fs/write", {}, Verdict.BLOCK),
        ("deny", "mcp__fs__write", "mcp:fs/read", {}, Verdict.CONFIRM),
        ("deny", "Agent(Explore)", "Agent", {"subagent_type": "Explore"}, Verdict.BLOCK),
        ("deny", "Skill(deploy)", "Skill", {"skill": "deploy"}, Verdict.BLOCK),
        ("deny", "Agent(model:opus)", "Agent", {"model": "opus"}, Verdict.BLOCK),
        ("deny", "Bash(run_in_background:true)", "Bash", {"command": "x", "run_in_background": True}, Verdict.BLOCK),
        ("deny", "Bash(curl * | sh)", "Bash", {"command": "curl a | sh"}, Verdict.BLOCK),
        ("deny", "Bash(curl * | sh)", "Bash", {"command": "ls"}, Verdict.ALLOW),
        ("deny", "WebFetch(domain:evil.com)", "WebFetch", {"url": "http://evil.com/"}, Verdict.BLOCK),
        ("deny", "Bash(git*push*)", "Bash", {"command": "git push"}, Verdict.BLOCK),
        ("deny", "Bash(git*push*)", "Bash", {"command": "cd a && sudo git -C b 'push'"}, Verdict.BLOCK),
        ("deny", "Bash(kubectl*delete*)", "Bash", {"command": "kubectl get pods; echo delete"}, Verdict.CONFIRM),
        ("deny", "Bash(*--no-verify*)", "Bash", {"command": "git commit -m x --no-verify"}, Verdict.BLOCK),
        ("deny", "Bash(*.env*)", "Bash", {"command": "grep KEY < config/.env.local"}, Verdict.BLOCK),
        ("deny", "Bash(*.env*)", "Bash", {"command": "cat $FILE"}, Verdict.ALLOW),
        ("deny", "Bash(*CI=1*)", "Bash", {"command": "CI=1 npm test"}, Verdict.BLOCK),
        ("ask", "Bash(*HUSKY=0*)", "Bash", {"command": "export HUSKY=0; ls"}, Verdict.CONFIRM),
        ("deny", "Bash(git show HEAD@{1})", "Bash", {"command": "git show HEAD@{1}"}, Verdict.BLOCK),
        ("deny", "Bash(git show HEAD@{1})", "Bash", {"command": "ls"}, Verdict.ALLOW),
        ("allow", "Bash( )", "Bash", {"command": "make"}, Verdict.CONFIRM),
        ("allow", "Bash(\n)", "Bash", {"command": "make"}, Verdict.CONFIRM),
        ("allow", "Bash( *)", "Bash", {"command": "make"}, Verdict.CONFIRM),
        ("allow", "Bash(:*)", "Bash", {"command": "make"}, Verdict.CONFIRM),
        ("allow", "Bash(git * main)", "Bash", {"command": "git main"}, Verdict.CONFIRM),
        ("allow", "Bash(curl http://a/?x)", "Bash", {"command": "curl http://a/bx"}, Verdict.CONFIRM),
        ("allow", "Edit(/)", "Write", {"file_path": "a", "content": ""}, Verdict.CONFIRM),
        ("deny", "Grep(./**/*.db)", "Grep", {"pattern": "x", "path": "a.txt"}, Verdict.ALLOW),
        ("deny", "Grep(private/**)", "Grep", {"pattern": "x", "path": "private"}, Verdict.BLOCK),
        ("deny", "mcp__*delete*", "mcp:fs/delete_all", {}, Verdict.BLOCK),
        ("deny", "mcp__*delete*", "mcp__fs__delete_all", {}, Verdict.BLOCK),
        ("deny", "mcp__a*__rm", "mcp:ab/c__rm", {}, Verdict.BLOCK),
        ("deny", "Skill(deploy *)", "Skill", {"skill": "deploy prod"}, Verdict.BLOCK),
        ("deny", "Agent(Ex*)", "Agent", {"subagent_type": "Explore"}, Verdict.BLOCK),
        ("ask", "Bash(git push:*)", "Bash", {"command": "git push origin"}, Verdict.CONFIRM),
        ("allow", "Bash(npm test)", "Bash", {"command": "npm test"}, Verdict.ALLOW),
        ("allow", "Bash(npm test)", "Bash", {"command": "npm test -- x"}, Verdict.CONFIRM),
        ("allow", "Bash(npm run *)", "Bash", {"command": "npm run a && npm run b"}, Verdict.ALLOW),
        ("allow", "Bash(npm run *)", "Bash", {"command": "A=1 npm run a"}, Verdict.CONFIRM),
        ("allow", "Bash(npm run *)", "Bash", {"command": "NODE_ENV=test npm run a"}, Verdict.ALLOW),
        ("allow", "Bash(find *)", "Bash", {"command": "find . -delete"}, Verdict.CONFIRM),
        ("allow", "Edit(src/**)", "Write", {"file_path": "src/a", "content": ""}, Verdict.ALLOW),
        ("allow", "Edit", "Write", {"file_path": ".git/config", "content": ""}, Verdict.CONFIRM),
        ("deny", "mcp__fs__write", "mcp__fs__write", {}, Verdict.BLOCK),
        ("ask", "mcp__fs", "mcp__fs__write", {}, Verdict.CONFIRM),
        ("allow", "mcp__fs__read", "mcp:fs/read", {}, Verdict.ALLOW),
        ("allow", "mcp__fs__read", "mcp__fs__read", {}, Verdict.ALLOW),
        ("allow", "mcp__fs__read", "mcp__fs__read_all", {}, Verdict.CONFIRM),
        ("allow", "mcp__fs", "mcp:fs/read", {}, Verdict.ALLOW),
        ("allow", "mcp__fs", "mcp__fs__read", {}, Verdict.ALLOW),
        ("allow", "mcp__fs", "mcp__fs2__read", {}, Verdict.CONFIRM),
        ("deny", "Skill(plugin:deploy)", "Skill", {"skill": "plugin:deploy"}, Verdict.BLOCK),
        ("allow", "Edit(docs)", "Edit", {"file_path": "docs/a"}, Verdict.ALLOW),
        ("allow", "mcp__fs__get_*", "mcp__fs__get_a", {}, Verdict.ALLOW),
        ("allow", "WebFetch(domain:*.a.com)", "WebFetch", {"url": "https://x.a.com/"}, Verdict.ALLOW),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_rule_decides_as_there(  # noqa: PLR0913, PLR0917 -- the columns of the table
    made: Import, decide: Verdicts, kind: str, rule: str, tool: str, arguments: dict[str, object], verdict: Verdict
) -> None:
    """Of each kind of rule a call that it is about, or is not."""
    assert decide(made("claude-code", _settings(**{kind: [rule]})), tool, **arguments) is verdict


@for_each(
    ("kind", "rule", "outcome"),
    [
        ("allow", "Bash(npm test:*)", Outcome.SAME_WORDS),
        ("allow", "Bash(git log *)", Outcome.LOOSER),
        ("allow", "Bash(*--version)", Outcome.STRICTER),
        ("deny", "Bash(git*push*)", Outcome.SAME_WORDS),
        ("deny", "Bash(*.env*)", Outcome.SAME),
        ("deny", "Bash(curl * | sh)", Outcome.STRICTER),
        ("deny", "Bash(run_in_background:true)", Outcome.SAME),
        ("deny", "Read(.env)", Outcome.STRICTER),
        ("allow", "WebFetch(domain:a.com)", Outcome.STRICTER),
        ("allow", "WebFetch(domain:a.*)", Outcome.DROPPED),
        ("deny", "WebFetch(domain:a.*)", Outcome.WIDENED),
        ("deny", "Read(a/../b)", Outcome.WIDENED),
        ("allow", "Edit(a/../b)", Outcome.DROPPED),
        ("allow", "Web*", Outcome.IGNORED),
        ("allow", "mcp__*", Outcome.IGNORED),
        ("deny", "Write(src/**)", Outcome.IGNORED),
        ("deny", "Bash(command:x)", Outcome.IGNORED),
        ("allow", "Bash(flock *)", Outcome.DROPPED),
        ("allow", "Bash( )", Outcome.DROPPED),
        ("allow", "Skill(a*)", Outcome.DROPPED),
        ("deny", "Bash( )", Outcome.WIDENED),
        ("allow", "Bash(a | b)", Outcome.DROPPED),
        ("allow", "Bash (x", Outcome.IGNORED),
        ("deny", "Bash (x", Outcome.WIDENED),
        ("deny", "Grep(src/**)", Outcome.STRICTER),
        ("deny", "((", Outcome.WIDENED),
    ],
)
def test_what_became_of_a_rule_is_reported(made: Import, kind: str, rule: str, outcome: Outcome) -> None:
    """A permission that cannot be said is dropped, and a restriction widened."""
    row = _row(made("claude-code", _settings(**{kind: [rule]})), f"{kind} {rule}")
    assert row.outcome is outcome
    assert bool(row.lines) != (outcome in (Outcome.DROPPED, Outcome.IGNORED))
    assert not row.is_lost


def test_a_rule_has_both_places(made: Import) -> None:
    """The line of the settings, and that of the rule."""
    text = '{\n  "permissions": {\n    "deny": [\n      "WebSearch"\n    ]\n  }\n}'
    rules = made("claude-code", text, "settings.json")
    (row,) = rules.rows
    assert row.place == "settings.json:4"
    assert rules.text.split("\n")[row.lines[0] - 1] == "[[rule]]"
    assert 'reason = "denied in settings.json:4"' in rules.text


def test_a_path_with_a_slash_is_of_the_folder_of_the_settings(made: Import, decide: Verdicts) -> None:
    """The user's own settings lie in another folder than the project."""
    rules = made("claude-code", _settings(deny=["Read(/a)"]), is_users=True)
    assert decide(rules, "Read", file_path="/home/ann/.claude/a") is Verdict.BLOCK
    assert decide(rules, "Read", file_path="a") is Verdict.ALLOW
    assert _row(rules, "deny Read(/a)").note.endswith("; in the settings of a user `/` is `~/.claude/`")
    permitted = made("claude-code", _settings(allow=["Edit(/docs/**)", "Edit(//srv/**)"]), is_users=True)
    assert decide(permitted, "Edit", file_path="/home/ann/.claude/docs/a") is Verdict.ALLOW
    assert decide(permitted, "Edit", file_path="docs/a") is Verdict.CONFIRM
    assert _row(permitted, "allow Edit(/docs/**)").note == "in the settings of a user `/` is `~/.claude/`"
    assert not _row(permitted, "allow Edit(//srv/**)").note


@for_each(
    ("mode", "outcome"),
    [
        ("default", Outcome.SAME),
        ("dontAsk", Outcome.SAME),
        ("acceptEdits", Outcome.STRICTER),
        ("plan", Outcome.DROPPED),
        ("auto", Outcome.DROPPED),
    ],
)
def test_what_becomes_of_the_mode_is_reported(made: Import, mode: str, outcome: Outcome) -> None:
    """A mode of the session is said with each call."""
    assert _row(made("claude-code", _settings(defaultMode=mode)), f"defaultMode {mode}").outcome is outcome


MANAGED = "/etc/claude-code/managed-settings.json"


def test_in_managed_settings_a_slash_may_be_anywhere(made: Import, decide: Verdicts) -> None:
    """Where they come from is not known: a restriction is widened, and a permission left out."""
    rules = made("claude-code", _settings(deny=["Read(/a/**)", "Read(//b)"], allow=["Edit(/c/**)", "Edit(d)"]), MANAGED)
    assert decide(rules, "Read", file_path="/etc/claude-code/a/x") is Verdict.BLOCK
    assert decide(rules, "Read", file_path="a/x") is Verdict.BLOCK
    assert decide(rules, "Edit", file_path="c/x") is Verdict.CONFIRM
    outcomes = [Outcome.WIDENED, Outcome.STRICTER, Outcome.DROPPED, Outcome.SAME]
    assert [row.outcome for row in rules.rows] == outcomes


@for_each("name", [MANAGED, "managed-settings.d/10-team.json", "settings.json"])
def test_managed_settings_may_leave_out_other_permissions(decide: Verdicts, name: str) -> None:
    """Restrictions of others hold here all the same; the key means nothing in other settings."""
    only = Source(name, '{"allowManagedPermissionRulesOnly": true, "permissions": {"allow": ["Write"]}}')
    other = Source(
        "own.json", _settings(allow=["WebSearch"], deny=["WebFetch"], ask=["Bash(command:x)"], defaultMode="plan")
    )
    rules = write_rules(HOSTS["claude-code"].read([other, only]), ["own.json", name])
    is_managed = name != "settings.json"
    assert decide(rules, "Write", file_path="a", content="") is Verdict.ALLOW
    assert decide(rules, "WebSearch", query="x") is (Verdict.CONFIRM if is_managed else Verdict.ALLOW)
    assert decide(rules, "WebFetch", url="https://a.b") is Verdict.BLOCK
    assert _row(rules, "allow WebSearch").outcome is (Outcome.IGNORED if is_managed else Outcome.SAME)
    assert _row(rules, "deny WebFetch").outcome is (Outcome.STRICTER if is_managed else Outcome.SAME)
    assert _row(rules, "defaultMode plan").outcome is Outcome.DROPPED


def test_without_questions_nothing_asks(made: Import, decide: Verdicts) -> None:
    """In the mode dontAsk, what would be asked about is blocked."""
    rules = made("claude-code", _settings(defaultMode="dontAsk", ask=["WebSearch"], allow=["Write"]))
    assert decide(rules, "WebSearch", query="x") is Verdict.BLOCK
    assert decide(rules, "Bash", command="make") is Verdict.BLOCK
    assert decide(rules, "Write", file_path="a", content="") is Verdict.ALLOW


def test_a_mode_that_permits_is_left_to_the_session(made: Import) -> None:
    """A file cannot say that everything runs."""
    rules = made("claude-code", _settings(defaultMode="bypassPermissions", disableBypassPermissionsMode="disable"))
    assert [row.outcome for row in rules.rows] == [Outcome.DROPPED, Outcome.DROPPED]


@for_each("text", ['{"permissions": []}', "[]", '{"permissions": {"deny": "x"}}', '{"permissions": {"ask": [1]}}'])
def test_what_are_no_settings_is_refused(made: Import, text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(PermitryError, match="source"):
        made("claude-code", text)
