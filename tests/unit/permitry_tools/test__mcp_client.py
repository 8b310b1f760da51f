"""A client without a connection; with one it is in `test_mcp.py`."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.tables import for_each

from permitry.core.spec import ToolSpec
from permitry.errors import ToolError
from permitry_tools import _mcp_client
from permitry_tools._mcp_client import LastWords, McpClient
from permitry_tools._mcp_server import McpServer
from permitry_tools._mcp_wire import Definition


@pytest.fixture
def client() -> McpClient:
    """Return a client that was never connected."""
    return McpClient(McpServer("docs", "true"))


@pytest.mark.parametrize(
    "work",
    [McpClient.list_again, lambda client: client.call_tool(Definition("t", ToolSpec("mcp:docs/t"), ""), {})],
    ids=["list", "call"],
)
def test_without_a_connection_nothing_is_called(
    client: McpClient, work: Callable[[McpClient], Awaitable[object]]
) -> None:
    """The error names the server."""

    async def main() -> None:
        await work(client)

    with pytest.raises(ToolError, match="`docs` is not connected"):
        asyncio.run(main())


def test_what_is_not_connected_may_be_left(client: McpClient) -> None:
    """There is nothing to end, and nothing is listed."""
    client.leave()
    assert not client.listing.definitions
    assert not client.has_news


@for_each(("written", "kept"), [("why\n", "why\n"), ("0123456789", "6789"), ("", ""), ("€", "€")])
def test_the_end_is_kept(written: str, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server writes on standard error, as far as there is room."""
    monkeypatch.setattr(_mcp_client, "_LAST_WORDS", 4)
    words = LastWords()
    with words.listen() as file:
        file.write(written)
    assert words.text() == kept
