"""The recipe for a server of the MCP SDK."""

import asyncio
import json
from collections.abc import Sequence

import attrs
import pytest

from permitry.audit.record import MemoryRecorder
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("mcp.server.mcpserver", reason="an environment of its own: tests/adapters/run_all.sh")

from mcp import Client
from mcp.server.mcpserver import MCPServer
from tests.adapters.recipe import Foreign, cases, check_that_nothing_runs_by_mistake, recipe
from tests.tables import for_each

SECTION = "MCP SDK"
CAPABILITIES = Capabilities(asks="inline", in_parallel=True, sees_text=False)
# A client cannot send it.
CASES = cases(CAPABILITIES, "broken JSON does not run")
RECIPE = recipe(SECTION)


@attrs.define
class _Host:
    """A server whose client makes all calls at the same time, in an era of the protocol."""

    mode: str = "auto"
    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        """Make the calls."""
        return Progress(tuple(asyncio.run(self._run(guard, tools, calls))))

    async def _run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> list[str]:
        server = MCPServer("files", middleware=[RECIPE.guarding(guard)])
        server.add_tool(tools.look)
        server.add_tool(tools.write)
        async with Client(server, mode=self.mode) as client:
            made = [client.call_tool(each.tool, json.loads(each.json)) for each in calls]
            results: Foreign = await asyncio.gather(*made, return_exceptions=True)
        return [str(each) if isinstance(each, Exception) else each.content[0].text for each in results]

    resume: Foreign = None


@for_each("mode", ["legacy", "auto"])
@for_each("case", CASES, ids=str)
def test_the_server_keeps_what_the_guard_says(case: conformance.Case, mode: str) -> None:
    """In both eras of the protocol."""
    conformance.check(case, _Host(mode))


def test_nothing_runs_by_mistake() -> None:
    """The client is shown an error."""
    check_that_nothing_runs_by_mistake(_Host())


class _Failing(Tools):
    def look(self, path: str) -> str:
        """Show a file."""
        raise KeyError(path)


def test_a_tool_that_fails_is_recorded_as_such() -> None:
    """The framework makes a result of its error."""
    recorder = MemoryRecorder()
    _Host().run(Guard(conformance.CASES[0].policy, recorder=recorder), _Failing(), [Made("look", "a")])
    assert [each["outcome"] for each in recorder.records if each["event"] == "finished"] == ["failed"]
