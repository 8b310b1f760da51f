"""From a table of a rule file to its conditions."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry import AuthContext, ToolCall, Verdict, load_policy
from permitry.config.conditions import scope_of
from permitry.errors import RuleError

RULE = """
schema = 1
[[rule]]
id = "no"
effect = "block"
tools = ["t"]
when.args{}
"""


@for_each(
    ("condition", "arguments", "verdict"),
    [
        ('."x.y" = 1', {"x.y": 1}, Verdict.BLOCK),
        ('."x.y" = 1', {"x": {"y": 1}, "x.y": 2}, Verdict.CONFIRM),
        ('."x.y" = { ge = 1 }', {"x.y": 2}, Verdict.BLOCK),
        ('.a."x.y" = { ge = 1 }', {"a": {"x.y": 2}}, Verdict.BLOCK),
        (".x.y = { ge = 1 }", {"x": {"y": 1}}, Verdict.BLOCK),
        (".x.y = { ge = 1 }", {"x": {"y": 0}, "x.y": 1}, Verdict.CONFIRM),
    ],
)
def test_a_quoted_name_with_a_dot_is_one_name(
    tmp_path: Path, condition: str, arguments: dict[str, object], verdict: Verdict
) -> None:
    """A dot between quotes leads into no object; a block on such a name never fired."""
    path = tmp_path / "rules.toml"
    path.write_text(RULE.format(condition), encoding="utf-8")
    assert load_policy(path).decide(ToolCall("t", arguments), AuthContext()).verdict is verdict


@for_each("part", ["when", "unless"])
def test_an_access_without_a_path_is_refused(part: str) -> None:
    """It would be no condition at all: a permission with it would cover every call of its tools."""
    given = {"access": ["read"]}
    with pytest.raises(RuleError, match="`access` without `path`"):
        scope_of(["t"], given if part == "when" else None, [given] if part == "unless" else None)
