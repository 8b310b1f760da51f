"""The draft of a declaration: what the arguments of a tool seem to be."""

import tomllib

from tests.tables import for_each

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.likely_roles import declaration, folder_declaration, likely_roles


@for_each(
    ("name", "value", "role"),
    [
        ("command", "ls", "command"),
        ("cmd", "ls", "command"),
        ("url", "x", "url"),
        ("page_url", "x", "url"),
        ("imageUrl", "x", "url"),
        ("file", "x", "write_path"),
        ("file_path", "x", "write_path"),
        ("fileName", "x", "write_path"),
        ("dir", "x", "write_path"),
        ("target", "https://a.example/", "url"),
        ("target", "./notes", "write_path"),
        ("target", "~/notes", "write_path"),
        ("path", "https://a.example/", "write_path"),
        ("url", "./notes", "url"),
        ("command", "/bin/ls", "command"),
        ("target", "/a b", None),
        ("profile_text", "x", None),
        ("text", "hello", None),
    ],
)
def test_an_argument_looks_like_something(name: str, value: str, role: str | None) -> None:
    """By its name, else by its value."""
    found = likely_roles(ToolCall("t", {name: value}))
    assert {key: each.value for key, each in found.items()} == ({} if role is None else {name: role})


def test_only_texts_look_like_something() -> None:
    """A number is no path."""
    assert likely_roles(ToolCall("t", {"path": 7, "url": ["https://a.example/"]})) == {}


def test_the_declaration_is_a_table_of_a_rule_file() -> None:
    """Names that need quotes have them; whether a path is only read, the author knows."""
    lines = declaration(ToolCall("mcp:wiki/save", {"page path": "a", "url": "b", "text": "c"}))
    assert lines == (
        '[tool."mcp:wiki/save"]',
        'roles."page path" = "write_path"  # or read_path, delete_path',
        'roles.url = "url"',
    )
    (name,) = tomllib.loads("\n".join(lines))["tool"]
    assert name == "mcp:wiki/save"
    assert tomllib.loads("\n".join(declaration(ToolCall('a"b\\', {"url": "x"}))))["tool"] == {
        'a"b\\': {"roles": {"url": "url"}}
    }


def test_a_call_without_such_arguments_needs_no_declaration() -> None:
    """There is nothing to suggest."""
    assert declaration(ToolCall("send_mail", {"text": "hello"})) == ()


PAGES = """schema = 1
[[rule]]
id = "pages"
effect = "allow"
tools = ["save"]
when.path = "pages/**"
"""


@for_each(("tool", "is_shown"), [("save", True), ("other", False)])
def test_an_explanation_shows_the_draft_where_a_permission_needs_it(tool: str, *, is_shown: bool) -> None:
    """After the near misses; where the call is allowed, there is nothing to declare."""
    policy, call = load_policy(PAGES), ToolCall(tool, {"file": "pages/a"})
    explained = policy.explain(call, AuthContext())
    assert explained.declaration == (declaration(call) if is_shown else ())
    assert ("\n    [tool.save]\n" in str(explained)) is is_shown
    assert policy.explain(call, AuthContext(yolo_mode=True)).declaration == ()


def test_the_folder_of_a_server_is_for_its_author_to_say() -> None:
    """The lines are a part of the table of the tool."""
    table = tomllib.loads("\n".join(folder_declaration(ToolCall("mcp:wiki/save", {"path": "a"}))))
    assert table == {"tool": {"mcp:wiki/save": {"folder": "."}}}
