"""Middleware for the servers of FastMCP: a guard in front of their tools, elicitation for questions."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from fastmcp.exceptions import ToolError
from fastmcp.server.context import Context
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import InputRequiredToolResult, Tool, ToolResult
from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListToolsRequest,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.json_values import parse_json
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.errors import CallError
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Permit, Refusal
from permitry_hosts.adapters._outcomes import CHANGED, run_guarded, settle

__all__ = ["CAPABILITIES", "GuardMiddleware"]

CAPABILITIES = Capabilities(asks="inline", in_parallel=True, sees_text=False)

_KEY = "permitry"
_FORM = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean", "title": "Allow this call"},
        "instructions": {"type": "string", "title": "What should be done instead"},
        # A form has no field for an object.
        "arguments": {"type": "string", "title": "Other arguments to run it with, as JSON"},
        "result": {"type": "string", "title": "What the call returns, in place of the tool"},
    },
    "required": ["approved"],
}
_NO_ANSWER = ToolConfirmationResponse(approved=False, instructions="(The client could not ask its user.)")
_BAD_EDIT = ToolConfirmationResponse(approved=False, instructions="(The edited arguments could not be read.)")
_TWO_ANSWERS = ToolConfirmationResponse(approved=False, instructions="(The user gave two answers at once.)")


class GuardMiddleware(Middleware):
    """Lets a tool run only where the guard permits its call, and lists what some call could run. Put it last.

    `guard` may be a function that gives the guard of a request's session. Rules know the tools as `mcp:server/tool`,
    or by their own names if no `server` is given. Of the hints of a tool only those that make it worse count.
    """

    def __init__(self, guard: Guard | Callable[[Context], Guard], *, server: str | None = None) -> None:
        self._guard = guard
        self._server = server

    async def on_list_tools(
        self, context: MiddlewareContext[ListToolsRequest], call_next: CallNext[ListToolsRequest, Sequence[Tool]]
    ) -> Sequence[Tool]:
        """Leave out the tools that are blocked whatever their arguments."""
        guard = self._of(context)
        return [tool for tool in await call_next(context) if self._could_run(guard, self._spec(tool))]

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Run the tool with what was permitted, ask the client's user, or show the model why it does not run."""
        made, guard, host = context.message, self._of(context), _host(context)
        # A name that no list shows may still lead to a tool, which rules would not know by it.
        tool = await host.fastmcp.get_tool(made.name)
        spec = None if tool is None or tool.name != made.name else self._spec(tool)
        if spec is None or not self._could_run(guard, spec):
            raise ToolError(f"Unknown tool: {made.name!r}")
        call = guard.call(made.name, made.arguments or {}, server=self._server)
        outcome = _answer(guard, call, spec, made) if _is_answer(made) else settle(guard.check(call, spec))
        if isinstance(outcome, Ask):
            if _is_modern(host):
                return InputRequiredToolResult(_question(outcome))
            outcome = guard.answer(outcome.id, await _elicit(host, outcome))
        with run_guarded(outcome) as run:
            if isinstance(run, Refusal):
                # Also what a human answers in place of the tool: a text does not fit the output schema of most tools.
                raise ToolError(run.text)
            message = made.model_copy(update={"arguments": run.arguments})
            result = await call_next(context.copy(message=message))
            # What an extension gives in place of a result, such as a task that has begun, does not say.
            run.done(ok=not getattr(result, "is_error", False), result=getattr(result, "structured_content", None))
            return result

    def _of(self, context: MiddlewareContext[Any]) -> Guard:
        return self._guard(_host(context)) if callable(self._guard) else self._guard

    def _could_run(self, guard: Guard, spec: ToolSpec) -> bool:
        return guard.policy.could_run(spec, AuthContext.from_state(guard.session))

    def _spec(self, tool: Tool) -> ToolSpec:
        hints = tool.annotations
        traits = ToolTraits(
            read_only=False if hints and hints.read_only_hint is False else None,
            destructive=True if hints and hints.destructive_hint is True else None,
            idempotent=False if hints and hints.idempotent_hint is False else None,
            open_world=True if hints and hints.open_world_hint is True else None,
        )
        name = tool.name if self._server is None else f"mcp:{self._server}/{tool.name}"
        return ToolSpec(name, tool.description or "", parameters=tool.parameters, traits=traits)


def _host(context: MiddlewareContext[Any]) -> Context:
    if context.fastmcp_context is None:
        raise RuntimeError("a call without a request cannot be guarded")
    return context.fastmcp_context


def _is_modern(host: Context) -> bool:
    """Return whether the server cannot ask while the call is open, only answer it with a question."""
    return host.request_context is not None and host.request_context.protocol_version in MODERN_PROTOCOL_VERSIONS


def _message(ask: Ask) -> str:
    arguments = json.dumps(ask.request.to_dict()["arguments"], indent=2)
    return f"May `{ask.call.shown or ask.call.tool}` run? It is asked because {ask.request.reason}.\n{arguments}"


def _question(ask: Ask) -> InputRequiredResult:
    form = ElicitRequestFormParams(message=_message(ask), requested_schema=_FORM)
    # The framework seals the state, and binds it to the tool, the arguments and who makes the call.
    return InputRequiredResult(input_requests={_KEY: ElicitRequest(params=form)}, request_state=f"{_KEY}:{ask.id}")


def _is_answer(made: CallToolRequestParams) -> bool:
    """Return whether the call is made again, with an answer to a question of ours; a tool may ask for itself."""
    return (made.request_state or "").startswith(f"{_KEY}:")


def _answer(guard: Guard, call: ToolCall | Refusal, spec: ToolSpec, made: CallToolRequestParams) -> Permit | Refusal:
    if isinstance(call, Refusal):
        return call
    pending_id = (made.request_state or "").removeprefix(f"{_KEY}:")
    question = guard.ledger.find(pending_id)
    if question is None or question.call.digest != call.digest or question.spec != spec:
        return CHANGED
    return guard.answer(pending_id, _response((made.input_responses or {}).get(_KEY)))


async def _elicit(host: Context, ask: Ask) -> ToolConfirmationResponse:
    try:
        return _response(await host.session.elicit(_message(ask), _FORM, host.request_id))
    except Exception:  # noqa: BLE001 -- whatever keeps the client from asking, the answer is no
        return _NO_ANSWER


def _response(result: object) -> ToolConfirmationResponse:
    """Return the answer of the client's user; a form that is sent off without a yes is a no."""
    if not isinstance(result, ElicitResult):
        return _NO_ANSWER
    content = result.content or {}
    is_yes = result.action == "accept" and content.get("approved") is True
    words, edited = str(content.get("instructions") or ""), content.get("arguments") or None
    if result.action == "accept" and content.get("result"):
        is_other = is_yes or words or edited
        return _TWO_ANSWERS if is_other else ToolConfirmationResponse(False, result=str(content["result"]))
    if not is_yes or edited is None:
        return ToolConfirmationResponse(approved=is_yes, instructions=words)
    try:
        arguments = parse_json(str(edited))
    except CallError:
        return _BAD_EDIT
    if not isinstance(arguments, dict):
        return _BAD_EDIT
    return ToolConfirmationResponse(approved=True, instructions=words, arguments=arguments)
