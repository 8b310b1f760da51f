"""The finding `undeclared-tool`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

FOUND = [("undeclared-tool", "a")]


@for_each("name", ["http_get", "mcp:web/get"])
def test_a_permission_for_hosts_needs_a_declaration(linted: Linted, rule: Rule, name: str) -> None:
    """No one knows which argument is the address, so the permission never allows it."""
    (found,) = linted(rule("a", "allow", f'tools = ["{name}"]', 'when.host = ["example.com"]'))
    assert (found.kind, found.rule_id) == FOUND[0]
    assert found.reason.endswith("the rule never allows it")
    assert found.suggestion == f'declare the tool: `[tool."{name}"]`, with its arguments, as in `roles.url = "url"`'


@for_each(("condition", "role"))
def test_a_restriction_can_only_guess(linted: Linted, rule: Rule, condition: str, role: str) -> None:
    """A restriction compares whatever looks like a path; what is to be declared depends on the condition."""
    (found,) = linted(rule("a", "block", 'tools = ["my_tool"]', condition))
    assert found.reason.endswith("the rule can only guess")
    assert f"`roles.{role}`" in found.suggestion


@for_each("tools", ['"write_file"', '"my_*"', '"@writes"', '"*"'])
def test_known_tools_globs_and_traits_are_fine(kinds: Kinds, rule: Rule, tools: str) -> None:
    """Of a well-known tool the arguments are known, and a glob names none."""
    assert kinds(rule("a", "block", f"tools = [{tools}]", 'when.path = ["/etc/**"]')) == []


def test_a_declared_tool_is_fine(kinds: Kinds, rule: Rule) -> None:
    """A declaration says which argument is the address."""
    text = rule("a", "allow", 'tools = ["http_get"]', 'when.host = ["example.com"]')
    assert kinds(text + '[tool.http_get]\nroles.url = "url"\n') == []


def test_plain_conditions_need_no_declaration(kinds: Kinds, rule: Rule) -> None:
    """The rule itself names the argument it looks at."""
    assert kinds(rule("a", "allow", 'tools = ["http_get"]', "when.args.limit = { le = 5 }")) == []
