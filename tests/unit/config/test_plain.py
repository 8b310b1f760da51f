"""Rules as plain data become the rules that were loaded; what has another form is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.conditions.scope import Scope
from permitry.config.load import compile_rules, load_rules
from permitry.config.plain import rule_of, rule_set_of
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict

RULES = """
schema = 1

[[rule]]
id = "no-push"
effect = "block"
tools = ["run_shell"]
when.command = ["git push *"]
message = "Not now."

[[rule]]
id = "payments"
effect = "confirm"
tools = ["pay_*"]
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Return the path of a rule file."""
    path = tmp_path / "rules.toml"
    path.write_text(RULES, encoding="utf-8")
    return str(path)


@pytest.fixture
def data(file: str) -> dict[str, Any]:
    """Return the rules of the file as they come out of JSON."""
    loaded: dict[str, Any] = json.loads(json.dumps(dict(compile_rules([file]).data)))
    return loaded


def test_the_rules_are_those_that_were_loaded(file: str, data: dict[str, Any]) -> None:
    """With files, tools and templates."""
    assert rule_set_of(data) == load_rules([file])


def test_the_part_of_a_tool_has_the_rules_that_can_be_about_it(data: dict[str, Any]) -> None:
    """Under any reading of its name; the others are not even looked at."""
    data["rules"][1]["effect"] = "broken"
    part = rule_set_of(data, "Run_Shell")
    assert [rule.id for rule in part.rules] == ["no-push"]
    call = ToolCall("run_shell", {"command": "git push origin"})
    assert part.policy().decide(call, AuthContext()).verdict is Verdict.BLOCK


def test_a_rule_has_the_priority_of_its_effect(data: dict[str, Any]) -> None:
    """Where it says none of its own."""
    rules = [rule_of({**data["rules"][0], "effect": effect}, Scope()) for effect in ("block", "confirm")]
    assert [rule.priority_number for rule in rules] == [150, 160]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("rules"),
        lambda data: data.update(more=[]),
        lambda data: data.update(files="rules.toml"),
        lambda data: data.update(rules={}),
        lambda data: data["rules"][0].pop("source"),
        lambda data: data["rules"][0].update(effect="permit"),
        lambda data: data["rules"][0].update(tools=[7]),
        lambda data: data["rules"][0].update(priority="150"),
        lambda data: data["rules"][0].update(priority=True),
        lambda data: data["rules"][0]["when"].update(command=["git push **x", 7]),
        lambda data: data["rules"][0]["when"].update(moon="full"),
    ],
)
def test_data_of_another_form_is_refused(data: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> None:
    """Every value has the type it must have, and a rule is refused as its constructor refuses it."""
    change(data)
    with pytest.raises(ValueError):  # noqa: PT011 -- the message is that of whoever refuses it
        rule_set_of(data)


@for_each("data", [None, [], "rules", 7])
def test_what_is_no_table_is_no_rule_set(data: object) -> None:
    """Whatever was read."""
    with pytest.raises(ValueError, match="other fields"):
        rule_set_of(data)
