"""The finding `shadowed`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

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


@for_each("priority", [160, 290])
@for_each(
    ("block", "question"),
    [
        ('when.command = "git push *"', 'when.command = ["git push *"]'),
        ('when.command = ["git {push,fetch} *"]', 'when.command = "git push --force *"\nwhen.agent = "x"'),
        ('when.path = "src/**"', 'tools = ["write_file"]\nwhen.path = "src/a/**"\nunless.path = "src/a/b"'),
        ('tools = ["x"]\nwhen.args.n.gt = 5', 'tools = ["x"]\nwhen.args.n.gt = 5\nwhen.mode = "ci"'),
    ],
)
def test_a_confirmation_of_what_a_block_is_about(
    linted: Linted, rule: Rule, block: str, question: str, priority: int
) -> None:
    """A block under the same conditions, or wider ones."""
    text = rule("a", "confirm", question, f"priority = {priority}") + rule("wide", "block", block)
    (found,) = [each for each in linted(text) if each.kind == "shadowed"]
    assert (found.rule_id, found.suggestion) == ("a", "take one of the two out, or narrow `wide`")
    assert "blocks whatever it asks about" in found.reason


def test_a_confirmation_of_what_a_shipped_set_blocks(linted: Linted, rule: Rule) -> None:
    """A file cannot change the set, so the finding says what to do instead."""
    text = 'extends = ["permitry:coding-agent"]\n' + rule("ask-deploy", "confirm", 'tools = ["deploy_app"]')
    (found,) = linted(text)
    assert (found.kind, found.rule_id) == ("shadowed", "ask-deploy")
    assert "`block-publish` (permitry:releasing:" in found.reason
    assert found.suggestion == (
        "take it out, or extend the sets that you want instead of one that extends `permitry:releasing`"
    )


@for_each(
    ("first", "second"),
    [
        (("allow", 'tools = ["send_*"]\nwhen.agent = "x"'), ("allow", 'tools = ["send_mail"]')),
        (("allow", 'tools = ["send_*"]\nbudget = { calls = 3 }'), ("allow", 'tools = ["send_mail"]')),
        (("allow", 'tools = ["send_mail"]'), ("allow", 'tools = ["send_mail", "read_mail"]')),
        (("block", 'tools = ["send_*"]\nunless.agent = "x"'), ("confirm", 'tools = ["send_mail"]')),
        (("confirm", 'tools = ["send_*"]'), ("block", 'tools = ["send_mail"]')),
        (("block", 'tools = ["@network"]'), ("confirm", 'tools = ["send_mail"]')),
        (("block", 'when.command = "git push --force *"'), ("confirm", 'when.command = "git push *"')),
        (("block", 'when.command = "a *"\nunless.agent = "x"'), ("confirm", 'when.command = "a *"')),
        (("block", 'when.command = "a *"\nbudget = { calls = 3 }'), ("confirm", 'when.command = "a *"')),
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


def test_what_keeps_permits_less(kinds: Kinds, rule: Rule) -> None:
    """So a permission behind one that keeps still decides."""
    lines, keep = 'tools = ["send_*"]', "keep = true"
    narrow = 'tools = ["send_mail"]'
    assert kinds(rule("wide", "allow", lines, keep) + rule("a", "allow", narrow)) == []
    assert kinds(rule("wide", "allow", lines, keep) + rule("a", "allow", narrow, keep)) == [("shadowed", "a")]
