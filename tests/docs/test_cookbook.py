"""Recipes of the cookbook, attacked in more ways than their examples show."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "cookbook.md"
RECIPIENTS = [
    ["ann@example.com@example.net"],
    ["ann@example.com, eve@example.net"],
    ["<ann@example.com> eve@example.net"],
    ["ann@exampleXcom"],
    ["-option@example.com"],
    [["eve@example.net"]],
    "",
]
ADDRESSES = [
    "https://api.example.com:8443/",
    "https://notapi.example.com/",
    "https://example.net/?u=https://api.example.com/",
    "https://example.net#@api.example.com",
    "//example.net/",
    "ftp://api.example.com/",
]
COMMANDS = ["python -m pytest", "PATH=. pytest", "npm test\nnpm publish"]
STATEMENTS = [
    "select * from orders; drop table orders",
    "select * from orders;;",
    "select * from orders where name = 'x'; --'",
    "select * from orders where name = 'x\\'' or 1 = sleep(9) or 'x'",
    "select load_file(7) from orders",
]
Recipe = Callable[[str], AuthorizationPolicy]


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """Return a function that loads the recipe of a file, as the page has it."""

    def load(name: str) -> AuthorizationPolicy:
        page = PAGE.read_text("utf-8")
        found = re.search(rf"<!-- file: {name} -->\n```toml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        assert found is not None
        path = tmp_path / name
        path.write_text(found[1], encoding="utf-8")
        return load_policy(path)

    return load


@for_each(
    ("file", "tool", "argument", "values"),
    [
        ("mail.toml", "send_mail", "to", RECIPIENTS),
        ("http.toml", "http_request", "url", ADDRESSES),
        ("shell.toml", "run_shell", "command", COMMANDS),
        ("sql.toml", "query", "sql", STATEMENTS),
    ],
)
def test_no_way_around_a_recipe_runs(recipe: Recipe, file: str, tool: str, argument: str, values: list[object]) -> None:
    """Not in YOLO mode either."""
    policy = recipe(file)
    for value in values:
        decision = policy.decide(ToolCall(tool, {argument: value}), AuthContext(yolo_mode=True))
        assert decision.verdict is not Verdict.ALLOW, value
