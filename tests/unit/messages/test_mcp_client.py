"""The client of an MCP server, with a small server of the SDK as a program."""

import asyncio
import contextlib
import sys
from pathlib import Path

import attrs
import pytest
from mcp import Client

from permitry.messages.mcp_client import ignore_schemas, new_client

SERVER = """
import os

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
import anyio

async def list_tools(context, params):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = types.Tool(name="where", input_schema={"type": "object"}, output_schema=schema)
    return types.ListToolsResult(tools=[tool])

async def call_tool(context, params):
    text = os.getcwd() + " " + os.environ.get("NAMED", "-") + " " + os.environ.get("SECRET", "-")
    content = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structured_content={"n": "no number"})

async def main():
    server = Server("s", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""


@attrs.frozen
class Program:
    """A server that is a program."""

    folder: str
    env: dict[str, str]
    url: None = None
    headers: dict[str, str] = attrs.field(factory=dict)


async def _ignore(message: object) -> None:
    del message


def test_a_program_gets_what_is_named_and_its_result_is_taken_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It starts in its folder, with its own variables; a result that does not fit its schema comes through."""
    script = tmp_path / "server.py"
    script.write_text(SERVER, encoding="utf-8")
    monkeypatch.setenv("SECRET", "hidden")
    server = Program(str(tmp_path), {"NAMED": "given"})

    async def call() -> str:
        async with contextlib.AsyncExitStack() as stack:
            words = (sys.executable, str(script))
            made = await new_client(stack, server, words, errlog=sys.__stderr__, heard=_ignore, report=print)
            client: Client = await stack.enter_async_context(made)
            ignore_schemas(client)
            await client.list_tools()
            result = await client.call_tool("where", {})
            return str(result.content[0].text)  # type: ignore[union-attr]  # what the server says is a text

    assert asyncio.run(call()) == f"{tmp_path} given -"
