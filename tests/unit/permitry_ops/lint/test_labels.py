"""The findings `label-never-set` and `label-never-read`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

SETS = '[[rule]]\nid = "reads-web"\ntools = ["web_fetch"]\nadds_label = "web"\n'


@for_each(("effect", "key"), [("confirm", "when"), ("allow", "unless")])
def test_a_label_that_no_rule_sets(linted: Linted, rule: Rule, effect: str, key: str) -> None:
    """The condition on it never holds."""
    (found,) = linted(rule("a", effect, 'tools = ["send_mail"]', f'{key}.label = "web"'))
    assert (found.kind, found.rule_id, found.source) == ("label-never-set", "a", "rules.toml:2")
    assert 'adds_label = "web"' in found.suggestion


def test_a_label_that_no_rule_reads(linted: Linted) -> None:
    """It is put on sessions for nothing."""
    (found,) = linted(SETS)
    assert (found.kind, found.rule_id, found.source) == ("label-never-read", "reads-web", "rules.toml:2")
    assert "`web`" in found.reason


def test_a_label_that_is_set_and_read(kinds: Kinds, rule: Rule) -> None:
    """This is what labels are for, in whatever order the rules stand."""
    asks = rule("a", "confirm", 'tools = ["send_mail"]', 'when.label = ["web"]')
    assert kinds(asks + SETS) == kinds(SETS + asks) == []


def test_a_rule_that_only_labels_may_ask_for_one(kinds: Kinds) -> None:
    """A label that leads to another is read."""
    text = SETS + '[[rule]]\nid = "b"\ntools = ["x"]\nwhen.label = "web"\nadds_label = "more"\n'
    assert kinds(text) == [("label-never-read", "b")]
    assert ("label-never-set", "b") in kinds(text.removeprefix(SETS))
