"""The finding `unanchored-name`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]


def test_a_word_anywhere_in_a_name(linted: Linted, rule: Rule) -> None:
    """A word in the middle says little about what a tool does."""
    (found,) = linted(rule("a", "allow", 'tools = ["*read*"]'))
    assert (found.kind, found.rule_id) == ("unanchored-name", "a")
    assert "`read_and_delete`" in found.reason


@for_each("name", ["read_*", "*_read", "mcp:docs/*", "*", "mcp:*/read*"])
def test_other_globs(kinds: Kinds, rule: Rule, name: str) -> None:
    """A fixed beginning or end is an anchor, and a star alone hides nothing."""
    assert kinds(rule("a", "allow", f'tools = ["{name}"]')) == []


def test_a_restriction_may_look_for_a_word(kinds: Kinds, rule: Rule) -> None:
    """A restriction that is too wide asks once too often, and that is all."""
    assert kinds(rule("a", "confirm", 'tools = ["*delete*"]')) == []


def test_templates_are_permissions(linted: Linted) -> None:
    """What a template lists runs unasked while it is active."""
    (found,) = linted('[template.t]\nallow_tools = ["*read*"]\n')
    assert (found.kind, found.rule_id, found.source) == ("unanchored-name", None, "rules.toml:2")
    assert found.reason.startswith("the template `t`: `*read*`")
