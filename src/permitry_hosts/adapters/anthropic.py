"""For the tool runner of the Anthropic SDK: a guard around its tools, which waits for the answer to a question."""

import copy
import inspect
from typing import Any

from anthropic.lib.tools import (
    BetaAsyncBuiltinFunctionTool,
    BetaAsyncFunctionTool,
    BetaBuiltinFunctionTool,
    BetaFunctionTool,
    ToolError,
)

from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.outcome import Refusal
from permitry_hosts.adapters._outcomes import run_guarded, settle

__all__ = ["CAPABILITIES", "guarded"]

CAPABILITIES = Capabilities(asks="inline", sees_text=False)

_KINDS = (BetaAsyncBuiltinFunctionTool, BetaAsyncFunctionTool, BetaBuiltinFunctionTool, BetaFunctionTool)


def guarded(tool: Any, guard: Guard, *, server: str | None = None) -> Any:  # noqa: ANN401 -- a tool of the SDK, of any kind
    """Return a copy of the tool that runs only where the guard permits its call; `server` is that of an MCP tool.

    Questions go to the channel of the guard. Tools that run at the provider cannot be guarded, nor can toolsets.

    Raises: `TypeError` for anything else than a tool that the runner calls.
    """
    if not isinstance(tool, _KINDS):
        raise TypeError(f"a {type(tool).__name__} cannot be guarded: the runner does not use its `call`")
    name, work, copied = tool.name, tool.call, copy.copy(tool)

    def call(input: Any) -> Any:  # noqa: A002, ANN401 -- as the SDK names it
        with run_guarded(settle(guard.inline(guard.call(name, input, server=server)))) as run:
            if isinstance(run, Refusal):
                return _show(run)
            result = work(run.arguments)
            run.done(ok=True, result=result)
            return result

    async def acall(input: Any) -> Any:  # noqa: A002, ANN401 -- as the SDK names it
        with run_guarded(settle(await guard.ainline(guard.call(name, input, server=server)))) as run:
            if isinstance(run, Refusal):
                return _show(run)
            result = await work(run.arguments)
            run.done(ok=True, result=result)
            return result

    copied.call = acall if inspect.iscoroutinefunction(work) else call
    return copied


def _show(refusal: Refusal) -> str:
    """Return what a human has answered in place of the tool.

    Raises: `ToolError` with the text of any other refusal.
    """
    if refusal.is_error:
        raise ToolError(refusal.text)
    return refusal.text
