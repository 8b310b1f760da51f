"""The finding `covered-pattern`."""

from collections.abc import Callable, Sequence

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Rule = Callable[..., str]


def find_covered(found: Sequence[Finding]) -> list[str]:
    """Return the suggestions of this finding alone."""
    return [each.suggestion for each in found if each.kind == "covered-pattern"]


@for_each(("effect", "lines", "covered"))
def test_the_pattern_that_says_nothing(
    linted: Linted, rule: Rule, effect: str, lines: str, covered: Sequence[Sequence[str]]
) -> None:
    """Without it the rule decides alike, so that a reader need not ask what it is for."""
    found = linted(rule("a", effect, lines))
    assert find_covered(found) == [f"take `{inner}` out, or narrow `{outer}`" for inner, outer in covered]


@for_each(("effect", "lines"))
def test_patterns_that_all_say_something(linted: Linted, rule: Rule, effect: str, lines: str) -> None:
    """Options may be anywhere, a folder is not what is below it to a permission, and a port is not any port."""
    assert find_covered(linted(rule("a", effect, lines))) == []


def test_a_list_may_become_another(linted: Linted, rule: Rule) -> None:
    """What a list has is not what the rule says."""
    text = '[list.ours]\nvalues = ["docs.example.com"]\n' + rule("a", "block", 'when.host = ["@ours", "*.example.com"]')
    assert find_covered(linted(text)) == []


def test_a_long_list_is_not_compared(linted: Linted, rule: Rule) -> None:
    """Each pattern is compared with each other one."""
    for number, found in ((99, 99), (100, 0)):
        paths = ", ".join(f'"src/{at}.py"' for at in range(number))
        assert len(find_covered(linted(rule("a", "block", f'when.path = ["src/**", {paths}]')))) == found
