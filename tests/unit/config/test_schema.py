"""The models of a rule file are strict, and the published schema says the same as they do."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from tests.tables import for_each

from permitry.config.schema import (
    BudgetTable,
    ExampleTable,
    Header,
    RuleFile,
    RuleTable,
    TemplateTable,
    ToolTable,
    WhenTable,
    rule_file_schema,
)
from permitry.core.call import ToolCall
from permitry.core.spec import ArgumentRole

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


@for_each("model", [Header, RuleFile, RuleTable, TemplateTable, ToolTable, WhenTable, BudgetTable, ExampleTable])
def test_every_table_refuses_unknown_keys(model: type[BaseModel]) -> None:
    """A key no one reads is a mistake, never a comment."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate({"no_such_key": 1})
    assert ("extra_forbidden", ("no_such_key",)) in [(error["type"], error["loc"]) for error in caught.value.errors()]


@for_each("condition", ["mode", "agent", "template"])
def test_a_condition_may_be_one_word(condition: str) -> None:
    """One word means a list of one."""
    assert WhenTable.model_validate({condition: "plan"}) == WhenTable.model_validate({condition: ["plan"]})


def test_an_example_may_be_a_bare_name() -> None:
    """A name means a table with nothing but the tool."""
    rule = RuleTable.model_validate({**RULE, "match": ["x", {"tool": "x"}]})
    assert [each.given() for each in rule.match] == [{"text": "x"}, {"tool": "x"}]


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


@for_each("name", ["git_*", "?", "mcp:docs/*", "mcp:*/delete_*", "mcp_x", "re_*", "ünder", "a.b-c_d"])
def test_a_name_or_glob_is_taken_as_a_tool(name: str) -> None:
    """Names of any script, wildcards, and tools of servers."""
    assert RuleTable.model_validate({**RULE, "tools": [name]}).tools == [name]


@for_each("name", [f"a{sign}b" for sign in "()^$|\\ "] + ["re:git_.", "re:x", "a(b) c"])
def test_what_belongs_to_no_tool_name_is_no_pattern(name: str) -> None:
    """A regular expression, an alternative or a command line would select nothing, and no one would notice."""
    for model, given in (
        (RuleTable, {**RULE, "tools": [name]}),
        (RuleTable, {**RULE, "match": [{"tool": name}]}),
        (TemplateTable, {"allow_tools": [name]}),
    ):
        with pytest.raises(ValidationError) as caught:
            model.model_validate(given)
        assert f"`{name}` is not the name of a tool" in [error["msg"] for error in caught.value.errors()]


@for_each(("name", "right"))
def test_another_programs_name_of_a_server_tool_is_refused_with_ours(name: str, right: str) -> None:
    """What is behind the server's name is the tool, and no tool means all; the right spelling is taken."""
    with pytest.raises(ValidationError) as caught:
        RuleTable.model_validate({**RULE, "tools": [name]})
    [error] = caught.value.errors()
    assert error["msg"] == f"`{name}` is another program's way to name a tool"
    assert error["ctx"]["hint"] == f"write `{right}`"
    assert RuleTable.model_validate({**RULE, "tools": [right]}).tools == [right]


@for_each(("mode", "meant"))
def test_a_mode_that_is_nearly_a_known_one_is_refused(mode: str, meant: str) -> None:
    """It would be a mode of the host that no session ever has; in a list each word is looked at."""
    for modes in (mode, ["review", mode]):
        with pytest.raises(ValidationError) as caught:
            WhenTable.model_validate({"mode": modes})
        [error] = caught.value.errors()
        assert (error["msg"], error["ctx"]["hint"]) == (f"unknown mode `{mode}`", f"did you mean `{meant}`?")


@for_each("mode", ["plan", "yolo", "default", "review", "planning", "p"])
def test_a_known_mode_or_a_word_of_the_host_is_taken(mode: str) -> None:
    """Only what is nearly a known word, and is not it, is a slip of the pen."""
    assert WhenTable.model_validate({"mode": mode}).given()["mode"] == [mode]


def test_an_agent_or_template_may_be_called_nearly_as_a_mode() -> None:
    """Only modes have words of their own."""
    assert WhenTable.model_validate({"agent": "plans", "template": "Plan"}).given()["agent"] == ["plans"]


@for_each("name", ["mcp:docs", "mcp:docs/", "mcp:/search", "mcp:", "mcp:/"])
def test_a_tool_of_a_server_needs_both_names(name: str) -> None:
    """Half a name would select nothing, and no one would notice."""
    with pytest.raises(ValidationError, match=f"`{name}`"):
        RuleTable.model_validate({**RULE, "tools": [name]})


def test_a_tool_name_may_be_as_long_as_that_of_a_call() -> None:
    """A name of 256 characters is taken and can be tried; one more is refused."""
    longest = "a" * 256
    rule = RuleTable.model_validate({**RULE, "tools": [longest], "match": [{"tool": longest}]})
    assert ToolCall(rule.match[0].tool or "").tool == longest
    with pytest.raises(ValidationError, match="longer than 256"):
        RuleTable.model_validate({**RULE, "tools": [f"{longest}a"]})


@for_each("name", ["a", "no-secrets", "r2-d2", "7"])
def test_words_joined_by_hyphens_are_an_id(name: str) -> None:
    """Kebab-case, digits included."""
    assert RuleTable.model_validate({**RULE, "id": name}).id == name


@for_each("name", ["A", "a_b", "-a", "a-", "a--b", "a b", "a\n", "ä", "a.b"])
def test_anything_else_is_no_id(name: str) -> None:
    """An id is also a file name and a page name, so it stays plain."""
    with pytest.raises(ValidationError, match="is not kebab-case"):
        RuleTable.model_validate({**RULE, "id": name})


def test_the_published_schema_forbids_unknown_keys_everywhere() -> None:
    """An editor marks a wrong key before the loader refuses it."""
    tables = _tables()
    assert len(tables) == 13
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
    """Where leaving a key out was the only other choice, the type is alone, and so does a reference."""
    schema = rule_file_schema()
    assert [node for node in _nodes(schema) if len(node.get("anyOf", "either or")) < 2] == []
    rule = schema["$defs"]["RuleTable"]["properties"]
    assert (rule["priority"]["type"], rule["when"]["$ref"]) == ("integer", "#/$defs/WhenTable")
    assert (rule["priority"]["minimum"], rule["priority"]["maximum"]) == (0, 399)


def test_the_published_schema_requires_what_the_loader_requires() -> None:
    """`schema` in a file, `id` in a rule, `values` in a list; an effect, or the label that may stand in its place."""
    required = [tuple(node["required"]) for node in _tables() if "required" in node]
    assert sorted(set(required)) == [("id",), ("schema",), ("values",)]
    assert {"anyOf": [{"required": ["effect"]}, {"required": ["adds_label"]}]} in (
        rule_file_schema()["$defs"]["RuleTable"]["allOf"]
    )


def test_the_published_schema_lets_a_permission_over_actions_leave_out_its_tools() -> None:
    """The loader does: what a command, path or host may do holds for every tool."""
    then = rule_file_schema()["$defs"]["RuleTable"]["then"]
    assert "tools" not in then.get("required", ())


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


# Tools, budgets and labels ----------------------------------------------------------------------------------------


def _refusal(model: type[BaseModel], value: object) -> list[str]:
    """Return what is wrong with a table, in our words."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate(value)
    return [error["msg"] for error in caught.value.errors()]


@for_each(("traits", "message"))
def test_only_known_traits_are_traits(traits: list[str], message: str) -> None:
    """Each of them once; an empty list is fine and says that none is so."""
    assert _refusal(ToolTable, {"traits": traits}) == [message]
    assert ToolTable.model_validate({"traits": []}).traits == []


@for_each("role", list(ArgumentRole))
def test_every_role_may_stand_in_a_file(role: ArgumentRole) -> None:
    """By its own word."""
    assert ToolTable.model_validate({"roles": {"x": role.value}}).roles == {"x": role.value}


@for_each("role", ["read", "Url", "", "path"])
def test_anything_else_is_no_role(role: str) -> None:
    """A slip of the pen would leave an argument unseen."""
    assert _refusal(ToolTable, {"roles": {"x": role}}) == [f"unknown role `{role}` of the argument `x`"]


@for_each("key", ["a", "a.b", "a[]", "a[].b", "a[].b[].c", "a?", "a.b?", "a|b", "a?|b[]?", "\u00e4-1", "camelCase"])
def test_a_key_of_roles_names_arguments(key: str) -> None:
    """A name, nested ones, those inside lists, either of several, and what may be left out."""
    assert ToolTable.model_validate({"roles": {key: "url"}}).roles == {key: "url"}


@for_each(
    "key", ["", "a b", "a.", ".a", "a..b", "[]", "a[", "a[0]", "a[]b", "a|", "|a", "a||b", "a??", "?", "a?.b", "[].a"]
)
def test_anything_else_names_no_argument(key: str) -> None:
    """It would never be there, and the argument meant would touch nothing."""
    assert _refusal(ToolTable, {"roles": {key: "url"}}) == [f"`{key}` names no argument"]


@for_each(("text", "seconds"), [("1s", 1), ("90s", 90), ("10m", 600), ("1h", 3600), ("2d", 172_800)])
def test_a_window_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    """Left out, it is the whole session."""
    assert BudgetTable.model_validate({"calls": 1, "per": text}).seconds == seconds
    assert BudgetTable.model_validate({"calls": 1}).seconds is None


@for_each("text", ["", "1", "s", "0s", "01s", "1.5h", "-1h", "1w", "1 h", "1H", "1h30m", "10000000s"])
def test_anything_else_is_no_window(text: str) -> None:
    """No guess is made."""
    assert _refusal(BudgetTable, {"calls": 1, "per": text}) == [f"`{text}` is not a duration"]


@for_each("key", ["calls", "targets"])
@for_each("value", [0, -1, 1_000_001, 1.0, "1", True])
def test_a_budget_is_a_whole_number_of_at_least_one(key: str, value: object) -> None:
    """A budget of nothing is a rule without one."""
    assert len(_refusal(BudgetTable, {key: value})) == 1


@for_each("value", [1, 0, 1_000_001, "2", True])
def test_a_repeat_is_at_least_the_second_time(value: object) -> None:
    """The first time nothing repeats itself."""
    assert len(_refusal(WhenTable, {"repeat": value})) == 1
    assert WhenTable.model_validate({"repeat": 2}).given()["repeat"] == 2


@for_each("label", ["web", "untrusted-web", "v2"])
def test_a_label_is_kebab_case(label: str) -> None:
    """One spelling, so that two rules mean the same one."""
    assert RuleTable.model_validate({**RULE, "adds_label": label}).adds_label == label
    assert len(_refusal(RuleTable, {**RULE, "adds_label": label.upper()})) == 1
    assert len(_refusal(RuleTable, {**RULE, "adds_label": f"{label} x"})) == 1


@for_each("digest", ["0" * 63, "0" * 65, "G" * 64, "A" * 64, ""])
def test_a_digest_has_sixty_four_digits(digest: str) -> None:
    """Anything else is the digest of no call."""
    assert len(_refusal(WhenTable, {"digest": digest})) == 1
    assert WhenTable.model_validate({"digest": "0a" * 32}).given()["digest"] == ["0a" * 32]


@for_each("digest", ["0" * 15, "0" * 65, "G" * 64, "A" * 16, "sha256:" + "0" * 64, ""])
def test_a_tool_digest_has_sixteen_to_sixty_four_digits(digest: str) -> None:
    """Fewer could be the beginning of another one, by accident or on purpose."""
    assert len(_refusal(WhenTable, {"tool_digest": digest})) == 1
    assert WhenTable.model_validate({"tool_digest": "0a" * 8}).given()["tool_digest"] == ["0a" * 8]
    assert WhenTable.model_validate({"tool_digest": ["0a" * 32]}).given()["tool_digest"] == ["0a" * 32]


@for_each("value", [0, 1, "true", "", [True]])
def test_repaired_is_true_or_false(value: object) -> None:
    """Nothing is taken for it."""
    assert len(_refusal(WhenTable, {"repaired": value})) == 1
    assert WhenTable.model_validate({"repaired": False}).given()["repaired"] is False


def test_a_word_of_a_condition_has_no_blanks_around_it() -> None:
    """It would never fit."""
    for word in (" x", "x ", "x\u200b"):
        assert _refusal(WhenTable, {"agent": word}) == [f"`{word}` holds blanks at an end or invisible characters"]


def test_an_example_is_a_string_or_a_table_without_text() -> None:
    """The string keeps its place until the rule says what it is."""
    assert RuleTable.model_validate({**RULE, "match": ["x"]}).match[0].text == "x"
    assert _refusal(RuleTable, {**RULE, "match": [{"text": "x"}]}) == ["unknown key `text`"]


def test_the_published_schema_refuses_tools_in_when() -> None:
    """As the loader does: the tools of a rule are in the rule itself, and `unless` excepts some."""
    refused = {"properties": {"when": {"not": {"required": ["tools"]}}}}
    assert refused in rule_file_schema()["$defs"]["RuleTable"]["allOf"]
