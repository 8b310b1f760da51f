"""What a client of another version of the protocol gets."""

from pathlib import Path
from typing import Any, cast

import mcp_types as types
from mcp import Client
from tests.tables import for_each
from tests.unit.permitry_hosts.gateway.conftest import Fake, Scene, text_of, tool

from permitry_hosts.gateway.words import result_for, tool_for

OLD, NEW = "2025-11-25", "2026-07-28"
ODD = types.Tool(name="odd", input_schema={"type": "object", "required": "path"})


def test_a_tool_that_has_no_form_there_hides_no_other(tmp_path: Path) -> None:
    """Not of its server, nor of others; a schema of results that has none is left out."""
    rows = tool("look", output_schema={"type": "array"})
    scene = Scene(tmp_path, fakes=(Fake(name="a"), Fake(name="b", tools=[rows, ODD])))
    tools = {each.name: each for each in scene.run(lambda client: client.list_tools()).tools}
    assert tools.keys() == {"a__look", "a__write", "b__look"}
    assert tools["b__look"].output_schema is None
    assert tool_for(NEW, ODD) == ODD
    assert tool_for(NEW, rows) == rows


@for_each("data", [[1], "a", 5])
def test_a_result_that_has_no_form_there_is_still_one(tmp_path: Path, data: Any) -> None:  # noqa: ANN401 -- JSON
    """The call has run; told that it failed, a model would make it again."""
    scene = Scene(tmp_path, fakes=(Fake(data=data),))

    async def work(client: Client) -> types.CallToolResult:
        return await client.call_tool("look", {"path": "a"})

    result = scene.run(work)
    assert (result.is_error, result.structured_content) == (False, None)
    assert text_of(result) == "did it with {'path': 'a'}"


def test_a_result_that_cannot_be_given_at_all_says_that_the_call_has_run() -> None:
    """Such as one with a block that has no form."""
    broken = types.CallToolResult(content=[cast("Any", types.TextContent).model_construct(type="text", text=None)])
    assert text_of(result_for(OLD, broken)).startswith("The call has run")
    good = types.CallToolResult(content=[], structured_content={"a": 1})
    assert result_for(OLD, good) is good
