"""A list of tools, before the SDK reads it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import anyio
from mcp_types import ListToolsResult
from tests.tables import for_each

from permitry.messages.mcp_lists import tool_lists

GOOD = {"name": "good", "inputSchema": {"type": "object"}}
BAD = [
    {"inputSchema": "x"}, {"inputSchema": None}, {"inputSchema": {}}, {"inputSchema": {"type": "array"}},
    {"inputSchema": True}, {"inputSchema": {"type": "object", "properties": []}},
    {"inputSchema": {"type": "object", "required": "a"}}, {"outputSchema": 5}, {"annotations": []},
    {"annotations": {"readOnlyHint": "maybe"}}, {"description": 5}, {"title": []}, {"name": 5}, {"icons": 5},
]  # fmt: skip


async def _read(*results: object) -> tuple[list[Any], list[str]]:
    """Return the results that pass, and the names of what was left out."""
    send, receive = anyio.create_memory_object_stream[Any](len(results))
    for result in results:
        await send.send(SimpleNamespace(message=SimpleNamespace(result=result)))
    send.close()

    @contextlib.asynccontextmanager
    async def transport() -> AsyncIterator[tuple[Any, Any]]:
        yield receive, send

    names: list[str] = []
    async with tool_lists(transport(), lambda: None, names.extend) as (read, _), read:
        found = [item.message.result async for item in read]
    return found, names


@for_each("bad", BAD, ids=str)
def test_a_tool_that_the_protocol_refuses_costs_no_other(bad: dict[str, Any]) -> None:
    """It is left out, and named; the client takes the rest."""
    tool = {**GOOD, "name": "bad", **bad}
    (found,), names = asyncio.run(_read({"tools": [GOOD, tool, {**GOOD, "name": "last"}]}))
    assert [each.name for each in ListToolsResult.model_validate(found).tools] == ["good", "last"]
    assert names == [str(tool["name"])]


@for_each("result", [{"tools": [GOOD]}, {"tools": 5}, {"content": []}, None, "x"])
def test_everything_else_passes_as_it_is(result: object) -> None:
    """What is wrong with the whole is for the client to say."""
    assert asyncio.run(_read(result)) == ([result], [])


def test_what_is_not_a_tool_is_left_out() -> None:
    """It has no name."""
    (found,), names = asyncio.run(_read({"tools": [GOOD, "x", 5]}))
    assert found == {"tools": [GOOD]}
    assert names == ["x", "5"]
