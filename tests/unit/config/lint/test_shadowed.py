"""The finding `shadowed`."""

from collections.abc import Callable

import pytest

from permitry.config.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]


def test_a_permission_behind_a_wider_one(linted: Linted, rule: Rule) -> None:
    """The first match decides, so what comes later for the same tools never does."""
    (found,) = linted(
        rule("wide", "allow", 'tools = ["send_*"]') + rule("a", "allow", 'tools = ["send_mail"]', 'when.agent = "x"')
    )
    assert (found.kind, found.rule_id, found.source) == ("shadowed", "a", "rules.toml:6")
    assert "`wide` (rules.toml:2) allows the same tools" in found.reason


def test_a_confirmation_under_a_wider_block(linted: Linted, rule: Rule) -> None:
    """A block outweighs every confirmation, whichever comes first."""
    (found,) = linted(
        rule("a", "confirm", 'tools = ["send_mail"]', "priority = 110") + rule("wide", "block", 'tools = ["send_*"]')
    )
    assert (found.kind, found.rule_id) == ("shadowed", "a")
    assert "`wide` (rules.toml:7) blocks the same tools" in found.reason


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("allow", 'tools = ["send_*"]\nwhen.agent = "x"'), ("allow", 'tools = ["send_mail"]')),
        (("allow", 'tools = ["send_*"]\nbudget = { calls = 3 }'), ("allow", 'tools = ["send_mail"]')),
        (("allow", 'tools = ["send_mail"]'), ("allow", 'tools = ["send_mail", "read_mail"]')),
        (("block", 'tools = ["send_*"]\nunless.agent = "x"'), ("confirm", 'tools = ["send_mail"]')),
        (("confirm", 'tools = ["send_*"]'), ("block", 'tools = ["send_mail"]')),
        (("block", 'tools = ["@network"]'), ("confirm", 'tools = ["send_mail"]')),
    ],
)
def test_rules_that_still_decide(kinds: Kinds, rule: Rule, first: tuple[str, str], second: tuple[str, str]) -> None:
    """A rule with conditions, or for fewer tools, leaves something to the other."""
    found = kinds(rule("a", *first) + rule("b", *second))
    assert "shadowed" not in {kind for kind, _ in found}


def test_the_priority_says_which_comes_first(kinds: Kinds, rule: Rule) -> None:
    """Of two permissions the one with the higher number is asked later, wherever it stands."""
    text = rule("a", "allow", 'tools = ["send_mail"]', "priority = 260") + rule("b", "allow", 'tools = ["send_*"]')
    assert kinds(text) == [("shadowed", "a")]
