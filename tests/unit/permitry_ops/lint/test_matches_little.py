"""The finding `matches-little`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Rule = Callable[..., str]


@for_each(("line", "hint"))
def test_a_restriction_that_looks_like_another(linted: Linted, rule: Rule, line: str, hint: str) -> None:
    """In a restriction, or a question among the permissions; an example that must match is suggested."""
    for effect, priority in (("block", 150), ("confirm", 160), ("confirm", 210)):
        (found,) = linted(rule("a", effect, f"priority = {priority}", line))
        assert (found.kind, found.rule_id) == ("matches-little", "a")
        assert hint in found.suggestion
        assert found.suggestion.endswith(", and what must match as an example in `match`")


def test_what_is_shown_by_examples_is_meant(linted: Linted, rule: Rule) -> None:
    """Its author has tried it."""
    assert linted(rule("a", "block", 'when.path = "secrets"', 'match = [{ path = "secrets" }]')) == ()


def test_a_permission_that_fits_less_is_safe(linted: Linted, rule: Rule) -> None:
    """It asks more often, and its author sees that at once."""
    assert linted(rule("a", "allow", 'tools = ["read_file"]', 'when.path = "secrets"')) == ()
