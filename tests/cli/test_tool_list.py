"""The option `--tools` is the same for every command: a tools file, or a list where no tool runs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]

RULES = """schema = 1
[[rule]]
id = "a"
effect = "block"
tools = ["greet"]
when.args.nme = "x"
"""
PLUGIN = """
from permitry.core.spec import ToolTraits
from permitry.dispatch.discovery import ToolPlugin

plugin = ToolPlugin(
    {"name": "greet", "description": "Greet.", "parameters": {
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
    lambda arguments, context: (True, "Hello."),
    traits=ToolTraits(read_only=True, destructive=False, open_world=False, spawns_agent=False),
    roles={"name": "text"},
)
"""


@pytest.fixture
def tools_file(cli: Cli, workspace: Path) -> Path:
    """Return a tools file with a plugin folder that is trusted."""
    (workspace / "plugins").mkdir()
    (workspace / "plugins/greet.py").write_text(PLUGIN, encoding="utf-8")
    assert cli("trust", workspace / "plugins")[0] == 0
    path = workspace / "tools.toml"
    path.write_text('schema = 1\nplugins = ["plugins"]\n', encoding="utf-8")
    return path


@pytest.mark.parametrize("command", ["lint", "parse", "run", "tools"])
def test_every_command_says_the_same_of_it(cli: Cli, command: str) -> None:
    """One format, and one help text."""
    shown = " ".join(cli(command, "--help")[1].split())
    assert "the tools: a tools file (TOML); `lint` and `parse` also take a JSON list of names, or of specs" in shown


def test_lint_knows_the_tools_of_a_tools_file(cli: Cli, workspace: Path, tools_file: Path) -> None:
    """With their arguments."""
    (workspace / "rules.toml").write_text(RULES, encoding="utf-8")
    code, out, _ = cli("lint", "--rules", workspace / "rules.toml", "--tools", tools_file)
    assert code == 1
    assert "`greet` has no argument `nme`" in out


def test_parse_knows_the_tools_of_a_tools_file(cli: Cli, tools_file: Path) -> None:
    """Those of the workspace are among them."""
    for name, is_known in (("greet", True), ("read_file", True), ("great", False)):
        text = f"<tool_call>{json.dumps({'name': name, 'arguments': {}})}</tool_call>"
        out = cli("parse", "--tools", tools_file, "--json", stdin=text)[1]
        assert json.loads(out)["calls"][0]["is_known"] is is_known


@pytest.mark.parametrize("command", ["run", "tools"])
def test_a_list_of_tools_cannot_run(cli: Cli, workspace: Path, command: str) -> None:
    """The message says what is needed instead."""
    path = workspace / "tools.json"
    path.write_text('["greet"]', encoding="utf-8")
    code, out, err = cli(command, "--rules", "permitry:base", "--tools", path)
    assert (code, out) == (4, "")
    assert "is a list of tools, and none of them could run; a tools file ends in `.toml`" in err


def test_a_mistake_in_a_tools_file_is_reported_by_every_command(cli: Cli, workspace: Path) -> None:
    """With its file."""
    path = workspace / "tools.toml"
    path.write_text("schema = 1\nplugin = []\n", encoding="utf-8")
    for words in (("lint", "--rules", "permitry:base"), ("parse",)):
        code, _, err = cli(*words, "--tools", path)
        assert code == 4
        assert "tools.toml: `plugin`: unknown key" in err
