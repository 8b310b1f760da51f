"""The findings `sql-by-prefix` and `mail-by-suffix`."""

from collections.abc import Callable

import pytest

from permitry.config.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]


@pytest.mark.parametrize(
    ("line", "kind", "lets"),
    [
        ('when.args.sql = { prefix = "SELECT" }', "sql-by-prefix", "SELECT 1; DROP TABLE orders"),
        ('when.args.text = { prefix = "select " }', "sql-by-prefix", "select 1; DROP TABLE orders"),
        ('when.args.db.query = { prefix = ["x", "Explain"] }', "sql-by-prefix", "Explain 1; DROP TABLE orders"),
        ('when.args.to = { suffix = "ours.example" }', "mail-by-suffix", "eve@notours.example"),
        ('when.args.bcc = { each = { suffix = ".ours.example" } }', "mail-by-suffix", "eve@notours.example"),
        ('when.args.x = { suffix = "@ours.example" }', "mail-by-suffix", "eve@evil.example, ann@ours.example"),
    ],
)
def test_a_part_of_a_text_permits_more(linted: Linted, rule: Rule, line: str, kind: str, lets: str) -> None:
    """The finding shows a text that passes."""
    (found,) = linted(rule("a", "allow", 'tools = ["t"]', line))
    assert (found.kind, found.rule_id) == (kind, "a")
    assert f"lets `{lets}` through" in found.reason
    (found,) = linted(rule("a", "block", 'tools = ["t"]', line.replace("when", "unless")))
    assert found.kind == kind


def test_the_way_out_for_mail_fits_whole_addresses(linted: Linted, rule: Rule) -> None:
    """What it suggests has no finding."""
    (found,) = linted(rule("a", "allow", 'tools = ["t"]', 'when.args.to = { suffix = "@ours.example" }'))
    assert found.suggestion.endswith(r"`each = { regex = '[a-z0-9][a-z0-9._-]*@ours\.example' }`")
    test = found.suggestion.partition("`")[2].rstrip("`")
    assert linted(rule("a", "allow", 'tools = ["t"]', f"when.args.to = {{ {test} }}")) == ()


@pytest.mark.parametrize(
    "line",
    [
        'when.args.title = { prefix = "Update " }', 'when.args.name = { suffix = ".md" }',
        'when.args.host = { suffix = "ours.example" }', 'when.args.to = { suffix = "ours" }',
        'when.args.to = "ann@ours.example"', 'when.args.sql = { prefix = "SELECT", regex = "SELECT [a-z]+" }',
        'when.args.branch = { prefix = "selected/" }', 'when.agent = "x"',
    ],
)  # fmt: skip
def test_other_parts_of_texts(kinds: Kinds, rule: Rule, line: str) -> None:
    """Titles, file names and hosts are no statements and no addresses, and a `regex` looks at the whole text."""
    assert kinds(rule("a", "allow", 'tools = ["t"]', line)) == []


def test_a_restriction_on_a_part_asks_once_too_often(kinds: Kinds, rule: Rule) -> None:
    """It lets nothing through that would be permitted without it."""
    assert kinds(rule("a", "confirm", 'tools = ["t"]', 'when.args.to = { suffix = "@evil.example" }')) == []
