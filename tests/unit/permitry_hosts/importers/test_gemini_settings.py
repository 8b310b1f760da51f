"""The lists of tools and servers in the settings of Gemini CLI, as rules of ours."""

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.importers.conftest import Import, Verdicts

from permitry.core.decision import Verdict
from permitry.errors import PermitryError
from permitry_hosts.importers import HOSTS, Outcome, Source, write_rules

NAME = "settings.json"
SETTINGS = """
{
  // What a team agreed on.
  "tools": {
    "allowed": ["run_shell_command(npm test)", "web_fetch(a.com)", "write_file", "mcp_bad_read"],
    "exclude": ["ShellTool(rm -rf)", "save_memory", "web_fetch(evil.com)"],
    "confirmationRequired": ["replace", "write_file"],
  },
  "mcp": {"excluded": ["bad"], "allowed": ["good"]},
  "mcpServers": {"mine": {"command": "x", "trust": true}, "other": {"command": "y"}}
}
"""


@for_each(
    ("tool", "arguments", "verdict"),
    [
        ("run_shell_command", {"command": "npm test -- -q"}, Verdict.ALLOW),
        ("run_shell_command", {"command": "npm run x"}, Verdict.CONFIRM),
        ("run_shell_command", {"command": "npm test && rm -rf x"}, Verdict.BLOCK),
        ("save_memory", {"fact": "x"}, Verdict.BLOCK),
        ("replace", {"file_path": "a"}, Verdict.CONFIRM),
        ("write_file", {"file_path": "a", "content": ""}, Verdict.CONFIRM),
        ("web_fetch", {"prompt": "https://a.com"}, Verdict.BLOCK),
        ("google_web_search", {"query": "x"}, Verdict.CONFIRM),
        ("mcp:bad/read", {}, Verdict.BLOCK),
        ("mcp:good/read", {}, Verdict.ALLOW),
        ("mcp:mine/read", {}, Verdict.ALLOW),
        ("mcp:other/read", {}, Verdict.CONFIRM),
        ("mcp_bad_read", {}, Verdict.BLOCK),
        ("mcp_good_read", {}, Verdict.ALLOW),
        ("mcp_other_read", {}, Verdict.CONFIRM),
    ],
)
def test_each_list_has_its_priority(
    made: Import, decide: Verdicts, tool: str, arguments: dict[str, object], verdict: Verdict
) -> None:
    """Excluded servers first, then excluded tools, questions and permissions."""
    assert decide(made("gemini", SETTINGS, NAME), tool, **arguments) is verdict


def test_a_permission_for_arguments_that_cannot_be_said_is_dropped(made: Import) -> None:
    """And a denial is about more calls."""
    rows = {row.text: row for row in made("gemini", SETTINGS, NAME).rows}
    assert rows[r"allow web_fetch a\.com"].outcome is Outcome.DROPPED
    assert rows[r"deny web_fetch evil\.com"].outcome is Outcome.WIDENED
    assert rows["deny save_memory"].place == "settings.json:6"


@for_each("text", ['{"tools": {"core": ["read_file", "ShellTool(ls)"]}}', '{"coreTools": ["ShellTool(ls)"]}'])
def test_a_list_of_core_tools_excludes_all_others(made: Import, decide: Verdicts, text: str) -> None:
    """Also by the name that the key had before; not in the mode for plans, which has rules of its own."""
    rules = made("gemini", text, NAME)
    assert decide(rules, "run_shell_command", command="ls -l") is Verdict.ALLOW
    assert decide(rules, "run_shell_command", command="ls && make") is Verdict.BLOCK
    assert decide(rules, "write_file", file_path="a", content="") is Verdict.BLOCK
    assert decide(rules, "write_file", file_path="a", content="", context={"mode": "planning"}) is Verdict.CONFIRM


def test_a_list_of_the_project_counts_instead_of_that_of_the_user(decide: Verdicts) -> None:
    """Which is what the host does, or less than it permits; what is excluded counts everywhere."""
    project = Source("p.json", '{"tools": {"allowed": ["write_file"], "exclude": ["glob"]}}')
    user = Source("u.json", '{"allowedTools": ["replace"], "excludeTools": ["save_memory"]}', is_users=True)
    rules = write_rules(HOSTS["gemini"].read([project, user]), ["p.json", "u.json"])
    assert decide(rules, "write_file", file_path="a", content="") is Verdict.ALLOW
    assert decide(rules, "replace", file_path="a") is Verdict.CONFIRM
    assert decide(rules, "glob", pattern="x") is decide(rules, "save_memory", fact="x") is Verdict.BLOCK
    (ignored,) = [row for row in rules.rows if row.outcome is Outcome.IGNORED]
    assert (ignored.place, ignored.text, ignored.lines) == ("u.json:1", "allow replace", ())


def test_policies_and_settings_are_one_list(decide: Verdicts) -> None:
    """A policy of a user with a higher priority decides first."""
    policy = '[[rule]]\ntoolName = "save_memory"\ndecision = "allow"\npriority = 500\n'
    sources = [Source("a.toml", policy), Source("s.json", '{"tools": {"exclude": ["save_memory", "glob"]}}')]
    rules = write_rules(HOSTS["gemini"].read(sources), ["a.toml", "s.json"])
    assert decide(rules, "save_memory", fact="x") is Verdict.ALLOW
    assert decide(rules, "glob", pattern="x") is Verdict.BLOCK


def test_settings_without_lists_say_nothing(made: Import) -> None:
    """Most have a theme and servers alone."""
    assert made("gemini", '{"ui": {}, "mcpServers": {"a": {}}, "tools": {"sandbox": true}}', NAME).rows == ()
    assert made("gemini", '{"tools": true, "mcpServers": []}', NAME).rows == ()


@for_each("text", ["[]", '{"tools": {"exclude": "x"}}', '{"excludeTools": [1]}', "{"])
def test_what_are_no_settings_is_refused(made: Import, text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(PermitryError, match=r"settings\.json"):
        made("gemini", text, NAME)
