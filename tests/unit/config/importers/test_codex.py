"""The rule files of Codex, as rules of ours."""

import pytest
from tests.unit.config.importers.conftest import Import, Verdicts

from permitry.config.importers import Outcome
from permitry.core.decision import Verdict
from permitry.errors import ConfigError

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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1", 1),
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
        ("\nprefix_rule(", 2),
        ("\0", 0),
    ],
)
def test_nothing_else_is_read_or_run(made: Import, text: str, line: int) -> None:
    """A mistake has its place, and no rule is made."""
    with pytest.raises(ConfigError) as caught:
        made("codex", text)
    assert caught.value.problems[0].line == line
