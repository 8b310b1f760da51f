"""The finding `no-anchor`."""

from collections.abc import Callable

from tests.tables import for_each

Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

FOUND = [("no-anchor", "a")]


@for_each("path", ["**", "*", "./**", "**/*", "/**", "/*", "/", "~/**", "~", "/**/build/*"])
def test_paths_that_begin_nowhere(kinds: Kinds, rule: Rule, path: str) -> None:
    """Such a pattern covers files no one thought of."""
    assert kinds(rule("a", "allow", f'when.path = ["{path}"]')) == FOUND


@for_each("path", ["src/**", "*.md", "**/*.md", "/srv/x/**", "~/notes/**", ".", "README.md"])
def test_paths_that_begin_somewhere(kinds: Kinds, rule: Rule, path: str) -> None:
    """A folder, or a kind of file in the workspace, is an anchor."""
    assert kinds(rule("a", "allow", f'when.path = ["{path}"]')) == []


@for_each("host", ["*", "http://*", "*:8080"])
def test_every_host(kinds: Kinds, rule: Rule, host: str) -> None:
    """Whoever names no host permits those of the own network, too."""
    assert kinds(rule("a", "allow", f'when.host = ["{host}"]')) == FOUND
    assert kinds(rule("a", "allow", f'when.host = ["{host}"]', 'unless.host = ["private"]')) == []


def test_named_hosts_are_fine(kinds: Kinds, rule: Rule) -> None:
    """A domain is an anchor."""
    assert kinds(rule("a", "allow", 'when.host = ["*.example.com"]')) == []


def test_exceptions_are_enough(kinds: Kinds, rule: Rule) -> None:
    """Everything but what is listed was thought about."""
    assert kinds(rule("a", "allow", 'when.path = ["**"]', 'unless.path = [".git/**", "**/.env"]')) == []


def test_a_restriction_may_be_anywhere(kinds: Kinds, rule: Rule) -> None:
    """The wider a restriction is, the more it holds."""
    assert kinds(rule("a", "confirm", 'when.path = ["/**"]') + rule("b", "confirm", 'when.host = ["*"]')) == []
