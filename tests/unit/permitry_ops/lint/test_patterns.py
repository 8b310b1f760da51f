"""The findings `no-anchor` and `unanchored-name`; `matches-little` has a file with its table."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
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
