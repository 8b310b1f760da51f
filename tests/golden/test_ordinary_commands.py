"""What developers and agents type all day: the verdict of each, and that `permitry:base` blocks none of it."""

import json
from collections import Counter
from pathlib import Path

import attrs
import pytest

from permitry.actions.extract import ReadActions
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.policy import AuthorizationPolicy
from tests.tables import for_each

_DATA = Path(__file__).with_name("ordinary_commands.jsonl")
_ROWS: list[dict[str, str]] = [json.loads(line) for line in _DATA.read_text(encoding="utf-8").splitlines()]
_CLASSES = sorted({row["class"] for row in _ROWS})
_CONTEXT = AuthContext(workspace="/home/ann/project")


@pytest.fixture(scope="module")
def policies(all_but_push: Path) -> dict[str, AuthorizationPolicy]:
    """Return the shipped set, and a file that allows all but pushing, in a home that is nowhere."""
    reader = ReadActions("/home/ann", has_disk=False)
    names: dict[str, str | Path] = {"base": "permitry:base", "push": all_but_push}
    return {key: attrs.evolve(load_policy(name), reader=reader) for key, name in names.items()}


def _verdicts(policy: AuthorizationPolicy, kind: str) -> dict[str, str]:
    commands = [row["command"] for row in _ROWS if row["class"] == kind]
    calls = [ToolCall("run_shell", {"command": command}) for command in commands]
    decisions = policy.decide_many(calls, _CONTEXT)
    return {command: decision.verdict.value for command, decision in zip(commands, decisions, strict=True)}


@for_each("rules", ["base", "push"])
@for_each("kind", _CLASSES)
def test_each_command_gets_its_verdict(policies: dict[str, AuthorizationPolicy], kind: str, rules: str) -> None:
    """Neither a needless block nor a command that runs unasked."""
    wanted = {row["command"]: row[rules] for row in _ROWS if row["class"] == kind}
    assert _verdicts(policies[rules], kind) == wanted


@for_each("kind", _CLASSES)
def test_the_floor_blocks_nothing_ordinary(policies: dict[str, AuthorizationPolicy], kind: str) -> None:
    """A guess does not block: an agent that is stopped for nothing is a defect as well."""
    blocked = [command for command, verdict in _verdicts(policies["base"], kind).items() if verdict == "block"]
    assert blocked == []


def test_there_are_enough_of_each_class() -> None:
    """At least 600 of ten classes, each once, and none of them expected to be blocked by the base rules."""
    counts = Counter(row["class"] for row in _ROWS)
    assert (len(counts), min(counts.values()) >= 60, len({row["command"] for row in _ROWS})) == (10, True, len(_ROWS))
    assert len(_ROWS) >= 600
    assert {row["base"] for row in _ROWS} == {"allow", "confirm"}
