"""The functions of a plugin registry: definitions for a request, and a call by name that the handler decides."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from permitry.channels.channel import CallbackChannel
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import PayloadKind
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.dispatch.discovery import load_plugins
from permitry.dispatch.events import ToolEvent, ToolEventKind, report
from permitry.dispatch.plugin_folder import PluginFolder
from permitry.dispatch.plugins import execute_tool, get_tools
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import FatalToolError
from permitry.guard.session import Session
from permitry.handler import ToolHandler

READS = ToolTraits(read_only=True)


@pytest.fixture
def handler() -> ToolHandler:
    """Return a handler over a tool that reads, one that writes, and one of a kind no chat has."""
    registry = ToolRegistry()
    schema = {"type": "object", "properties": {"for": {"type": "string"}}, "additionalProperties": False}
    registry.tool(name="look", traits=READS)(_look)
    registry.register(ToolSpec("seen", "Look.", parameters=schema, traits=READS), lambda _: "seen")
    registry.register(ToolSpec("write"), lambda _: "written")
    registry.register(ToolSpec("shell", kinds=(PayloadKind.LOCAL_SHELL,)), lambda _: "")
    return ToolHandler(Session(), registry=registry)


def _look(word: str) -> dict[str, str]:
    """Look for a word."""
    report(ToolEventKind.STATUS, f"looking for {word}")
    report(ToolEventKind.PROGRESS, "files", done=1)
    return {"found": word}


def _done(work: Awaitable[object]) -> object:
    async def awaited() -> object:
        return await work

    return asyncio.run(awaited())


def test_tools_come_as_definitions_of_openai(handler: ToolHandler) -> None:
    """A tool that a chat cannot call is left out, and so is one of which no call could run."""
    names = [tool["function"]["name"] for tool in get_tools(handler)]
    assert names == ["look", "seen", "write"]
    assert get_tools(handler)[0]["type"] == "function"
    handler.session.is_plan_mode = True
    assert [tool["function"]["name"] for tool in get_tools(handler)] == ["look", "seen"]


def test_an_object_comes_back_as_an_object_and_text_as_text(handler: ToolHandler) -> None:
    """As the handler of the plugin gave it."""
    assert _done(execute_tool("look", {"word": "Ada"}, handler)) == {"found": "Ada"}
    handler.session.yolo_mode = True
    assert _done(execute_tool("write", {}, handler)) == "written"


def test_a_call_is_decided(handler: ToolHandler) -> None:
    """What may not run comes back as the text for the model, and a human may be asked."""
    unanswered = _done(execute_tool("write", {}, handler))
    assert "did not run" in str(unanswered)
    handler.channel = CallbackChannel(lambda _: ToolConfirmationResponse(approved=True))
    assert _done(execute_tool("write", {}, handler)) == "written"
    handler.session.is_plan_mode = True
    assert "blocked" in str(_done(execute_tool("write", {}, handler)))


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("loook", {}, "There is no tool `loook`. Did you mean `look`?"),
        ("look", {"word": 1}, "`word`"),
        ("seen", {"what": "x"}, "`what` is not an argument of this tool"),
        ("two\nlines", {}, "The call was not understood"),
        ("look", {"word": float("nan")}, "The call was not understood"),
    ],
)
def test_a_call_that_cannot_work_is_answered(
    handler: ToolHandler, name: str, args: dict[str, Any], expected: str
) -> None:
    """In words the model can act on."""
    assert expected in str(_done(execute_tool(name, args, handler)))


def test_status_lines_go_to_the_caller_and_other_events_to_the_registry(handler: ToolHandler) -> None:
    """Each to one place."""
    lines: list[str] = []
    events: list[ToolEvent] = []
    handler.registry.on_event = events.append
    assert _done(execute_tool("look", {"word": "Ada"}, handler, on_status=lines.append)) == {"found": "Ada"}
    assert lines == ["looking for Ada"]
    assert [event.kind.value for event in events] == ["started", "progress", "finished"]


def test_status_lines_may_be_awaited_and_events_may_go_nowhere(handler: ToolHandler) -> None:
    """On the loop of the caller."""
    lines: list[str] = []

    async def on_status(line: str) -> None:
        await asyncio.sleep(0)
        lines.append(line)

    assert _done(execute_tool("look", {"word": "Ada"}, handler, on_status)) == {"found": "Ada"}
    assert lines == ["looking for Ada"]


@pytest.mark.parametrize("on_status", [None, print])
def test_a_tool_that_needs_its_caller_gets_none(
    handler: ToolHandler, on_status: Callable[[str], object] | None
) -> None:
    """Who only listens to the run has given no state of its own."""
    handler.registry.register_call_time(ToolSpec("delegate", traits=READS), lambda _, scope: f"at depth {scope.depth}")
    assert "needs the state of its caller" in str(_done(execute_tool("delegate", {}, handler, on_status)))


def test_a_fatal_error_ends_the_run(handler: ToolHandler) -> None:
    """It is for the host, not for the model."""

    def fail(_: dict[str, Any]) -> str:
        raise FatalToolError("gone")

    handler.registry.register(ToolSpec("fatal", traits=READS), fail)
    with pytest.raises(FatalToolError, match="gone"):
        _done(execute_tool("fatal", {}, handler))


def test_a_plugin_from_a_file_is_called_so(tmp_path: Path) -> None:
    """Its `enabled` counts when it is listed and when it is called."""
    (tmp_path / "hello.py").write_text(
        "from permitry.dispatch.discovery import ToolPlugin\n"
        "from permitry.core.spec import ToolTraits\n"
        "async def handler(args, ctx):\n"
        "    ctx.on_status('greeting')\n"
        "    return {'text': 'Hello, ' + args['name']}\n"
        "plugin = ToolPlugin({'name': 'hello'}, handler, lambda ctx: ctx.services['on'] and not ctx.auth.yolo_mode,"
        " traits=ToolTraits(read_only=True))\n"
    )
    handler = ToolHandler(Session())
    load_plugins(handler.registry, PluginFolder.read(tmp_path), services={"on": True})
    lines: list[str] = []
    assert [tool["function"]["name"] for tool in get_tools(handler)] == ["hello"]
    assert _done(execute_tool("hello", {"name": "Ada"}, handler, lines.append)) == {"text": "Hello, Ada"}
    assert lines == ["greeting"]
    handler.session.yolo_mode = True
    assert get_tools(handler) == []
    assert "There is no tool `hello`" in str(_done(execute_tool("hello", {"name": "Ada"}, handler)))
