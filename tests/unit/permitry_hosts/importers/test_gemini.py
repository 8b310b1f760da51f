"""The policies of Gemini CLI, as rules of ours."""

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.importers.conftest import Import, Verdicts

from permitry.core.decision import Verdict
from permitry.errors import ConfigError
from permitry_hosts.importers import Outcome

RULES = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["npm test", "npm run"]
decision = "allow"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandRegex = "npm run (evil|bad)"
decision = "deny"
priority = 200
denyMessage = "not that"

[[rule]]
toolName = "run_shell_command"
decision = "deny"
priority = 50

[[rule]]
mcpName = "fs"
toolName = "*"
decision = "allow"
priority = 60

[[rule]]
tool_name = ["write_file", "replace"]
decision = "allow"
priority = 40
modes = ["autoEdit"]

[[rule]]
toolName = "save_memory"
decision = "ask_user"
priority = 30
interactive = true

[[rule]]
toolName = "researcher"
decision = "deny"
priority = 30

[[rule]]
toolName = "run_shell_command"
decision = "allow"
priority = 10
"""


@for_each(
    ("tool", "arguments", "mode", "verdict"),
    [
        ("run_shell_command", {"command": "npm test -- -q"}, "default", Verdict.ALLOW),
        ("run_shell_command", {"command": "npm run evil"}, "default", Verdict.BLOCK),
        ("run_shell_command", {"command": "npm run x && npm run bad"}, "default", Verdict.BLOCK),
        ("run_shell_command", {"command": "npm test && make"}, "default", Verdict.BLOCK),
        ("mcp:fs/read", {}, "default", Verdict.ALLOW),
        ("mcp:other/read", {}, "default", Verdict.CONFIRM),
        ("write_file", {"file_path": "a", "content": ""}, "autoEdit", Verdict.ALLOW),
        ("write_file", {"file_path": "a", "content": ""}, "default", Verdict.CONFIRM),
        ("save_memory", {"fact": "x"}, "default", Verdict.CONFIRM),
        ("invoke_agent", {"agent_name": "researcher", "prompt": "x"}, "default", Verdict.BLOCK),
        ("invoke_agent", {"agent_name": "other", "prompt": "x"}, "default", Verdict.CONFIRM),
    ],
)
def test_the_highest_priority_decides(  # noqa: PLR0917 -- the columns of the table
    made: Import, decide: Verdicts, tool: str, arguments: dict[str, object], mode: str, verdict: Verdict
) -> None:
    """A denial excepts what was permitted with a higher one."""
    assert decide(made("gemini", RULES), tool, context={"mode": mode}, **arguments) is verdict


def _rule(**keys: str) -> str:
    given = {"toolName": '"run_shell_command"', "decision": '"allow"', "priority": "1", **keys}
    return "[[rule]]\n" + "".join(f"{key} = {value}\n" for key, value in given.items())


@for_each(
    ("keys", "command", "verdict"),
    [
        ({}, "make", Verdict.ALLOW),
        ({}, "make > a", Verdict.CONFIRM),
        ({}, "rm -rf a", Verdict.CONFIRM),
        ({"allowRedirection": "true"}, "make > a", Verdict.ALLOW),
        ({"commandPrefix": '"make"', "allowRedirection": "true"}, "make > a", Verdict.ALLOW),
        ({"commandPrefix": '"make"'}, "make > a", Verdict.CONFIRM),
        ({}, "git branch -D x", Verdict.CONFIRM),
        ({}, "git branch x", Verdict.CONFIRM),
        ({}, "git branch -a -v", Verdict.ALLOW),
        ({}, "git -c core.pager=x log", Verdict.CONFIRM),
        ({}, "git --config-env=a=b log", Verdict.CONFIRM),
        ({}, "git log --output=x", Verdict.CONFIRM),
        ({}, "base64 -o a b", Verdict.CONFIRM),
        ({}, "rg --pre x y", Verdict.CONFIRM),
        ({}, "find . -fprint0 x", Verdict.CONFIRM),
        ({}, "git push", Verdict.ALLOW),
        ({"commandPrefix": '"make"'}, "CI=1 make", Verdict.CONFIRM),
        ({"commandPrefix": '"make"'}, "cd a; CI=1 make", Verdict.CONFIRM),
        ({"commandPrefix": '"CI=1 make"'}, "CI=1 make", Verdict.ALLOW),
        ({"commandRegex": "'^(cat|mkdir)( |$)'"}, "mkdir -p a", Verdict.ALLOW),
        ({"commandRegex": "'git (log|push)'", "decision": '"deny"'}, "cd x && git push", Verdict.BLOCK),
        ({"commandRegex": "'.*--force.*'", "decision": '"deny"'}, "git push --force", Verdict.BLOCK),
        ({"toolName": '"*"'}, "make > a", Verdict.CONFIRM),
        ({"toolName": '"*"'}, "make", Verdict.ALLOW),
    ],
)
def test_a_redirection_needs_a_permission_of_its_own(
    made: Import, decide: Verdicts, keys: dict[str, str], command: str, verdict: Verdict
) -> None:
    """As there; and what deletes is asked about where no pattern permits it."""
    assert decide(made("gemini", _rule(**keys)), "run_shell_command", command=command) is verdict


@for_each(
    ("keys", "outcome"),
    [
        ({"argsPattern": '\'"command":"git\''}, Outcome.LOOSER),
        ({"commandPrefix": '"make"', "decision": '"deny"'}, Outcome.SAME_WORDS),
        ({"commandRegex": "'make$'", "decision": '"deny"'}, Outcome.STRICTER),
        ({"commandRegex": "'.*--force.*'", "decision": '"deny"'}, Outcome.SAME),
        ({"commandRegex": "'a['", "decision": '"deny"'}, Outcome.WIDENED),
        ({"modes": '["plan"]', "decision": '"deny"'}, Outcome.UNREACHED),
        ({"modes": '["default", "plan"]', "decision": '"deny"'}, Outcome.SAME),
        ({"interactive": "true"}, Outcome.UNREACHED),
        ({"interactive": "false", "decision": '"deny"'}, Outcome.SAME),
        ({"argsPattern": "'secret'"}, Outcome.DROPPED),
        ({"argsPattern": "'secret'", "decision": '"deny"'}, Outcome.WIDENED),
        ({"argsPattern": "'a|b'", "decision": '"deny"'}, Outcome.WIDENED),
        ({"commandRegex": "'a(?=b)'", "decision": '"deny"'}, Outcome.WIDENED),
        ({"commandRegex": "'a.*b'"}, Outcome.DROPPED),
        ({"subagent": '"x"', "decision": '"deny"'}, Outcome.UNREACHED),
        ({"toolAnnotations": "{ readOnlyHint = true }"}, Outcome.DROPPED),
        ({"toolAnnotations": "{ readOnlyHint = true }", "decision": '"ask_user"'}, Outcome.WIDENED),
        ({"toolName": '"mcp_*"'}, Outcome.SAME),
        ({"toolName": '"mcp_fs_read"'}, Outcome.SAME),
        ({"toolName": '"a"', "modes": '["default", "autoEdit", "yolo", "plan"]'}, Outcome.SAME),
    ],
)
def test_what_became_of_a_rule_is_reported(made: Import, keys: dict[str, str], outcome: Outcome) -> None:
    """A permission that cannot be said is dropped, and a restriction widened."""
    (row,) = made("gemini", _rule(**keys), "p.toml").rows
    assert (row.place, row.outcome) == ("p.toml:1", outcome)


def test_what_an_earlier_rule_decides_is_reported(made: Import) -> None:
    """It has no effect there, and none here."""
    tool = {"toolName": '"replace"'}
    first, second = made("gemini", _rule(**tool) + _rule(**tool, decision='"deny"', priority="0")).rows
    assert (first.outcome, second.outcome) == (Outcome.SAME, Outcome.IGNORED)


@for_each(
    ("text", "line"),
    [
        ("[[rules]]\ntoolName = 'x'\n", 1),
        (_rule(modess='["plan"]'), 5),
        (_rule(decision='"no"'), 3),
        (_rule(decision='["deny"]'), 3),
        (_rule(modes='["none"]'), 5),
        (_rule(modes="5"), 5),
        (_rule(modes='[["plan"]]'), 5),
        (_rule(toolName="1"), 2),
        (_rule(argsPattern="1"), 5),
        (_rule(priority='"x"'), 4),
        ("rule = ['x']", 1),
        ("[[rule", 0),
    ],
)
def test_what_would_be_read_in_another_way_is_refused(made: Import, text: str, line: int) -> None:
    """Gemini CLI skips a key that it does not know, and the rule then is about more than it seems."""
    with pytest.raises(ConfigError) as caught:
        made("gemini", text)
    assert caught.value.problems[0].line == line


def test_a_denial_without_a_user_is_for_that(made: Import, decide: Verdicts) -> None:
    """It is `when.attended = false`."""
    rules = made("gemini", _rule(decision='"deny"', interactive="false", priority="2") + _rule())
    assert "when.attended = false" in rules.text
    for attended, verdict in ((True, Verdict.ALLOW), (False, Verdict.BLOCK)):
        assert decide(rules, "run_shell_command", context={"attended": attended}, command="make") is verdict
