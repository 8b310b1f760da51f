"""The connection to a server: real ones, started and reached as the gateway does."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs
import mcp_types as types
import pytest
import uvicorn
from tests.tables import for_each
from tests.unit.permitry_hosts.gateway.conftest import Fake, InProcess, tool

from permitry.errors import AdapterError, ToolError
from permitry_hosts.gateway.upstream import Server, Upstream

PROGRAM = """
import os, sys, time
from mcp.server import MCPServer

server = MCPServer("demo")

@server.tool()
def add(a: int, b: int) -> int:
    return a + b

@server.tool()
def leave() -> str:
    os._exit(3)

@server.tool()
def shout() -> str:
    print("not the protocol", flush=True)
    return "shouted"

@server.tool()
def much(size: int) -> str:
    return "x" * size

@server.tool()
def environment() -> str:
    return ",".join(sorted(os.environ)) + " " + os.getcwd()

server.run()
"""


BAD_TOOL = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    tools = [{"name": "\\x1b[2Jbad", "inputSchema": "no"}, {"name": "look", "inputSchema": {"type": "object"}}]
    results = {
        "initialize": {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}
        },
        "tools/list": {"tools": tools},
        "tools/call": {"content": [{"type": "text", "text": "looked"}]},
    }
    if "id" not in asked:
        continue
    found = {"result": results[asked["method"]]} if asked["method"] in results else {
        "error": {"code": -32601, "message": "none"}
    }
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **found}), flush=True)
"""


@pytest.fixture
def server(tmp_path: Path, warm_python: str) -> Server:
    """Return a server that is a program."""
    program = tmp_path / "server.py"
    program.write_text(PROGRAM, encoding="utf-8")
    return Server("demo", (warm_python, str(program)), env={"EXTRA": "1"}, folder=str(tmp_path), timeout=10.0)


def run(upstream: Upstream, work: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 -- what the work gives
    """Return what `work` gives once the server is connected."""

    async def main() -> object:
        async with contextlib.AsyncExitStack() as stack:
            await upstream.connect(stack)
            return await work()

    return asyncio.run(main())


def text(result: types.CallToolResult) -> str:
    """Return the text of a result."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def test_a_program_is_started_and_called(server: Server) -> None:
    """Its tools are listed; it gets no environment but what is named, and starts in its folder."""
    upstream = Upstream(server)

    async def work() -> list[str]:
        return [text(await upstream.call("add", {"a": 1, "b": 2})), text(await upstream.call("environment", {}))]

    total, environment = run(upstream, work)
    assert list(upstream.definitions) == ["add", "leave", "shout", "much", "environment"]
    assert total == "3"
    assert "EXTRA" in environment
    assert "PYTEST_CURRENT_TEST" not in environment
    assert environment.endswith(str(server.folder))


def test_a_server_that_ends_in_a_call_is_started_again(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """By the next list, which each call begins with; a bounded number of times."""
    upstream = Upstream(server)

    async def work() -> list[str]:
        found = []
        for _ in range(5):
            with pytest.raises(ToolError, match="The MCP server `demo` has ended"):
                await upstream.call("leave", {})
            await upstream.refresh()
            found.append(text(await upstream.call("add", {"a": 1, "b": 2})))
        for _ in range(2):
            with pytest.raises(ToolError, match="The MCP server `demo` has ended"):
                await upstream.call("leave", {})
        with pytest.raises(ToolError, match="`demo` has ended"):
            await upstream.refresh()
        return found

    assert run(upstream, work) == ["3"] * 5
    assert caplog.text.count("has ended, and is started again") == 5


def test_a_tool_that_the_protocol_refuses_is_named(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """The server starts, and its other tools are there."""
    program = Path(server.command[1])
    program.write_text(BAD_TOOL, encoding="utf-8")
    upstream = Upstream(server)
    assert text(run(upstream, lambda: upstream.call("look", {}))) == "looked"
    assert list(upstream.definitions) == ["look"]
    assert "`\\u001b[2Jbad` of `demo` is hidden" in caplog.text


def test_what_a_server_prints_reaches_no_client(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    """It is not of the protocol."""
    upstream = Upstream(server)
    assert text(run(upstream, lambda: upstream.call("shout", {}))) == "shouted"
    assert "not the protocol" not in capfd.readouterr().out


def test_a_byte_that_is_not_utf_8_ends_nothing(server: Server) -> None:
    """It is part of a line that is not of the protocol."""
    program = Path(server.command[1])
    program.write_text(PROGRAM.replace("server.run()", 'os.write(1, b"caf\\xe9\\n")\nserver.run()'), encoding="utf-8")
    upstream = Upstream(server)
    assert text(run(upstream, lambda: upstream.call("add", {"a": 1, "b": 2}))) == "3"


def test_a_result_that_is_too_long_is_no_answer(server: Server) -> None:
    """It would hold up all servers; other calls of the same one go on."""
    upstream = Upstream(attrs.evolve(server, timeout=500.0))

    async def work() -> list[str]:
        calls = [upstream.call("much", {"size": 17_000_000}), upstream.call("add", {"a": 1, "b": 2})]
        found = await asyncio.gather(*calls, return_exceptions=True)
        return [str(each) if isinstance(each, BaseException) else text(each) for each in found]

    assert run(upstream, work) == ["The MCP server `demo` failed: its answer is longer than 16 MiB.", "3"]


@contextlib.asynccontextmanager
async def reachable(fake: Fake, port: int = 0) -> AsyncIterator[int]:
    """Serve a fake server on a port of this machine, until the block ends; it knows no sessions of an earlier one."""
    app = fake.server().streamable_http_app()
    served = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", port, log_level="error", timeout_graceful_shutdown=0))
    serving = asyncio.create_task(served.serve())
    while not served.started:  # noqa: ASYNC110 -- uvicorn has no event for it
        await asyncio.sleep(0.01)
    try:
        yield served.servers[0].sockets[0].getsockname()[1]
    finally:
        served.should_exit = True
        await serving


def test_a_server_that_cannot_be_reached_ends_nothing_else() -> None:
    """Its calls fail, at once; when it is there again, so are its tools."""
    fake = Fake()

    async def main() -> list[str]:
        async with contextlib.AsyncExitStack() as stack:
            async with reachable(fake) as port:
                upstream = Upstream(Server("fs", url=f"http://127.0.0.1:{port}/mcp", timeout=5.0))
                await upstream.connect(stack)
                seen = [text(await upstream.call("look", {}))]
            for request in (upstream.call("look", {}), upstream.refresh()):
                with pytest.raises(ToolError, match="The MCP server `fs`"):
                    await request
            fake.tools = [tool("look")]
            async with reachable(fake, port):
                await upstream.refresh()
                seen += [*upstream.definitions, text(await upstream.call("look", {}))]
                await upstream._close()  # noqa: SLF001 -- before the server that it holds open
            return seen

    assert asyncio.run(main()) == ["did it with {}", "look", "did it with {}"]


@pytest.mark.parametrize(
    "command",
    [("/nowhere/program",), (sys.executable, "-c", "raise SystemExit(3)"), (sys.executable, "-c", "print(1)")],
)
def test_a_server_that_does_not_start_is_an_error(command: tuple[str, ...], caplog: pytest.LogCaptureFixture) -> None:
    """The gateway does not serve without it, and says so once."""
    with pytest.raises(AdapterError, match=f"the MCP server `a`, started by `{command[0]}`, cannot be used"):
        run(Upstream(Server("a", command, start_timeout=5.0)), lambda: asyncio.sleep(0))
    assert "has ended" not in caplog.text


def test_a_server_that_is_not_ready_in_time_is_an_error() -> None:
    """It is not waited for for ever."""
    slow = Server("a", (sys.executable, "-c", "import time; time.sleep(20)"), start_timeout=0.3)
    with pytest.raises(AdapterError, match="the MCP server `a`"):
        run(Upstream(slow), lambda: asyncio.sleep(0))


def test_nothing_is_called_before_it_is_connected() -> None:
    """Nor listed."""
    upstream = Upstream(Server("a", ("b",)))
    with pytest.raises(ToolError, match="`a` is not connected"):
        asyncio.run(upstream.call("look", {}))
    with pytest.raises(ToolError, match="`a` is not connected"):
        asyncio.run(upstream.refresh())


def test_a_list_is_fresh_for_a_while() -> None:
    """Unless the server reports a change."""
    fake = Fake()
    upstream = InProcess(Server("fs", ("none",)), fake=fake)

    async def work() -> list[list[str]]:
        seen = []
        fake.tools = [tool("look")]
        for changed in (None, types.ToolListChangedNotification()):
            await upstream._heard(changed)  # noqa: SLF001 -- as the SDK calls it
            await upstream.refresh(within=60.0)
            seen.append(list(upstream.definitions))
        fake.tools = []
        await upstream.refresh()
        return [*seen, list(upstream.definitions)]

    assert run(upstream, work) == [["look", "write", "drop"], ["look"], []]


def test_what_a_server_adds_for_its_client_is_not_passed_on() -> None:
    """At no depth; what a tool returns as data is its own."""
    icons = [types.Icon(src="http://127.0.0.1/x")]
    inner = types.TextResourceContents(uri="a:b", text="c", meta={"d": 1})
    fake = Fake()
    fake.content = [
        types.TextContent(text="t", meta={"m": 1}),
        types.ResourceLink(uri="a:b", name="x", meta={"ui": 1}, icons=icons),
        types.EmbeddedResource(resource=inner, meta={"n": 1}),
    ]
    fake.data = {"icons": 1, "_meta": 2}
    upstream = InProcess(Server("fs", ("none",)), fake=fake)
    result = run(upstream, lambda: upstream.call("look", {}))
    assert result.structured_content == {"icons": 1, "_meta": 2}
    assert [type(block) for block in result.content] == [type(block) for block in fake.content]
    text, link, embedded = result.content
    assert (text.text, text.meta, link.meta, link.icons) == ("t", None, None, None)
    assert (embedded.meta, embedded.resource.meta, embedded.resource.text) == (None, None, "c")


def test_those_that_wait_for_a_list_share_it() -> None:
    """A server whose list hangs is waited for once, however many calls there are; then it is asked again."""
    fake = Fake()
    upstream = InProcess(Server("fs", ("none",), timeout=0.2), fake=fake)

    async def work() -> tuple[int, int, int]:
        lists: list[int] = []

        async def hang() -> None:
            lists.append(1)
            await asyncio.Event().wait()

        fake.on_list = hang
        found = await asyncio.gather(*(upstream.refresh() for _ in range(5)), return_exceptions=True)
        once = len(lists)
        with pytest.raises(ToolError):
            await upstream.refresh(within=60.0)
        return once, len(lists), sum(isinstance(each, ToolError) for each in found)

    assert run(upstream, work) == (1, 2, 5)


@for_each("names", [["look", *(f"x{number}" for number in range(1_999)), "look"], None])
def test_half_a_list_is_none(names: list[str] | None) -> None:
    """What is listed twice would be in the other half; one without an end is not read to its end."""
    fake = Fake()
    upstream = InProcess(Server("fs", ("none",), timeout=5.0), fake=fake)

    async def work() -> None:
        fake.tools = [tool(name) for name in names or ["look"]]
        fake.next_cursor = None if names else "same"
        with pytest.raises(ToolError, match="`fs` lists more than 2,000 items"):
            await upstream.refresh()

    run(upstream, work)
