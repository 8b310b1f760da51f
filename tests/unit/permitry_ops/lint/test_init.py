"""All findings together: their order, and what is not looked at."""

from collections.abc import Callable

from tests.tables import for_each

from permitry.config.catalogue import list_shipped
from permitry.config.drafts import drafts_of
from permitry.config.load import Origin, load_rules
from permitry_ops.lint import Finding, lint

Linted = Callable[..., tuple[Finding, ...]]
Rule = Callable[..., str]


@for_each("name", list_shipped())
def test_shipped_sets_are_clean(name: str) -> None:
    """What comes with permitry has no findings."""
    rules = load_rules([name])
    assert lint(rules, drafts=drafts_of(rules)) == ()


def test_findings_stand_in_the_order_of_lines(linted: Linted, rule: Rule) -> None:
    """A reader goes through the file once, whatever the checks and priorities."""
    text = rule("late", "allow", "priority = 399", 'tools = ["*read*"]') + rule(
        "early", "allow", 'tools = ["x"]', 'when.host = ["*"]'
    )
    found = linted(text)
    assert [(each.source, each.kind) for each in found] == [
        ("rules.toml:2", "unanchored-name"),
        ("rules.toml:7", "undeclared-tool"),
        ("rules.toml:7", "no-anchor"),
    ]


def test_findings_stand_in_the_order_of_files(write: Callable[[str, str], Origin], rule: Rule) -> None:
    """The file that was named comes before what it extends."""
    write("base.toml", "schema = 1\n" + rule("a", "allow", 'tools = ["*a*"]'))
    own = write("rules.toml", '\n\n\n\nschema = 1\nextends = ["base.toml"]\n' + rule("b", "allow", 'tools = ["*b*"]'))
    rules = load_rules([own])
    assert [each.source for each in lint(rules, drafts=drafts_of(rules))] == ["rules.toml:7", "base.toml:2"]


def test_a_shipped_set_that_is_extended_is_taken_as_it_is(linted: Linted, rule: Rule) -> None:
    """No one who extends a shipped set can change it, so nothing is said about it."""
    text = 'extends = ["permitry:coding-agent"]\n' + rule("all", "block", 'tools = ["@writes", "@reads"]')
    assert linted(text) == ()


def test_a_shipped_set_alone_is_looked_at() -> None:
    """Whoever names a shipped set wants to know about it."""
    rules = load_rules(["permitry:base"])
    assert "unknown-tool" in {finding.kind for finding in lint(rules, tools=["read_file"])}


def test_without_drafts_rules_are_looked_at_all_the_same(write: Callable[[str, str], Origin], rule: Rule) -> None:
    """Rules that were made in code have no tables."""
    rules = load_rules([write("rules.toml", "schema = 1\n[template.empty]\n" + rule("a", "allow", 'tools = ["*a*"]'))])
    assert [finding.kind for finding in lint(rules)] == ["unanchored-name"]
