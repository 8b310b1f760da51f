"""The finding `unknown-argument`."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Rule = Callable[..., str]

TOOL = 'tools = ["send_mail"]'
MAIL = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "email": {"type": "string"},
        "filter": {"type": "object", "properties": {"id": {"type": "integer"}}},
        "options": {"type": "object", "additionalProperties": True},
        "files": {"type": "array", "items": {"type": "object", "properties": {"path": {}}}},
    },
    "required": ["to"],
}
POST = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": False}


@pytest.fixture
def levels(linted: Linted) -> Callable[..., list[str]]:
    """Return a function that returns the level of each unknown argument in a text."""

    def found(text: str, tools: Mapping[str, Any] | None = None) -> list[str]:
        return [each.level for each in linted(text, tools) if each.kind == "unknown-argument"]

    return found


Levels = Callable[..., list[str]]


def test_an_argument_that_the_schema_does_not_have(linted: Linted, rule: Rule) -> None:
    """An exception for what never comes lets everything through."""
    (found,) = linted(rule("a", "allow", TOOL, "unless.args.emails = { exists = true }"), {"send_mail": MAIL})
    assert (found.kind, found.level, found.source) == ("unknown-argument", "error", "rules.toml:2")
    assert found.reason == "`send_mail` has no argument `emails`"
    assert found.suggestion == "did you mean `email`?"


@for_each("effect", ["allow", "confirm", "block"])
@for_each(
    "line",
    [
        'when.args.emails = "x"', 'unless.args.emails = "x"', 'when.args.Email = "x"', "unless.args.zzz = { any = 1 }",
        "when.args.to_ = { exists = true }", "when.args.filter.ids = { eq = 1 }", 'when.args.to.name = { ne = "x" }',
        "when.args.filter.id.x = { eq = 1 }", "when.args.emails = { optional = true, eq = 1 }",
        'when.args.files.path = { eq = "x" }', "unless.args.e.f = { ne = 1 }",
    ],
)  # fmt: skip
def test_each_way_to_name_what_is_not_there(levels: Levels, rule: Rule, effect: str, line: str) -> None:
    """In `when` and `unless`, at the top and in nested objects; elements of lists have no path."""
    assert levels(rule("a", effect, TOOL, line), {"send_mail": MAIL}) == ["error"]


@for_each(
    "line",
    [
        'when.args.email = "x"', "when.args.filter.id = { eq = 1 }", "when.args.options.some.thing = { eq = 1 }",
        "unless.args.files = { length = 3 }", 'when.agent = "x"',
    ],
)  # fmt: skip
def test_what_is_there(levels: Levels, rule: Rule, line: str) -> None:
    """Where the schema leaves open what there is, anything may be."""
    assert levels(rule("a", "allow", TOOL, line), {"send_mail": MAIL}) == []


@for_each(("effect", "line"))
def test_where_a_value_comes_from_that_never_comes(levels: Levels, rule: Rule, effect: str, line: str) -> None:
    """The condition never has an answer."""
    text = rule("a", effect, TOOL, line)
    assert (levels(text, {"send_mail": MAIL}), levels(text)) == (["error"], [])
    assert levels(text.replace("emails", "email").replace("ids", "id"), {"send_mail": MAIL}) == []


def test_a_tool_without_arguments_has_none(linted: Linted, rule: Rule) -> None:
    """That is not the same as a schema that says nothing."""
    text = rule("a", "block", TOOL, 'when.args.to = "x"')
    (found,) = linted(text, {"send_mail": {"type": "object", "properties": {}}})
    assert (found.level, found.suggestion) == ("error", "it takes no arguments")
    assert linted(text, {"send_mail": {}}) == linted(text, {"send_mail": {"type": "object"}}) == ()


@for_each(("tools", "line", "count"))
def test_several_tools(levels: Levels, rule: Rule, tools: str, line: str, count: int) -> None:
    """A name must have the argument; of a glob or a trait one tool must. Asking whether it exists may be about some."""
    found = levels(rule("a", "block", f"tools = [{tools}]", line), {"send_mail": MAIL, "send_post": POST})
    assert found == ["error"] * count


def test_a_glob_that_may_mean_a_tool_without_a_schema(levels: Levels, rule: Rule) -> None:
    """What is not known may have it."""
    tools = {"send_mail": MAIL, "send_post": {}}
    assert levels(rule("a", "block", 'tools = ["send_*"]', 'when.args.zzz = "x"'), tools) == []


def test_a_rule_for_every_tool(levels: Levels, rule: Rule) -> None:
    """It means all that are listed."""
    text = rule("a", "block", 'when.path = ["x"]', 'when.args.{} = "x"')
    tools = {"send_mail": MAIL, "send_post": POST}
    assert [levels(text.replace("{}", name), tools) for name in ("text", "texts")] == [[], ["error"]]


def test_a_rule_that_only_labels(levels: Levels) -> None:
    """A label that is never set protects from nothing."""
    text = f'[[rule]]\nid = "a"\n{TOOL}\nadds_label = "mail"\nwhen.args.emails = {{ exists = true }}\n'
    assert levels(text, {"send_mail": MAIL}) == ["error"]


@for_each("name", ["emails", "emial", "e_mail", "Email", "emaill", "mail"])
@for_each("key", ["when.args", "unless.args"])
def test_without_a_schema_a_slip_is_found(linted: Linted, rule: Rule, name: str, key: str) -> None:
    """What two rules call `email` is not called `emails` by a third."""
    text = "".join(rule(f"r{at}", "block", TOOL, f'when.args.email = "{at}"') for at in range(2))
    (found,) = linted(text + rule("a", "allow", TOOL, f"{key}.{name} = {{ ne = 'x' }}"))
    assert (found.kind, found.level, found.rule_id) == ("unknown-argument", "warning", "a")
    assert f"`{name}` of `send_mail` looks like `email`" in found.reason


@for_each(("one", "other"))
def test_names_that_may_both_be_meant(levels: Levels, rule: Rule, one: str, other: str) -> None:
    """A letter that differs, a digit, or a short word is not a slip."""
    text = "".join(rule(f"r{at}", "block", TOOL, f'when.args.{one} = "{at}"') for at in range(2))
    assert levels(text + rule("a", "block", TOOL, f'when.args.{other} = "x"')) == []


def test_the_names_of_roles_are_known(levels: Levels, rule: Rule) -> None:
    """A declared argument is right, however often another one is named."""
    declared = '[tool.send_mail]\nroles."attachments[].path|file?" = "read_path"\n'
    assert levels(declared + rule("a", "block", TOOL, "when.args.attachment = { exists = true }")) == ["warning"]
    assert levels(declared + rule("a", "block", TOOL, "when.args.attachments = { exists = true }")) == []
    assert levels(rule("a", "block", 'tools = ["write_file"]', 'when.args.file_paths = "x"')) == ["warning"]


def test_with_a_schema_nothing_is_guessed(levels: Levels, rule: Rule) -> None:
    """Both names are arguments of the tool."""
    schema = {"type": "object", "properties": {"path": {}, "paths": {}}}
    text = rule("a", "block", TOOL, 'when.args.path = "x"') + rule("b", "block", TOOL, 'when.args.paths = "x"')
    assert (levels(text), levels(text, {"send_mail": schema})) == (["warning"], [])
