"""The findings `list-never-used` and `empty-list`."""

from collections.abc import Callable

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

USED = 'tools = ["send"]', 'when.args.to = { in = "@people" }'


def test_a_list_that_no_rule_uses(linted: Linted) -> None:
    """It may be misspelt where it was meant."""
    (found,) = linted('[list.people]\nvalues = ["a"]\n')
    assert (found.kind, found.rule_id, found.source) == ("list-never-used", None, "rules.toml:2")
    assert "`people`" in found.reason


def test_a_permission_with_an_empty_list(linted: Linted, rule: Rule) -> None:
    """It permits nothing, unless the host fills the list."""
    (found,) = linted("[list.people]\nvalues = []\n" + rule("a", "allow", *USED))
    assert (found.kind, found.rule_id, found.source) == ("empty-list", "a", "rules.toml:4")
    assert "Session(lists={'people': [...]})" in found.suggestion


def test_a_restriction_may_have_an_empty_list(kinds: Kinds, rule: Rule) -> None:
    """Nothing is restricted yet, which is what the list says."""
    assert kinds("[list.people]\nvalues = []\n" + rule("a", "block", *USED)) == []


def test_a_list_that_is_used(kinds: Kinds, rule: Rule) -> None:
    """Also by a rule that only labels."""
    labels = '[[rule]]\nid = "b"\ntools = ["x"]\nwhen.path = "@files"\nadds_label = "more"\n'
    reads = rule("c", "confirm", 'tools = ["x"]', 'when.label = "more"')
    lists = '[list.people]\nvalues = ["a"]\n[list.files]\nvalues = ["b"]\n'
    assert kinds(lists + rule("a", "allow", *USED) + labels + reads) == []
