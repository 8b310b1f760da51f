"""A new condition is one file and its name in one tuple: all else follows from the class."""

import json
import subprocess
import sys
from pathlib import Path

MOON = '''
"""The condition `moon`: a part of the month, as the host's mode says it."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import attrs

from permitry.core.rule import Request
from permitry.core.template import Template
from permitry.conditions.written import PlainCondition, Problem, Words


def _problem(word: str) -> Problem | None:
    return None if word in ("full", "new") else (f"no moon is `{word}`", "look up")


@attrs.frozen
class MoonCondition(PlainCondition):
    """Holds in such a night."""

    key: ClassVar[str] = "moon"
    table: ClassVar[Any] = Annotated[Words, _problem]
    description: ClassVar[str] = "How much of the moon is seen."
    example: ClassVar[Any] = str
    is_answered: ClassVar[bool] = True
    is_pure: ClassVar[bool] = True

    moons: tuple[str, ...] = attrs.field(converter=tuple)

    def holds(self, request: Request) -> bool:
        return request.context.mode in self.moons

    def fact(self, request: Request) -> str:
        return f"moon = {request.context.mode}"

    def implies(self, other: object) -> bool:
        return isinstance(other, MoonCondition) and set(self.moons) <= set(other.moons)

    @classmethod
    def context(cls, value: str, templates: Mapping[str, Template]) -> Mapping[str, Any]:
        return {"mode": value}
'''

RULES = """
schema = 1
[[rule]]
id = "howl"
effect = "allow"
tools = ["howl"]
when.moon = "full"
match = [{ tool = "howl", moon = "full" }]
no_match = [{ tool = "howl", moon = "new" }]

[[rule]]
id = "howl-or-not"
effect = "allow"
tools = ["howl"]
when.moon = ["full", "new"]

[[rule]]
id = "never"
effect = "block"
tools = ["bark"]
when.moon = "new"
unless.moon = "new"
"""

WRONG = """
schema = 1
[[rule]]
id = "a"
effect = "block"
tools = ["x"]
when.moon = "red"
[[rule]]
id = "b"
effect = "block"
tools = ["x"]
when.moom = "full"
[[rule]]
id = "c"
effect = "allow"
tools = ["x"]
when.moon = "full"
match = [{ tool = "x", moon = "new" }]
"""

# As a developer adds a condition: a file in the folder, and a name in the tuple, before anything is loaded.
SCRIPT = """
import json, sys
import permitry.conditions as package
from permitry.conditions import keys
package.__path__.append(sys.argv[1])
keys.CONDITIONS += ("moon",)

from permitry import AuthContext, ToolCall
from permitry_ops.lint import lint
from permitry.config.drafts import drafts_of
from permitry.config.load import compile_rules, load_rules
from permitry.config.plain import rule_set_of
from permitry.config.schema import rule_file_schema
from permitry.errors import ConfigError

compiled = compile_rules(["rules.toml"])
stored = json.loads(json.dumps(compiled.data))
rules = rule_set_of(stored)
policy, call = rules.policy(), ToolCall("howl")
explained = policy.explain(call, AuthContext(mode="dark"))
stored["rules"][0]["when"]["moon"] = []
try:
    rule_set_of(stored)
    refused = False
except ValueError:
    refused = True
try:
    load_rules(["wrong.toml"])
    problems = []
except ConfigError as error:
    problems = [[each.line, each.message, each.hint] for each in error.problems]
print(json.dumps({
    "same": rules == compiled.rules,
    "refused": refused,
    "schema": rule_file_schema()["$defs"]["WhenTable"]["properties"]["moon"]["description"],
    "verdicts": [policy.decide(call, AuthContext(mode=each)).verdict.value for each in ("full", "dark")],
    "near": [each.near_miss for each in explained.rules if each.rule_id.startswith("howl")],
    "lint": [[each.kind, each.rule_id] for each in lint(rules, drafts=drafts_of(rules))],
    "problems": problems,
}))
"""


def test_a_condition_is_a_file_and_a_name(tmp_path: Path) -> None:
    """It is loaded, checked, stored, shown by editors, decided, explained, tried by examples and compared by lint."""
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "moon.py").write_text(MOON, encoding="utf-8")
    (tmp_path / "rules.toml").write_text(RULES, encoding="utf-8")
    (tmp_path / "wrong.toml").write_text(WRONG, encoding="utf-8")
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["same"], found["refused"]) == (True, True)
    assert found["schema"] == "How much of the moon is seen."
    assert found["verdicts"] == ["allow", "confirm"]
    assert found["near"] == ["moon = dark", "moon = dark"]
    assert found["lint"] == [["redundant", "howl"], ["never-matches", "never"]]
    assert found["problems"] == [
        [7, "no moon is `red`", "look up"],
        [12, "unknown key `moom`", "did you mean `moon`?"],
        [18, "the `match` example `x` does not match the rule", "the example has moon = new"],
    ]
