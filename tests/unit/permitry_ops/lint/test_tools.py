"""The finding `unknown-tool`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

TOOLS = ["read_file", "send_mail", "mcp:docs/search"]


def test_a_misspelt_name_is_found_without_a_list(linted: Linted, rule: Rule) -> None:
    """A name that looks like one that many agents have is a mistake, and the right one is reported."""
    (found,) = linted(rule("a", "block", 'tools = ["write_fil"]'))
    assert (found.kind, found.rule_id, found.source) == ("unknown-tool", "a", "rules.toml:2")
    assert found.suggestion.startswith("write `write_file`;")


@for_each("name", ["my_tool", "write_fil*", "mcp:fs/write_fil", "write_file", "present_plan", "@writes"])
def test_other_names_are_not_judged_without_a_list(kinds: Kinds, rule: Rule, name: str) -> None:
    """Without a list no one knows which tools there are."""
    assert kinds(rule("a", "block", f'tools = ["{name}"]')) == []


def test_the_tools_of_servers_need_a_list(kinds: Kinds, rule: Rule) -> None:
    """A server may have tools that no file declares, whatever their names look like."""
    text = rule("a", "block", 'tools = ["mcp:docs/serch"]') + '[tool."mcp:docs/search"]\n'
    assert kinds(text) == []


def test_a_declared_name_is_known(kinds: Kinds, rule: Rule) -> None:
    """A tool that the file declares is not a misspelling of another."""
    text = rule("a", "block", 'tools = ["write_fil"]') + "[tool.write_fil]\n"
    assert kinds(text) == []
    assert kinds(text, TOOLS) == []


@for_each("name", ["read_fil", "delete_*", "run_shell", "mcp:docs/find", "mcp:mail/*"])
def test_with_a_list_every_other_name_is_unknown(kinds: Kinds, rule: Rule, name: str) -> None:
    """Names, globs and the tools of servers must fit one of the tools."""
    assert kinds(rule("a", "block", f'tools = ["{name}"]'), TOOLS) == [("unknown-tool", "a")]


@for_each("name", ["read_file", "send_*", "mcp:docs/*", "*", "@shell", "present_plan"])
def test_with_a_list_what_fits_is_known(kinds: Kinds, rule: Rule, name: str) -> None:
    """A name or glob that fits one tool is fine."""
    assert kinds(rule("a", "block", f'tools = ["{name}"]'), TOOLS) == []


def test_the_nearest_name_of_the_list_is_told(linted: Linted, rule: Rule) -> None:
    """The list is where the right name stands."""
    (found,) = linted(rule("a", "block", 'tools = ["send_mial"]'), TOOLS)
    assert found.suggestion == "did you mean `send_mail`?"


def test_the_names_in_templates_are_looked_at(linted: Linted) -> None:
    """A template that lists a tool no one has allows less than it seems."""
    (found,) = linted('[template.t]\nallow_tools = ["write_fil"]\n')
    assert (found.kind, found.rule_id, found.source) == ("unknown-tool", None, "rules.toml:2")
    assert found.reason.startswith("the template `t`: `write_fil`")


def test_excepted_tools_are_looked_at(kinds: Kinds, rule: Rule) -> None:
    """An exception under a misspelt name excepts nothing."""
    for name, expected in (("write_fil", [("unknown-tool", "a")]), ("write_file", []), ("@writes", [])):
        assert kinds(rule("a", "block", 'tools = ["*"]', f'unless.tools = ["{name}"]')) == expected
