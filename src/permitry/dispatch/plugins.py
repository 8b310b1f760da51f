"""The two functions of a plugin registry: the tools for a request, and the call of one."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from permitry.core.call import ToolCall
from permitry.core.json_values import mutable
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.events import ToolEventKind
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.schema import exported, is_exportable
from permitry.dispatch.scope import Caller, KindApart, Listener
from permitry.errors import CallError

__all__ = ["execute_tool", "get_tools"]

_SHAPE = "openai-chat"


class ToolCaller(Protocol):
    """What is used of a `ToolHandler`: its tools, and the way of each call of one."""

    registry: ToolRegistry

    def visible_tools(self) -> tuple[ToolSpec, ...]:
        """Return the specs of the tools of which some call could run now."""

    async def ahandle(self, call: ToolCall, scope: Caller | None = None) -> ToolResult:
        """Decide a call, ask if need be, run it if it is permitted, and return its result."""


def get_tools(ctx: ToolCaller) -> list[dict[str, Any]]:
    """Return the OpenAI definitions of the tools that are enabled now, and could run."""
    return [exported(spec, _SHAPE) for spec in ctx.visible_tools() if is_exportable(spec, _SHAPE)]


async def execute_tool(
    name: str, args: Mapping[str, Any], ctx: ToolCaller, on_status: Callable[[str], object] | None = None
) -> str | dict[str, Any]:
    """Decide a call, ask if need be, run it if permitted, and return its result, or why it did not run.

    `on_status` takes the lines that the tool has for the user, and may be async; other events go to
    `ctx.registry.on_event`. Raises: `FatalToolError` from the tool; what the recorder raises.
    """
    try:
        call = ToolCall(name, args)
    except CallError as error:
        return f"The call was not understood: {error}."
    listener = None
    if on_status is not None:
        sink = KindApart(ToolEventKind.STATUS, lambda event: on_status(event.text), ctx.registry.on_event)
        listener = Listener(sink)
    result = await ctx.ahandle(call, listener)
    return result.text if result.structured is None else dict(mutable(result.structured))
