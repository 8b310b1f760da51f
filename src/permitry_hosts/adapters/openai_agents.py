"""For the OpenAI Agents SDK: a guard around function tools and those of MCP servers, its approvals for questions."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import attrs
from agents import Agent, FunctionTool, RunContextWrapper, RunState
from agents.items import ToolApprovalItem
from agents.mcp import MCPServer, MCPUtil
from agents.tool_context import ToolContext

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Cause, Permit, Refusal
from permitry_hosts.adapters._outcomes import run_guarded, settle

__all__ = ["CAPABILITIES", "answer_all", "guarded", "guarded_server"]

CAPABILITIES = Capabilities(asks="suspend", outlives=True, in_parallel=True, repeats_ids=False)

_UNANSWERED = Refusal(
    "The call needs the user's confirmation, and got none; it did not run. Make it again if you need it.",
    Cause.UNANSWERED,
)


def guarded(tool: FunctionTool, guard: Guard, *, server: str | None = None) -> FunctionTool:
    """Return the tool as one that runs only where the guard permits its call; `server` is that of an MCP tool.

    A question is an approval of the SDK: answer it with `answer_all`. After `RunState.approve` alone, a call that the
    rules ask about does not run: the SDK does not say whether a human was asked about this very call.
    """
    own = _Guarded(tool, guard, server)
    return dataclasses.replace(tool, needs_approval=own.needs_approval, on_invoke_tool=own)


async def guarded_server(
    server: MCPServer, guard: Guard, agent: Agent[Any], *, name: str | None = None
) -> list[FunctionTool]:
    """Return the tools that a connected server has now, with the guard around them, for the `tools` of the agent.

    Rules know them as `mcp:name/tool`, by the server's own name if none is given. Do not hand the server to the agent
    as well.
    """
    tools = await MCPUtil.get_function_tools(server, False, RunContextWrapper(None), agent)
    return [guarded(tool, guard, server=name or server.name) for tool in tools if isinstance(tool, FunctionTool)]


def answer_all(state: RunState[Any], answer: Callable[[ToolConfirmationRequest], ToolConfirmationResponse]) -> None:
    """Put each question about a guarded tool to `answer`, and the answers into the guard and the state.

    Go on with the state in the same process: where a human has edited a call, the SDK does not know of that.
    """
    for item in state.get_interruptions():
        own = _guard_of(item)
        outcome = own and own.answered(item, answer)
        if isinstance(outcome, Permit):
            state.approve(item)
        elif isinstance(outcome, Refusal):
            state.reject(item, rejection_message=outcome.text)


# As a class, so that it can be found again from an approval of the SDK, with the guard and the server's name.
@attrs.frozen(eq=False)
class _Guarded:
    _tool: FunctionTool
    _guard: Guard
    _server: str | None

    def check(self, arguments: dict[str, Any] | str, call_id: str, *, asked: bool = False) -> Permit | Refusal | Ask:
        call = self._guard.call(self._tool.name, arguments, call_id=call_id, server=self._server)
        return settle(self._guard.check(call, asked=asked))

    async def needs_approval(self, context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
        if isinstance(self.check(arguments, call_id), Ask):
            return True
        own = self._tool.needs_approval
        return own if isinstance(own, bool) else bool(await own(context, arguments, call_id))

    async def __call__(self, context: ToolContext[Any], text: str) -> Any:  # noqa: ANN401 -- what the tool gives
        outcome = self.check(text, context.tool_call_id)
        with run_guarded(_UNANSWERED if isinstance(outcome, Ask) else outcome) as run:
            if isinstance(run, Refusal):
                return run.text
            result = await self._tool.on_invoke_tool(context, json.dumps(run.arguments))
            run.done(ok=True, result=result)
            return result

    def answered(
        self, item: ToolApprovalItem, answer: Callable[[ToolConfirmationRequest], ToolConfirmationResponse]
    ) -> Permit | Refusal:
        outcome = self.check(item.arguments or "", item.call_id or "", asked=True)
        return self._guard.answer(outcome.id, answer(outcome.request)) if isinstance(outcome, Ask) else outcome


def _guard_of(item: ToolApprovalItem) -> _Guarded | None:
    tools = (tool for tool in item.agent.tools if isinstance(tool, FunctionTool) and tool.name == item.tool_name)
    return next((tool.on_invoke_tool for tool in tools if isinstance(tool.on_invoke_tool, _Guarded)), None)
