"""The rule files of Codex, as rules of ours."""

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.importers.conftest import Import, Verdicts

from permitry.core.decision import Verdict
from permitry.errors import ConfigError
from permitry_hosts.importers import Outcome

RULES = """
# A comment.
prefix_rule(
    pattern = ["git", ["push", "fetch"]],
    decision = "prompt",
    justification = "it reaches others",
    match = ["git push origin", ["git", "fetch"]],
    not_match = ["git status"],
)
prefix_rule(pattern = ["npm", "test"])
prefix_rule(pattern = [["rm", "rmdir"]], decision = "forbidden")
host_executable(name = "rm", paths = ["/bin/rm"])
network_rule(host = "evil.com", protocol = "https", decision = "forbidden")
network_rule(host = "good.com", protocol = "https", decision = "allow")
"""


@for_each(
    ("command", "verdict"),
    [
        ("git push origin main", Verdict.CONFIRM),
        ("npm test -- -q", Verdict.ALLOW),
        ("npm run x", Verdict.CONFIRM),
        ("rm a", Verdict.BLOCK),
        ("/bin/rm a", Verdict.BLOCK),
        ("sudo rmdir a", Verdict.BLOCK),
        ("curl https://evil.com/", Verdict.BLOCK),
        ("curl https://good.com/", Verdict.CONFIRM),
    ],
)
def test_a_prefix_is_of_words(made: Import, decide: Verdicts, command: str, verdict: Verdict) -> None:
    """With alternatives, and for the programs at the paths that count."""
    assert decide(made("codex", RULES), "Bash", command=command) is verdict


def test_what_became_of_each_is_reported(made: Import) -> None:
    """With the line it is on; the examples come along."""
    rules = made("codex", RULES, "default.rules")
    outcomes = [(row.place, row.outcome) for row in rules.rows]
    assert outcomes == [
        ("default.rules:3", Outcome.SAME),
        ("default.rules:10", Outcome.SAME),
        ("default.rules:11", Outcome.SAME),
        ("default.rules:12", Outcome.SAME),
        ("default.rules:13", Outcome.WIDENED),
        ("default.rules:14", Outcome.DROPPED),
    ]
    assert 'match = ["git push origin", "git fetch"]' in rules.text
    assert 'no_match = ["git status"]' in rules.text
    assert 'message = "it reaches others"' in rules.text


@for_each(
    ("text", "line"),
    [
        ("x = len('a')", 1),
        ("x = y", 1),
        ("x = 1 + 'a'", 1),
        ("load('a', 'b')", 1),
        ("import os", 1),
        ("while True: pass", 1),
        ("for a in 'x': pass", 1),
        ("for a, b in [['x']]: pass", 1),
        ("def f(*a): pass", 1),
        ("def f(): f()\nf()", 1),
        ("def f(a): pass\nf()", 2),
        ("def f(a): pass\nf(1, 2)", 2),
        ("x = ['a']\nx()", 2),
        ("x = ['a']\nfor i in " + "[" + "1," * 40 + "]:\n    x = x + x", 3),
        ("for i in " + "[" + "1," * 200 + "]:\n  for k in " + "[" + "1," * 200 + "]: pass", 2),
        ("x = " + "+".join(["'a'"] * 3000), 0),
        ("\nprint('x')", 2),
        ("prefix_rule(['git'])", 1),
        ("prefix_rule(pattern = [])", 1),
        ("prefix_rule(pattern = [1])", 1),
        ("prefix_rule(pattern = ['git'], decision = 'maybe')", 1),
        ("prefix_rule(pattern = ['git'], patern = [])", 1),
        ("prefix_rule(pattern = [open('x').read()])", 1),
        ("prefix_rule(**{'pattern': ['git']})", 1),
        ("host_executable(name = 'git')", 1),
        ("network_rule(host = 1)", 1),
        ("prefix_rule(pattern = ['git'], decision = 'deny')", 1),
        ("prefix_rule(pattern = ['git', 'status'], match = ['git push'])", 1),
        ("prefix_rule(pattern = ['git'], not_match = [['git', 'push']])", 1),
        ("host_executable(name='git', paths=['/a/git'])\nprefix_rule(pattern = ['git'], match = ['/b/git'])", 2),
        ("prefix_rule(pattern = ['git'], match = 'git')", 1),
        ("prefix_rule(pattern = ['git'], match = [''])", 1),
        ("prefix_rule(pattern = ['git'], match = [\"'\"])", 1),
        ("prefix_rule(pattern = ['git'], justification = ' ')", 1),
        ("host_executable(name = 'git', paths = ['git'])", 1),
        ("host_executable(name = '/a/git', paths = [])", 1),
        ("host_executable(name = 'git', paths = ['/a/rg'])", 1),
        ("network_rule(host = '*', protocol = 'http')", 1),
        ("network_rule(host = 'a.com', protocol = 'ftp')", 1),
        ("\nprefix_rule(", 2),
        ("\0", 0),
    ],
)
def test_nothing_else_is_read_or_run(made: Import, text: str, line: int) -> None:
    """A mistake has its place, and no rule is made."""
    with pytest.raises(ConfigError) as caught:
        made("codex", text)
    assert caught.value.problems[0].line == line


@for_each("text")
def test_names_lists_loops_and_functions_are_read(made: Import, decide: Verdicts, text: str) -> None:
    """Nothing is run."""
    rules = made("codex", text)
    assert decide(rules, "Bash", command="git push") is Verdict.BLOCK
    assert decide(rules, "Bash", command="git commit") is Verdict.CONFIRM
    assert {row.outcome for row in rules.rows} == {Outcome.SAME}
