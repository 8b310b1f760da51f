"""The findings `nested-command` and `always-restricted`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]


@for_each("command", ["sudo *", "env *", "timeout 60 *", "uv run *", "npm exec *", "xargs -0 *", "bash -c *"])
def test_a_wildcard_for_what_is_run(linted: Linted, rule: Rule, command: str) -> None:
    """It permits the program that runs a command, and no such command; the rule may say that it runs any."""
    (found,) = linted(rule("a", "allow", f'when.command = ["{command}"]'))
    assert (found.kind, found.rule_id) == ("nested-command", "a")
    assert found.suggestion == "spell out what it runs, or write `runs_any = true`"
    text = rule("a", "allow", "runs_any = true", f'when.command = ["{command}"]')
    assert "nested-command" not in [each.kind for each in linted(text)]


def test_a_permission_that_a_restriction_takes_back(linted: Linted, rule: Rule) -> None:
    """It permits nothing, and the rule that keeps it from that is named."""
    (found,) = linted(
        rule("a", "allow", 'when.command = ["git fetch *", "git push *"]')
        + rule("b", "block", 'when.command = ["git push *"]')
    )
    assert (found.kind, found.rule_id) == ("always-restricted", "a")
    assert found.reason == "`git push *` permits nothing: `b` (rules.toml:6) blocks `git push`"


def test_a_question_is_a_restriction_too(linted: Linted, rule: Rule) -> None:
    """What is asked about every time is not permitted."""
    (found,) = linted(
        rule("a", "allow", 'when.command = ["make test", "tox -e *"]')
        + rule("b", "confirm", 'when.command = ["make *"]')
    )
    assert (found.kind, found.rule_id) == ("always-restricted", "a")
    assert "asks about `make test`" in found.reason


@for_each(
    "lines",
    [
        ('when.command = ["npx tsc *", "uv run pytest *", "timeout 60 make *", "npx *", "sudo make test"]',),
        ('when.command = ["timeout 60 ls *", "find *", "git *"]',),
        ('when.command = ["git log *"]',),
        ('when.command = ["git push *"]', 'when.agent = "releases"'),
        ('when.command = ["git pu* *"]',),
        ('when.command = ["* --version"]',),
    ],
)
def test_what_runs_or_may_run(kinds: Kinds, rule: Rule, lines: tuple[str, ...]) -> None:
    """A command that runs, one that is not known, and a rule with further conditions are not reported."""
    text = rule("a", "allow", *lines) + rule("b", "block", 'when.command = ["git push *"]')
    assert {"nested-command", "always-restricted"}.isdisjoint(kind for kind, _ in kinds(text))
