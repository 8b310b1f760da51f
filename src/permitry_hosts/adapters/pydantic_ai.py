"""A capability for the agents of Pydantic AI: a guard in front of their tools, its deferred calls for questions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic_ai import (
    ApprovalRequired,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    ToolApproved,
    ToolDenied,
)
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from pydantic_core import PydanticSerializationError, to_jsonable_python

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Permit, Refusal
from permitry_hosts.adapters._outcomes import APPROVED, run_guarded, settle

__all__ = ["CAPABILITIES", "GuardCapability", "answered"]

CAPABILITIES = Capabilities(asks="suspend", outlives=True, in_parallel=True, sees_text=False, repeats_ids=False)


@dataclass
class GuardCapability(AbstractCapability[Any]):
    """Lets a tool run only where the guard permits its call. Put it last, so that nothing changes a call behind it.

    A question ends the run with `DeferredToolRequests`, whose metadata is `Ask.as_json()`. Functions for the output are
    not guarded, nor what the agent does not run itself: external tools, and those of the provider.
    """

    guard: Guard

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        """Return the tools with the guard around them, behind all hooks, which may change arguments."""
        return _Guarded(toolset, self.guard)


@dataclass
class _Guarded(WrapperToolset[Any]):
    guard: Guard

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:  # noqa: ANN401 -- what the tool gives
        given = _as_json(tool_args)
        with run_guarded(self._settle(self.guard.call(name, given, call_id=ctx.tool_call_id), ctx)) as run:
            if isinstance(run, Refusal) and run.is_error:
                raise ToolFailed(run.text)
            if isinstance(run, Refusal):
                return run.text
            # Dates and models reach the tool as the framework has read them, unless a human has edited the call.
            permitted = tool_args if run.arguments == given else run.arguments
            result = await self.wrapped.call_tool(name, permitted, ctx, tool)
            run.done(ok=True, result=result)
            return result

    def _settle(self, call: ToolCall | Refusal, ctx: RunContext[Any]) -> Permit | Refusal:
        outcome = settle(self.guard.check(call, asked=ctx.tool_call_approved))
        if not isinstance(outcome, Ask):
            return outcome
        if ctx.tool_call_approved:
            return self.guard.answer(outcome.id, APPROVED)
        raise ApprovalRequired(outcome.as_json())


def answered(
    guard: Guard,
    requests: DeferredToolRequests,
    answer: Callable[[ToolConfirmationRequest], ToolConfirmationResponse],
) -> DeferredToolResults:
    """Return what the run goes on with: each question is put to `answer`, and its answer is recorded.

    The framework's own `ToolApproved` and `ToolDenied` do as well, but a `ToolDenied` does not reach the record.
    """
    results = DeferredToolResults()
    for part in requests.approvals:
        asked = requests.metadata.get(part.tool_call_id, {})
        # A tool that is declared to need approval is asked about before its arguments are read.
        arguments = asked["arguments"] if "pending_id" in asked else part.args_as_dict()
        outcome = settle(guard.check(guard.call(part.tool_name, arguments, call_id=part.tool_call_id), asked=True))
        if isinstance(outcome, Ask):
            outcome = guard.answer(outcome.id, answer(outcome.request))
        results.approvals[part.tool_call_id] = (
            ToolDenied(outcome.text)
            if isinstance(outcome, Refusal)
            else ToolApproved(override_args=None if outcome.call.arguments == arguments else outcome.call.to_dict())
        )
    return results


def _as_json(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments as rules see them; what cannot be JSON stays as it is, and is refused."""
    try:
        return dict(to_jsonable_python(arguments))
    except PydanticSerializationError:
        return arguments
