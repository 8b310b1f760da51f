"""Relative paths before an MCP server that does not look for them in the workspace."""

from pathlib import Path

from permitry.config.load import load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.spec import ToolSpec
from tests.tables import for_each

RULES = """
schema = 1
[tool."mcp:files/read"]
traits = ["read_only"]
roles = {{ "path|paths[]" = "read_path" }}
{folder}
[tool."mcp:files/tree"]
traits = ["read_only"]
roles."path?" = "read_tree"
{folder}
[tool."mcp:files/run"]
roles.command = "command"
roles."cwd?" = "folder"
{folder}
[[rule]]
id = "secrets"
effect = "block"
when.path = ["files/secret/**", "~/.ssh/**"]
[[rule]]
id = "named"
effect = "allow"
tools = ["mcp:files/*"]
[[rule]]
id = "paths"
effect = "allow"
when.path = ["**"]
"""


def _decide(tmp_path: Path, tool: str, arguments: dict[str, object], folder: str = "") -> Verdict:
    """Return the verdict where `secret/key` lies in the folder `files` of the workspace."""
    (tmp_path / "work/files/secret").mkdir(parents=True, exist_ok=True)
    (tmp_path / "work/files/secret/key").touch()
    (tmp_path / "work/files/a").touch()
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES.format(folder=folder and f'folder = "{folder}"'))
    policy = load_rules(rules).policy()
    return policy.decide(
        ToolCall(f"mcp:files/{tool}", arguments), AuthContext(workspace=str(tmp_path / "work"))
    ).verdict


REACHING: list[tuple[str, dict[str, object]]] = [
    ("read", {"path": "secret/key"}),
    ("read", {"path": "./secret//key"}),
    ("read", {"path": "a/../secret/key"}),
    ("read", {"paths": ["a", "secret/key"]}),
    ("read", {"path": "a", "paths": ["secret/key"]}),
    ("tree", {}),
    ("tree", {"path": "."}),
    ("tree", {"path": "secret"}),
    ("run", {"command": "cat secret/key"}),
    ("run", {"command": "cat < secret/key"}),
    ("run", {"command": "cd secret && cat key"}),
    ("run", {"command": "cat key", "cwd": "secret"}),
]


@for_each(("tool", "arguments"), REACHING)
def test_what_the_server_would_open_is_asked_about_at_least(
    tmp_path: Path, tool: str, arguments: dict[str, object]
) -> None:
    """Nothing says where it looks, so the permission by name is not enough."""
    assert _decide(tmp_path, tool, arguments) is not Verdict.ALLOW


@for_each(("tool", "arguments"), REACHING)
def test_where_the_folder_is_declared_it_is_blocked(tmp_path: Path, tool: str, arguments: dict[str, object]) -> None:
    """The rule means the file that is opened; a tool that reads a tree may leave some of it out."""
    is_asked = tool == "tree" and arguments.get("path", ".") == "."
    assert _decide(tmp_path, tool, arguments, "files") is (Verdict.CONFIRM if is_asked else Verdict.BLOCK)


def test_what_a_rule_blocks_in_the_workspace_stays_blocked(tmp_path: Path) -> None:
    """A folder that is not known is no way out of a block."""
    assert _decide(tmp_path, "read", {"path": "files/secret/key"}) is Verdict.BLOCK


@for_each("path", ["a", "files/secret/key", "~files/x", "sub/../a"])
def test_where_the_folder_is_declared_other_files_are_not_asked_about(tmp_path: Path, path: str) -> None:
    """In the folder `files`, the name `files/secret/key` is another file."""
    assert _decide(tmp_path, "read", {"path": path}, "files") is Verdict.ALLOW


def test_a_permission_by_path_covers_no_relative_path_of_unknown_origin(tmp_path: Path) -> None:
    """Without any restriction, too."""
    rules = tmp_path / "rules.toml"
    rules.write_text('schema = 1\n[[rule]]\nid = "docs"\neffect = "allow"\nwhen.path = ["docs/**"]\n')
    spec = ToolSpec("mcp:files/write", roles={"path": "write_path"})
    policy, context = load_rules(rules).policy(), AuthContext(workspace=str(tmp_path))
    for path, verdict in (("docs/a", Verdict.CONFIRM), (f"{tmp_path}/docs/a", Verdict.ALLOW)):
        assert policy.decide(ToolCall("mcp:files/write", {"path": path}), context, spec).verdict is verdict


def test_a_link_in_the_folder_of_a_server_is_followed(tmp_path: Path) -> None:
    """The declared folder may be a link, and one below it may lead to what is blocked."""
    _decide(tmp_path, "read", {"path": "a"})
    (tmp_path / "work/there").symlink_to("files")
    (tmp_path / "work/files/link").symlink_to("secret")
    assert _decide(tmp_path, "read", {"path": "link/key"}, "there") is Verdict.BLOCK
    assert _decide(tmp_path, "read", {"path": "a"}, "there") is Verdict.ALLOW
