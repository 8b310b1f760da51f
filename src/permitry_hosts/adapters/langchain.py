"""Middleware for the agents of LangChain: a guard in front of their tools, LangGraph's own interrupts for questions."""

from collections.abc import Awaitable, Callable
from itertools import takewhile
from typing import Annotated, Any

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import PrivateStateAttr, ToolCallRequest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from permitry.core.call import ToolCall
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.guards import Guards
from permitry.guard.outcome import Ask, Permit, Refusal
from permitry_hosts.adapters._outcomes import CHANGED, Run, answer_of, run_guarded, settle

__all__ = ["CAPABILITIES", "GuardMiddleware", "GuardState"]

CAPABILITIES = Capabilities(asks="suspend", outlives=True, in_parallel=True, sees_text=False)

_ENDS = "permitry: the user ends the session"


class GuardState(AgentState[Any]):
    """What the graph keeps: the calls of the last message that a human is asked about."""

    permitry_asked: Annotated[list[str], PrivateStateAttr]


class GuardMiddleware(AgentMiddleware[GuardState, Any, Any]):
    """Lets a tool run only where the guard permits its call. Put it last, so that nothing changes a call behind it.

    Of `Guards`, that of the graph's `thread_id` counts. A question is an interrupt, whose value is `Ask.as_json()`.
    """

    state_schema = GuardState

    def __init__(self, guard: Guard | Guards) -> None:
        super().__init__()
        self._guard = guard

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: GuardState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """End the run where the user wants that."""
        del runtime
        results = takewhile(lambda each: isinstance(each, ToolMessage), reversed(state["messages"]))
        return {"jump_to": "end"} if any(each.artifact == _ENDS for each in results) else None

    def after_model(self, state: GuardState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Decide the calls of the message, and keep in the graph which are asked about, before any of them runs."""
        # INVARIANT: law 6. What an interrupt within the tool's node would ask, another policy need not ask on resume.
        del runtime
        guard = self._of_thread()
        message = next((each for each in reversed(state["messages"]) if isinstance(each, AIMessage)), None)
        calls = [_call(guard, made) for made in message.tool_calls] if message else []
        asked = [outcome for outcome in (settle(guard.check(call)) for call in calls) if isinstance(outcome, Ask)]
        return {"permitry_asked": [_key(ask.call) for ask in asked]}

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Run the tool with what was permitted, or show the model why it does not run."""
        with run_guarded(self._settle(request)) as run:
            if isinstance(run, Refusal):
                return _show(run, request)
            return _end(run, handler(_with_permit(request, run)))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """Do what `wrap_tool_call` does."""
        with run_guarded(self._settle(request)) as run:
            if isinstance(run, Refusal):
                return _show(run, request)
            return _end(run, await handler(_with_permit(request, run)))

    def _settle(self, request: ToolCallRequest) -> Permit | Refusal:
        guard = self._of_thread()
        call = _call(guard, request.tool_call)
        is_asked = isinstance(call, ToolCall) and _key(call) in (request.state.get("permitry_asked") or ())
        outcome = settle(guard.check(call, asked=is_asked))
        if not isinstance(outcome, Ask):
            return outcome
        if not is_asked:
            # The graph does not know of the question, so that a no could be forgotten.
            return CHANGED
        return guard.answer(outcome.id, answer_of(interrupt(outcome.as_json())))

    def _of_thread(self) -> Guard:
        if isinstance(self._guard, Guards):
            return self._guard[get_config().get("configurable", {}).get("thread_id")]
        return self._guard


def _call(guard: Guard, made: Any) -> ToolCall | Refusal:  # noqa: ANN401 -- LangChain's ToolCall
    return guard.call(made["name"], made["args"], call_id=made["id"])


def _key(call: ToolCall) -> str:
    return f"{call.call_id}:{call.digest}"


def _with_permit(request: ToolCallRequest, run: Run) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": run.arguments})


def _show(refusal: Refusal, request: ToolCallRequest) -> ToolMessage:
    made = request.tool_call
    artifact, status = _ENDS if refusal.ends_session else None, "error" if refusal.is_error else "success"
    return ToolMessage(refusal.text, tool_call_id=made["id"], name=made["name"], status=status, artifact=artifact)


def _end(run: Run, result: ToolMessage | Command[Any]) -> ToolMessage | Command[Any]:
    is_message = isinstance(result, ToolMessage)
    run.done(ok=not (is_message and result.status == "error"), result=result.content if is_message else None)
    return result
