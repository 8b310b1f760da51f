"""The models of a rule file are strict, and the published schema says the same as they do."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from permitry.config.schema import (
    ExampleTable,
    Header,
    RuleFile,
    RuleTable,
    TemplateTable,
    WhenTable,
    rule_file_schema,
)
from permitry.core.call import ToolCall

RULES = Path(__file__).resolve().parents[3] / "rules"
RULE = {"id": "r", "effect": "block", "tools": ["x"]}


def _nodes(node: object) -> Iterator[dict[str, Any]]:
    """Yield every table of a JSON document."""
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _nodes(child)


def _tables() -> list[dict[str, Any]]:
    """Return every table the published schema describes, without what it only says of some of them."""
    return [node for node in _nodes(rule_file_schema()) if "properties" in node and node.get("type") == "object"]


@pytest.mark.parametrize("model", [Header, RuleFile, RuleTable, TemplateTable, WhenTable, ExampleTable])
def test_every_table_refuses_unknown_keys(model: type[BaseModel]) -> None:
    """A key nobody reads is a mistake, never a comment."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate({"no_such_key": 1})
    assert ("extra_forbidden", ("no_such_key",)) in [(error["type"], error["loc"]) for error in caught.value.errors()]


@pytest.mark.parametrize("condition", ["mode", "agent", "template"])
def test_a_condition_may_be_one_word(condition: str) -> None:
    """One word means a list of one."""
    assert WhenTable.model_validate({condition: "plan"}) == WhenTable.model_validate({condition: ["plan"]})


def test_an_example_may_be_a_bare_name() -> None:
    """A name means a table with nothing but the tool."""
    rule = RuleTable.model_validate({**RULE, "match": ["x", {"tool": "x"}]})
    assert rule.match[0] == rule.match[1]


def test_no_number_is_read_from_text() -> None:
    """Types are taken as they stand; nothing is converted."""
    with pytest.raises(ValidationError):
        RuleTable.model_validate({**RULE, "priority": "150"})


def test_true_is_no_priority() -> None:
    """A truth value does not pass for a number."""
    with pytest.raises(ValidationError):
        RuleTable.model_validate({**RULE, "priority": True})


def test_a_checked_table_does_not_change() -> None:
    """What was checked stays as it was checked."""
    rule = RuleTable.model_validate(RULE)
    with pytest.raises(ValidationError):
        rule.effect = "allow"  # type: ignore[misc]  # frozen: that is the point


@pytest.mark.parametrize("name", ["git_*", "?", "mcp:docs/*", "mcp:*/delete_*", "mcp_x", "re_*", "ünder", "a.b-c_d"])
def test_a_name_or_glob_is_taken_as_a_tool(name: str) -> None:
    """Names of any script, wildcards, and tools of servers."""
    assert RuleTable.model_validate({**RULE, "tools": [name]}).tools == [name]


@pytest.mark.parametrize("name", [f"a{sign}b" for sign in "()^$|\\ "] + ["re:git_.", "re:x", "Bash(git push)"])
def test_what_belongs_to_no_tool_name_is_no_pattern(name: str) -> None:
    """A regular expression, an alternative or a command line would select nothing, and nobody would notice."""
    for model, key in ((RuleTable, "tools"), (RuleTable, "match"), (TemplateTable, "allow_tools")):
        with pytest.raises(ValidationError) as caught:
            model.model_validate({**(RULE if model is RuleTable else {}), key: [name]})
        assert f"`{name}` is not the name of a tool" in [error["msg"] for error in caught.value.errors()]


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("mcp__docs__search", "mcp:docs/search"),
        ("mcp__docs__*", "mcp:docs/*"),
        ("mcp__docs", "mcp:docs/*"),
        ("mcp__docs__", "mcp:docs/*"),
        ("mcp__docs__a__b", "mcp:docs/a__b"),
    ],
)
def test_another_programs_name_of_a_server_tool_is_refused_with_ours(name: str, right: str) -> None:
    """What stands behind the server's name is the tool, and no tool means all; the right spelling is taken."""
    with pytest.raises(ValidationError) as caught:
        RuleTable.model_validate({**RULE, "tools": [name]})
    [error] = caught.value.errors()
    assert error["msg"] == f"`{name}` is another program's way to name a tool"
    assert error["ctx"]["hint"] == f"write `{right}`"
    assert RuleTable.model_validate({**RULE, "tools": [right]}).tools == [right]


@pytest.mark.parametrize(
    ("mode", "meant"),
    [
        ("Plan", "plan"),
        ("pln", "plan"),
        ("plans", "plan"),
        ("YOLO", "yolo"),
        ("yoloo", "yolo"),
        ("defualt", "default"),
    ],
)
def test_a_mode_that_is_nearly_a_known_one_is_refused(mode: str, meant: str) -> None:
    """It would be a mode of the host that no session ever has; in a list each word is looked at."""
    for modes in (mode, ["review", mode]):
        with pytest.raises(ValidationError) as caught:
            WhenTable.model_validate({"mode": modes})
        [error] = caught.value.errors()
        assert (error["msg"], error["ctx"]["hint"]) == (f"unknown mode `{mode}`", f"did you mean `{meant}`?")


@pytest.mark.parametrize("mode", ["plan", "yolo", "default", "review", "planning", "p"])
def test_a_known_mode_or_a_word_of_the_host_is_taken(mode: str) -> None:
    """Only what is nearly a known word, and is not it, is a slip of the pen."""
    assert WhenTable.model_validate({"mode": mode}).mode == [mode]


def test_an_agent_or_template_may_be_called_nearly_as_a_mode() -> None:
    """Only modes have words of their own."""
    assert WhenTable.model_validate({"agent": "plans", "template": "Plan"}).agent == ["plans"]


@pytest.mark.parametrize("name", ["mcp:docs", "mcp:docs/", "mcp:/search", "mcp:", "mcp:/"])
def test_a_tool_of_a_server_needs_both_names(name: str) -> None:
    """Half a name would select nothing, and nobody would notice."""
    with pytest.raises(ValidationError, match=f"`{name}`"):
        RuleTable.model_validate({**RULE, "tools": [name]})


def test_a_tool_name_may_be_as_long_as_that_of_a_call() -> None:
    """A name of 256 characters is taken and can be tried; one more is refused."""
    longest = "a" * 256
    rule = RuleTable.model_validate({**RULE, "tools": [longest], "match": [longest]})
    assert ToolCall(rule.match[0].tool).tool == longest
    with pytest.raises(ValidationError, match="longer than 256"):
        RuleTable.model_validate({**RULE, "tools": [f"{longest}a"]})


@pytest.mark.parametrize("name", ["a", "no-secrets", "r2-d2", "7"])
def test_words_joined_by_hyphens_are_an_id(name: str) -> None:
    """Kebab-case, digits included."""
    assert RuleTable.model_validate({**RULE, "id": name}).id == name


@pytest.mark.parametrize("name", ["A", "a_b", "-a", "a-", "a--b", "a b", "a\n", "ä", "a.b"])
def test_anything_else_is_no_id(name: str) -> None:
    """An id is also a file name and a page name, so it stays plain."""
    with pytest.raises(ValidationError, match="is not kebab-case"):
        RuleTable.model_validate({**RULE, "id": name})


def test_the_published_schema_forbids_unknown_keys_everywhere() -> None:
    """An editor marks a wrong key before the loader refuses it."""
    tables = _tables()
    assert len(tables) == 6
    assert all(table["additionalProperties"] is False for table in tables)


def test_the_published_schema_refers_only_to_what_it_defines() -> None:
    """Every `$ref` can be followed."""
    schema = rule_file_schema()
    references = {node["$ref"] for node in _nodes(schema) if "$ref" in node}
    assert references == {f"#/$defs/{name}" for name in schema["$defs"]}


def test_the_published_schema_knows_no_null() -> None:
    """TOML has no null, so no key can be null."""
    schema = rule_file_schema()
    assert not [node for node in _nodes(schema) if node.get("type") == "null"]
    assert '"default": null' not in json.dumps(schema)


def test_the_published_schema_offers_no_choice_of_one() -> None:
    """Where leaving a key out was the only other choice, the type stands alone, and so does a reference."""
    schema = rule_file_schema()
    assert [node for node in _nodes(schema) if len(node.get("anyOf", "either or")) < 2] == []
    rule = schema["$defs"]["RuleTable"]["properties"]
    assert (rule["priority"]["type"], rule["when"]["$ref"]) == ("integer", "#/$defs/WhenTable")
    assert (rule["priority"]["minimum"], rule["priority"]["maximum"]) == (0, 399)


def test_the_published_schema_requires_what_the_loader_requires() -> None:
    """`schema` in a file, `id` and `effect` in a rule, `tool` in an example."""
    required = [tuple(node["required"]) for node in _tables() if "required" in node]
    assert sorted(set(required)) == [("id", "effect"), ("schema",), ("tool",)]


def test_the_published_schema_shows_both_forms_of_a_condition_and_of_an_example() -> None:
    """A string or a list for a condition, a string or a table for an example."""
    definitions = rule_file_schema()["$defs"]
    condition = definitions["WhenTable"]["properties"]["mode"]
    example = definitions["RuleTable"]["properties"]["match"]["items"]
    assert [form["type"] for form in condition["anyOf"]] == ["string", "array"]
    assert [form["type"] for form in example["anyOf"]] == ["string", "object"]


def test_the_schema_beside_the_shipped_sets_is_the_published_one() -> None:
    """`rules/schema.json` is what `permitry schema` prints."""
    assert json.loads((RULES / "schema.json").read_text(encoding="utf-8")) == rule_file_schema()
