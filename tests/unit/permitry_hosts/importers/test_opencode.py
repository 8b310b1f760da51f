"""The permissions of opencode, as rules of ours."""

import json

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.importers.conftest import Import, Verdicts

from permitry.core.decision import Verdict
from permitry.errors import PermitryError
from permitry_hosts.importers import Outcome


def _config(permission: object) -> str:
    return json.dumps({"permission": permission}, indent=1)


@for_each(
    ("permission", "tool", "arguments", "verdict"),
    [
        ({"bash": {"*": "deny", "git *": "allow"}}, "bash", {"command": "git push"}, Verdict.ALLOW),
        ({"bash": {"*": "deny", "git *": "allow"}}, "bash", {"command": "git push && make"}, Verdict.BLOCK),
        ({"bash": {"git *": "allow", "*": "deny"}}, "bash", {"command": "git push"}, Verdict.BLOCK),
        ({"edit": "deny"}, "write", {"filePath": "a"}, Verdict.BLOCK),
        ({"edit": {"*": "deny", "src/*": "allow"}}, "edit", {"filePath": "src/a/b"}, Verdict.ALLOW),
        ({"edit": {"src/*.ts": "deny"}}, "edit", {"filePath": "src/a/b.ts"}, Verdict.BLOCK),
        ({"edit": {"*.ts": "allow"}}, "edit", {"filePath": "src/a/b.ts"}, Verdict.ALLOW),
        ({"edit": {"a*b*c*d*e*f": "deny"}}, "edit", {"filePath": "x"}, Verdict.BLOCK),
        ({"webfetch": {"https://a.com/*": "allow"}}, "webfetch", {"url": "https://a.com/x"}, Verdict.ALLOW),
        ({"webfetch": {"*evil*": "deny"}}, "webfetch", {"url": "https://evil.com/"}, Verdict.BLOCK),
        ({"task": {"x-*": "deny"}}, "task", {"subagent_type": "x-1"}, Verdict.BLOCK),
        ({"skill": {"deploy": "deny"}}, "skill", {"name": "deploy"}, Verdict.BLOCK),
        ({"github_*": "deny"}, "mcp:github/push", {}, Verdict.BLOCK),
        ({"*": "allow", "my_server_push": "deny"}, "mcp:my_server/push", {}, Verdict.BLOCK),
        ({"*": "allow", "my_server_p*": "deny"}, "mcp:my_server/push", {}, Verdict.BLOCK),
        ({"bash": {"*": "allow", "*--force*": "deny"}}, "bash", {"command": "git push --force"}, Verdict.BLOCK),
        ({"bash": {"*": "allow", "*.env*": "deny"}}, "bash", {"command": "echo A >> x.env"}, Verdict.BLOCK),
        ({"bash": {"*": "allow", "git p?sh": "deny"}}, "bash", {"command": "git push"}, Verdict.BLOCK),
        ({"bash": {"*": "deny", "git*log*": "ask"}}, "bash", {"command": "git log"}, Verdict.CONFIRM),
        ({"bash": {"*": "deny", "git*log*": "ask"}}, "bash", {"command": "git log; make"}, Verdict.BLOCK),
        ({"bash": {" ": "allow", " *": "allow"}}, "bash", {"command": "make"}, Verdict.CONFIRM),
        ({"*_push": "deny"}, "mcp:github/push", {}, Verdict.BLOCK),
        ({"*": {"rm *": "deny"}}, "bash", {"command": "rm a"}, Verdict.BLOCK),
        ({"external_directory": "deny"}, "read", {"filePath": "/etc/passwd"}, Verdict.BLOCK),
        ({"external_directory": {"/etc/*": "deny"}}, "read", {"filePath": "/etc/passwd"}, Verdict.BLOCK),
        ({}, "read", {"filePath": "/etc/passwd"}, Verdict.CONFIRM),
        ({}, "read", {"filePath": "a/x.env"}, Verdict.CONFIRM),
        ({"read": {"*.pem": "deny"}}, "read", {"filePath": "/srv/x.pem"}, Verdict.BLOCK),
        ({"read": {"**/x": "deny"}}, "read", {"filePath": "/srv/x"}, Verdict.BLOCK),
        ({}, "read", {"filePath": "a/x.env.example"}, Verdict.ALLOW),
        ("allow", "edit", {"filePath": "a"}, Verdict.ALLOW),
        ({"lsp": {"x": "deny"}}, "lsp", {"filePath": "a"}, Verdict.BLOCK),
    ],
)
def test_the_last_match_decides(  # noqa: PLR0917 -- the columns of the table
    made: Import, decide: Verdicts, permission: object, tool: str, arguments: dict[str, object], verdict: Verdict
) -> None:
    """Of each kind of permission a call."""
    assert decide(made("opencode", _config(permission)), tool, **arguments) is verdict


@for_each(
    ("permission", "outcomes"),
    [
        ({"bash": {"npm *": "allow"}}, [Outcome.SAME_WORDS]),
        ({"bash": {"*.env*": "deny", "a | b": "deny"}}, [Outcome.SAME, Outcome.STRICTER]),
        ({"edit": {"*.ts": "allow", "src/*": "deny", "a*b*c*d*e*f": "ask"}}, [Outcome.SAME] * 2 + [Outcome.STRICTER]),
        ({"doom_loop": "ask", "external_directory": "allow"}, [Outcome.NOT_TRIED, Outcome.DROPPED]),
        ({"lsp": {"a*": "allow"}, "question": {"a*": "deny"}}, [Outcome.DROPPED, Outcome.WIDENED]),
        ({"webfetch": {"https://a.com/*": "deny"}, "task": {"a*": "allow"}, "x_*": "ask"}, [Outcome.SAME] * 3),
        ({"doom_loop": "allow", "external_directory": "ask"}, [Outcome.DROPPED, Outcome.WIDENED]),
        ({"edit": "deny", "*": "allow"}, [Outcome.IGNORED, Outcome.SAME]),
        ({"mine": {"x": "allow"}, "other": {"x": "ask"}}, [Outcome.DROPPED, Outcome.WIDENED]),
        ({"edit": {"../*": "deny"}}, [Outcome.WIDENED]),
        ({"bash": {" ": "allow", "a | b": "allow"}}, [Outcome.IGNORED, Outcome.DROPPED]),
    ],
)
def test_what_became_of_a_rule_is_reported(made: Import, permission: object, outcomes: list[Outcome]) -> None:
    """In the order of the file."""
    assert [row.outcome for row in made("opencode", _config(permission)).rows] == outcomes


def test_a_rule_has_its_line(made: Import) -> None:
    """In a file with comments."""
    (row,) = made("opencode", '{\n// mine\n"permission": {"bash": {\n"git *": "ask"}}}', "opencode.jsonc").rows
    assert row.place == "opencode.jsonc:4"


@for_each("text")
def test_what_is_no_such_configuration_is_refused(made: Import, text: str) -> None:
    """Also in the permissions of a single agent."""
    with pytest.raises(PermitryError, match="source"):
        made("opencode", text)


def test_what_is_said_of_one_agent_is_for_that_agent(made: Import, decide: Verdicts) -> None:
    """It goes before what is said of all, and is reported: the hook does not say which agent calls."""
    agents = {"plan": {"permission": {"bash": {"*": "deny", "git *": "allow"}}}, "x": {"permission": "ask"}, "y": 1}
    rules = made("opencode", json.dumps({"agent": agents, "permission": {"bash": "allow", "read": "deny"}}))
    assert [row.outcome for row in rules.rows] == [Outcome.SAME] * 2 + [Outcome.UNREACHED] * 3
    for agent, command, verdict in [
        ("plan", "make", Verdict.BLOCK),
        ("plan", "git push", Verdict.ALLOW),
        ("build", "make", Verdict.ALLOW),
        ("x", "make", Verdict.CONFIRM),
    ]:
        assert decide(rules, "bash", context={"agent": agent}, command=command) is verdict
    assert decide(rules, "read", context={"agent": "x"}, filePath="a") is Verdict.CONFIRM
    assert decide(rules, "read", filePath="a") is Verdict.BLOCK
