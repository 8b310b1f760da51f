"""`permitry tools`: what there is, what rules know of it, and how providers take it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]
Objects = Callable[[str], list[dict[str, Any]]]

CUSTOM = """
from permitry.dispatch.discovery import ToolPlugin

plugin = ToolPlugin(
    {"name": "lift", "description": "Lift\\x1b[2J things."},
    lambda arguments, context: (True, "up"),
)
"""


@pytest.fixture
def listing(workspace: Path) -> list[str]:
    """Return the words that list the tools of a workspace under the shipped rules."""
    return ["tools", "--workspace", str(workspace), "--rules", "permitry:coding-agent"]


def test_all_tools_are_listed(cli: Cli, listing: list[str]) -> None:
    """One a line, with what it does, what its arguments are and the beginning of its digest."""
    code, out, err = cli(*listing)
    assert (code, err) == (0, "")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert lines["tool"].split() == ["tool", "does", "arguments", "kinds", "digest", "description"]
    assert {"read_file", "run_shell", "apply_patch", "update_plan", "fetch_url"} <= set(lines)
    assert "reads" in lines["read_file"]
    assert "path: read_path" in lines["read_file"]
    assert "writes" in lines["run_shell"]
    # There is no model to run agents, and no service to search with.
    assert not {"subtask", "execute", "web_search"} & set(lines)


def test_a_search_service_brings_the_search(cli: Cli, listing: list[str], tmp_path: Path) -> None:
    """A tool is offered where it can work."""
    file = tmp_path / "tools.toml"
    file.write_text('schema = 1\n[web]\nsearch_endpoint = "https://search.example.com/"\n', encoding="utf-8")
    assert "\nweb_search " in cli(*listing, "--tools", str(file))[1]


def test_some_may_be_named(cli: Cli, listing: list[str], objects: Objects) -> None:
    """In the order they are named."""
    out = cli(*listing, "write_file", "read_file", "--json")[1]
    assert [each["name"] for each in objects(out)] == ["write_file", "read_file"]


def test_json_tells_everything(cli: Cli, listing: list[str], objects: Objects) -> None:
    """What rules look at, what a model is shown, the digest to pin, and the limits."""
    (shown,) = objects(cli(*listing, "edit_file", "--json")[1])
    assert shown["traits"] == {
        "read_only": False, "destructive": True, "idempotent": True, "open_world": False, "spawns_agent": False
    }  # fmt: skip
    assert shown["roles"] == {"path": "write_path"}
    assert set(shown["parameters"]["properties"]) == {"path", "old_text", "new_text"}
    assert (shown["kinds"], shown["version"], shown["timeout"]) == (["function"], "1", None)
    assert len(shown["digest"]) == 64
    assert shown["hidden"] is False


def test_a_tool_that_could_not_run_is_hidden(cli: Cli, listing: list[str], objects: Objects) -> None:
    """It is marked, and left out with --visible."""
    marked = {each["name"]: each["hidden"] for each in objects(cli(*listing, "--mode", "plan", "--json")[1])}
    assert (marked["read_file"], marked["write_file"]) == (False, True)
    seen = {each["name"] for each in objects(cli(*listing, "--mode", "plan", "--visible", "--json")[1])}
    assert seen == {name for name, is_hidden in marked.items() if not is_hidden}
    assert "(hidden)" in cli(*listing, "--mode", "plan", "write_file")[1]


def test_the_layers_count_without_rules(cli: Cli, workspace: Path, tmp_path: Path, objects: Objects) -> None:
    """Those of the workspace, as for a session."""
    rules = tmp_path / "home" / "permitry" / "rules.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text('schema = 1\n[[rule]]\nid = "no"\neffect = "block"\ntools = ["write_file"]\n')
    (shown,) = objects(cli("tools", "--workspace", workspace, "write_file", "--json")[1])
    assert shown["hidden"] is True


@for_each("shape", ["openai-chat", "openai-responses", "anthropic", "gemini", "mcp"])
def test_definitions_are_printed_as_a_provider_takes_them(cli: Cli, listing: list[str], shape: str) -> None:
    """One JSON list, of every shape."""
    code, out, err = cli(*listing, "--shape", shape, "read_file", "exec_command")
    assert (code, err) == (0, "")
    first, second = json.loads(out)
    inner = first.get("function", first)
    assert inner["name"] == "read_file"
    assert "exec_command" in json.dumps(second)


def test_free_text_has_its_grammar(cli: Cli, listing: list[str]) -> None:
    """As a custom tool, where the provider has such; without the option it is a function."""
    (custom,) = json.loads(cli(*listing, "--shape", "openai-responses", "--free-form", "apply_patch")[1])
    assert (custom["type"], custom["format"]["syntax"]) == ("custom", "lark")
    (function,) = json.loads(cli(*listing, "--shape", "openai-responses", "apply_patch")[1])
    assert function["type"] == "function"


def test_strict_definitions_require_all(cli: Cli, listing: list[str]) -> None:
    """As OpenAI's strict mode wants it."""
    (only,) = json.loads(cli(*listing, "--shape", "openai-chat", "--strict", "read_file")[1])
    assert only["function"]["strict"] is True
    assert set(only["function"]["parameters"]["required"]) == {"path", "offset", "limit", "hashline"}


def test_what_a_provider_cannot_call_is_left_out(cli: Cli, listing: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """And told, for it would be missed."""
    monkeypatch.setattr("permitry_ops.cli.tools.is_exportable", lambda spec, _: spec.name != "shell")
    _, out, err = cli(*listing, "--shape", "anthropic", "shell", "read_file")
    assert [each["name"] for each in json.loads(out)] == ["read_file"]
    assert err == "permitry: `shell` is left out: anthropic has no calls of its kind\n"


@for_each(("words", "expected"))
def test_what_cannot_be_used_is_refused(cli: Cli, listing: list[str], words: list[str], expected: str) -> None:
    """With exit code 4, and the way out."""
    code, out, err = cli(*listing, *words)
    assert (code, out) == (4, "")
    assert expected in err


def test_looking_leaves_nothing_behind(cli: Cli, listing: list[str], workspace: Path, tmp_path: Path) -> None:
    """Neither in the workspace nor elsewhere."""
    before = sorted(tmp_path.rglob("*"))
    assert cli(*listing)[0] == 0
    assert list(workspace.iterdir()) == []
    assert sorted(tmp_path.rglob("*")) == before


def test_what_a_plugin_says_is_harmless(cli: Cli, listing: list[str], tmp_path: Path) -> None:
    """Its description is shown without what a terminal would obey; what it did not declare is reported."""
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "lift.py").write_text(CUSTOM)
    cli("trust", tmp_path / "plugins")
    out = cli(*listing, "--plugins", tmp_path / "plugins", "lift")[1]
    assert "\x1b" not in out
    assert out.count("not declared") == 2
