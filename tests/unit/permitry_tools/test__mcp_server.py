"""How an MCP server is described."""

import pytest
from tests.tables import for_each

from permitry.errors import RegistryError
from permitry_tools._mcp_server import McpServer


@for_each(
    "wrong",
    [
        {"name": "a/b", "command": "c"},
        {"name": "", "command": "c"},
        {"name": "a\u200b", "command": "c"},
        {"name": "a"},
        {"name": "a", "command": "c", "url": "http://a.example"},
        {"name": "a", "url": "ftp://a.example"},
        {"name": "a", "command": "c", "args": "server.py"},
    ],
    ids=ascii,
)
def test_what_is_no_server_is_refused(wrong: dict[str, str]) -> None:
    """At once, not when it is used."""
    with pytest.raises(RegistryError):
        McpServer(**wrong)  # type: ignore[arg-type]  # that is the test


def test_secrets_of_a_server_are_not_printed() -> None:
    """Settings end up in logs."""
    server = McpServer("a", url="http://a.example", headers={"authorization": "word"}, env={"KEY": "word"})
    assert "word" not in repr(server)
