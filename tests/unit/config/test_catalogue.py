"""The shipped rule sets are found by name, and each of them is fit to be shipped."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from tests.tables import for_each

from permitry.config.catalogue import PREFIX, find_shipped, list_shipped
from permitry.config.load import Origin, load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.core.well_known import WELL_KNOWN
from permitry.errors import ConfigError
from permitry_hosts.hooks.hosts import HOSTS, host_named

every_set = for_each("name", list_shipped())
TOOL_SETS = {f"{PREFIX}tools-{host}" for host in HOSTS}


def test_the_shipped_sets_are_listed_by_prefixed_name() -> None:
    """Sorted, each with the prefix; the base set and its parts are among them."""
    names = list_shipped()
    assert names == sorted(names)
    parts = ("access", "destructive", "guard", "money", "persistence", "secrets")
    assert {f"{PREFIX}{name}" for name in ("base", *parts, "coding-agent", "plan", "publishing", "read-only")} <= set(
        names
    )


@every_set
def test_a_part_can_be_taken_singly(name: str) -> None:
    """No set needs a rule of a set that it does not extend, and the base set is all of its parts."""
    base = {rule.id for rule in load_rules([Origin("permitry:base")]).rules}
    own = {rule.id for rule in load_rules([Origin(name)]).rules}
    kinds = [
        "coding",
        "coding-agent",
        "hooks",
        "hooks-codex",
        "looking",
        "plan",
        "publishing",
        "read-only",
        "releasing",
    ]
    others = {f"{PREFIX}{name}" for name in kinds}
    assert own <= base or name in others


@for_each("name", ["base", "coding-agent", "destructive"])
def test_a_set_that_is_made_of_parts_can_be_taken_without_one(name: str) -> None:
    """A file cannot change a rule of a set that it extends, so no rule worth leaving out is only in the whole."""
    own = tomllib.loads(find_shipped(f"{PREFIX}{name}").read_text(encoding="utf-8"))
    assert {rule["id"] for rule in own.get("rule", [])} <= {"ask-deletion"}
    assert "template" not in own


@every_set
def test_a_listed_set_has_its_file(name: str) -> None:
    """The name is the file's stem behind the prefix."""
    path = find_shipped(name)
    assert path.is_file()
    assert f"{PREFIX}{path.stem}" == name


def test_the_path_of_an_unknown_set_is_no_file() -> None:
    """A path is made up for any name; the caller looks whether it exists."""
    assert not find_shipped("permitry:nothing").exists()


@every_set
def test_a_shipped_set_binds_its_schema_for_editors(name: str) -> None:
    """The first line names the JSON Schema, so that editors complete."""
    first = find_shipped(name).read_text(encoding="utf-8").split("\n")[0]
    assert first == "#:schema ./schema.json"
    assert (find_shipped(name).parent / "schema.json").is_file()


@every_set
def test_a_shipped_set_loads_with_reasons_and_notices_nothing(name: str) -> None:
    """Every shipped rule says why it is there."""
    rules = load_rules([Origin(name)])
    assert bool(rules.rules) != (name in TOOL_SETS)
    assert all(rule.reason for rule in rules.rules)
    assert rules.notices == ()


@every_set
def test_the_examples_of_a_shipped_set_hold(name: str) -> None:
    """By its path a set is a file like any other, and its examples are tried; by its name they are taken as tried."""
    loaded = load_rules([find_shipped(name)])
    assert loaded.rules or loaded.tools


def test_a_failing_example_of_a_set_is_found_by_its_path(tmp_path: Path) -> None:
    """As in the test above, where one of the sets is wrong."""
    copy = tmp_path / "guard.toml"
    text = find_shipped("permitry:guard").read_text(encoding="utf-8")
    copy.write_text(text.replace('"echo permitry trust"', '"permitry trust"'), encoding="utf-8")
    with pytest.raises(ConfigError, match="the `no_match` example `permitry trust` matches the rule"):
        load_rules([copy])


def test_the_base_set_only_restricts() -> None:
    """The floor under every other set has no permission in it."""
    assert Verdict.ALLOW not in {rule.effect for rule in load_rules([Origin("permitry:base")]).rules}


@every_set
def test_a_shipped_restriction_means_the_tools_of_servers_too(name: str) -> None:
    """A tool that a restriction names is also meant when a server brings it; only the guard's own names are not."""
    for rule in load_rules([Origin(name)]).rules:
        if rule.effect is not Verdict.ALLOW:
            texts = {selector.text for selector in rule.scope.selectors}
            plain = {text for text in texts if not text.startswith(("*", "@", "mcp:", "permitry_"))}
            assert {f"mcp:*/{text}" for text in plain} - texts == set()


def test_all_shipped_sets_go_together() -> None:
    """No two shipped rules or templates share a name."""
    together = load_rules(Origin(name) for name in list_shipped())
    assert [name for name in together.files if not name.startswith(PREFIX)] == []
    assert sorted(together.files) == list_shipped()


def test_a_set_of_tools_for_each_host_only_declares_tools() -> None:
    """It permits nothing and blocks nothing: that is for the set it is taken with."""
    assert {name for name in list_shipped() if name.startswith(f"{PREFIX}tools-")} == TOOL_SETS
    for name in TOOL_SETS:
        tables = tomllib.loads(find_shipped(name).read_text(encoding="utf-8"))
        assert set(tables) == {"schema", "description", "tool"}
        assert all(set(tool) <= {"traits", "roles"} and "traits" in tool for tool in tables["tool"].values())


@for_each("name", sorted(TOOL_SETS))
def test_a_set_of_tools_says_what_is_known_of_a_name_and_more(name: str) -> None:
    """Whatever is known of a tool without the set, is known with it: no argument loses its role."""
    for tool in load_rules([Origin(name)]).tools.values():
        if (known := WELL_KNOWN.get(tool.name)) is not None:
            assert tool.traits.read_only is known.traits.read_only or not known.traits.read_only
            assert _arguments(known) <= _arguments(tool)


# By its name, a tool only lists files, or searches in them.
LISTS = re.compile(r"glob|ls|list(_(dir|directory|files))?", re.IGNORECASE)
SEARCHES = re.compile(r".*(grep|search|read|definition).*|rg", re.IGNORECASE)


@for_each("name", sorted(TOOL_SETS))
def test_a_tool_that_lists_names_reads_no_contents_and_one_that_searches_does(name: str, tmp_path: Path) -> None:
    """A blocked `.env` below is no reason to ask about a list, as it is none for `ls -R`, but one for a search."""
    (tmp_path / ".env").touch()
    blocked = '[[rule]]\nid = "no"\neffect = "block"\nwhen.path = ["**/.env", "key/**"]\n'
    loaded = load_rules([Origin("rules.toml", text=f'schema = 1\nextends = ["{name}"]\n{blocked}')])
    policy, context = loaded.policy(), AuthContext(workspace=str(tmp_path))
    for tool in (each for each in loaded.tools.values() if {"read_tree", "list_tree"} & _roles(each)):
        lists = "list_tree" in _roles(tool)
        assert not (SEARCHES if lists else LISTS).fullmatch(tool.name)
        decided = policy.decide(ToolCall(tool.name, {"pattern": "*"}), context).verdict
        assert decided is (Verdict.ALLOW if lists else Verdict.CONFIRM), tool.name
        assert policy.decide(ToolCall(tool.name, {"path": "key"}), context).verdict is Verdict.BLOCK


@for_each("host", HOSTS)
def test_what_an_argument_of_a_tool_is_is_declared(host: str) -> None:
    """A command that reads runs and one that reads a secret is asked about, as is each tool that reads it."""
    loaded = load_rules([Origin("permitry:coding-agent"), Origin(f"{PREFIX}tools-{host}")])
    policy, context, known = loaded.policy(), AuthContext(workspace="/home/ann/project"), host_named(host)

    def decide(tool: str, arguments: Mapping[str, Any]) -> str | None:
        return policy.decide(ToolCall(tool, arguments), context).rule_id

    for command, rule in (("git status", "read-only"), ("cat .env", "ask-credentials")):
        event = known.read(known.sample(command, "/home/ann/project", "s1"), {"PWD": "/home/ann/project"})
        assert decide(event.tool, event.arguments) == rule
    for tool in loaded.tools.values():
        for key in (key for key, role in (tool.roles or {}).items() if role is ArgumentRole.READ_PATH):
            for place in key.split("|"):
                assert decide(tool.name, _put(place, ".env")) == "ask-credentials", (tool.name, place)


def _put(place: str, value: object) -> dict[str, Any]:
    """Return arguments with a value at the place that a role names, such as `files[].path`."""
    for part in reversed(place.rstrip("?").split(".")):
        value = {part.removesuffix("[]"): [value] if part.endswith("[]") else value}
    return cast("dict[str, Any]", value)


def _roles(tool: ToolSpec) -> set[str]:
    return {role.value for role in (tool.roles or {}).values()}


def _arguments(tool: ToolSpec) -> set[tuple[str, str]]:
    roles = tool.roles or {}
    return {(name.rstrip("?"), role.value) for key, role in roles.items() for name in key.split("|")}
