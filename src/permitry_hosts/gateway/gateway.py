"""`Gateway`: an MCP server whose tools are those of others, each call decided by a `Guard`."""

import asyncio
import contextlib
import functools
import itertools
import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, assert_never

import attrs
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_channel import StoredChannel
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.errors import AdapterError, ConfigError, ToolError, safe_str
from permitry.guard.guard import Guard
from permitry.guard.ledger import ConfirmationLedger
from permitry.guard.outcome import Ask, Cause, Permit, Refusal, Silence
from permitry.guard.stored_ledger import StoredLedger
from permitry_hosts.gateway import asking, words
from permitry_hosts.gateway.definitions import Definition, Pins
from permitry_hosts.gateway.upstream import FRESH, Upstream

__all__ = ["Context", "Gateway", "Offered"]

Context: TypeAlias = ServerRequestContext[Any, Any]
Result: TypeAlias = types.CallToolResult | types.InputRequiredResult

_LOG = logging.getLogger("permitry.gateway")


@attrs.frozen
class Offered:
    """A tool as a client sees it; one without a digest is permitry's own, and never changes."""

    shown: str
    upstream: Upstream
    definition: Definition

    @property
    def is_pinned(self) -> bool:
        """Whether a server defines it, and can change that."""
        return self.definition.digest != ""


@attrs.define(eq=False)
class Gateway:
    """An MCP server in front of others, for one session. All methods belong to one event loop.

    Tools of several servers are `SERVER__TOOL`. A question waits `wait` seconds; the client shows it,
    unless there is a `ledger`, where it is answered. `before` is called right before each list and each
    decision, also on an answer, such as to load changed rules; where it raises, nothing runs.

    Raises: `ValueError` for a guard that leaves calls to its host; `AdapterError` for servers whose
    names do not keep their tools apart.
    """

    guard: Guard
    upstreams: tuple[Upstream, ...]
    pins: Pins
    wait: float = attrs.field(default=300.0, kw_only=True)
    before: Callable[[], object] = attrs.field(default=lambda: None, kw_only=True)
    ledger: StoredLedger | None = attrs.field(default=None, kw_only=True)
    _channel: asking.ClientChannel = attrs.field(factory=asking.ClientChannel, init=False)
    _open: asking.OpenQuestions = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        """Let the guard ask through the client."""
        if self.guard.unmatched == "silence":
            raise ValueError('a client does not ask by itself: use a Guard without unmatched="silence"')
        # INVARIANT: no prefix begins with another one, so that a name belongs to one server, whatever that lists.
        for one, other in itertools.permutations(self.upstreams, 2):
            if self.shown(one, "").startswith(self.shown(other, "")):
                names = f"`{other.server.name}` and `{one.server.name}`"
                raise AdapterError(f"the names {names} do not keep the tools of two servers apart; rename one of them")
        self.guard.channel = self._channel
        if self.ledger is None:
            self.guard.ledger = ConfirmationLedger(self.wait)
        else:
            self.guard.ledger, self.guard.factory = self.ledger, asking.FullRequests(why=self._why)
        self._open = asking.OpenQuestions(self.guard)

    async def list_tools(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Return the tools of which some call could run; the list is for this client alone, and not to be kept."""
        are_there = await asyncio.gather(*map(_is_there, self.upstreams))
        there = [each for each, is_there in zip(self.upstreams, are_there, strict=True) if is_there]
        self.renew()
        tools = [tool for tool in self._tools().values() if tool.upstream in there]
        # Those that are hidden as well: what changes between this list and a call is noticed.
        shown = {tool.shown: self._as_tool(tool) for tool in tools}
        listed = [words.tool_for(context.protocol_version, shown[tool.shown]) for tool in tools if self.could_run(tool)]
        found = [tool for tool in listed if tool is not None]
        return types.ListToolsResult(tools=found, ttl_ms=0, cache_scope="private")

    def renew(self) -> None:
        """Load changed rules for a list, which lets nothing run: of files with mistakes, calls say so."""
        with contextlib.suppress(ConfigError):
            self.before()

    def _as_tool(self, tool: Offered) -> types.Tool:
        """Return a tool for clients: of one that has changed, no text of its server before the user has read it."""
        if self._changes(tool):
            return types.Tool(name=tool.shown, description=words.NOT_APPROVED, input_schema={"type": "object"})
        return tool.definition.as_tool(tool.shown)

    def _tools(self) -> dict[str, Offered]:
        return {
            self.shown(upstream, name): Offered(self.shown(upstream, name), upstream, definition)
            for upstream in self.upstreams
            for name, definition in upstream.definitions.items()
        }

    def shown(self, upstream: Upstream, name: str) -> str:
        """Return the name by which clients know what a server calls `name`."""
        return f"{upstream.server.name}__{name}" if len(self.upstreams) > 1 else name

    def could_run(self, tool: Offered) -> bool:
        """Return whether some call could run, so that a client may know of it."""
        return self.guard.policy.could_run(tool.definition.spec, AuthContext.from_state(self.guard.session))

    def _why(self, request: ToolConfirmationRequest, decision: Decision) -> tuple[str, ...]:
        """Return why a call is asked about of which a server has changed the tool; none for other calls."""
        for tool in self._tools().values():
            is_its = (tool.upstream.server.name, tool.definition.name) == (request.call.server, request.call.name)
            if is_its and (changes := self._changes(tool)):
                return words.reasons(Ask("", request, decision), tool.definition.parts, changes)
        return ()

    def _changes(self, tool: Offered) -> tuple[str, ...]:
        return self.pins.changes(tool.upstream.server.identity, tool.definition) if tool.is_pinned else ()

    def schema(self, name: str) -> dict[str, Any] | None:
        """Return the schema of the arguments of a listed tool: headers are checked by it.

        For a hidden tool it is None, as for one that is not there.
        """
        tool = self._tools().get(name)
        return None if tool is None or not self.could_run(tool) else self._as_tool(tool).input_schema

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> Result:
        """Return the result of a call that was decided and may run; else why it did not, in words for the model."""
        try:
            return await self._serve_call(context, params)
        except ToolError as error:
            return words.refuse(f"{error} The call did not run.")
        except Exception as error:  # noqa: BLE001 -- whatever fails, the call must not run for it
            # INVARIANT: law 2. A call that cannot be decided, asked about or recorded does not run.
            return words.refuse(words.why_not(error))

    async def _serve_call(self, context: Context, params: types.CallToolRequestParams) -> Result:
        tool = self._tools().get(params.name)
        if tool is not None:
            # An answer is about the tool as it was when the question was asked.
            await tool.upstream.refresh(within=FRESH if params.request_state is None else 0.0)
            tool = self._tools().get(params.name)
        if tool is None:
            return words.unknown(params.name)
        self.before()
        if not self.could_run(tool):
            # For the record: it was not shown to this client, unless by rules that have changed since.
            self.guard.check(self._call(tool, params.arguments), tool.definition.spec)
            return words.unknown(params.name)
        outcome = await self.outcome(context, tool, params.arguments, params)
        match outcome:
            case types.InputRequiredResult():
                return outcome
            case Permit():
                return words.result_for(context.protocol_version, await self._run(outcome, tool))
            case Refusal():
                # A client takes no text for the result of a tool whose results have a schema.
                is_result = not outcome.is_error and "outputSchema" not in tool.definition.parts
                return words.refuse(outcome.text).model_copy(update={"is_error": not is_result})
            case _:
                assert_never(outcome)

    def _call(self, tool: Offered, arguments: Mapping[str, Any] | None) -> ToolCall | Refusal:
        server = tool.upstream.server.name
        return self.guard.call(
            tool.definition.name, arguments or {}, server=server, shown=tool.shown, kind=PayloadKind.MCP
        )

    async def outcome(
        self,
        context: Context,
        tool: Offered,
        arguments: Mapping[str, Any] | None,
        params: types.InputResponseRequestParams,
    ) -> Permit | Refusal | types.InputRequiredResult:
        """Decide a call, or answer the question about it that it brings back."""
        call = self._call(tool, arguments)
        if params.request_state is None:
            outcome = await self._decide(context, call, tool)
        else:
            outcome = await self._answer(call, tool, params)
        return Refusal(words.LATE, Cause.NOT_ASKED) if isinstance(outcome, Silence) else outcome

    async def _decide(
        self, context: Context, call: ToolCall | Refusal, tool: Offered
    ) -> Permit | Refusal | Silence | types.InputRequiredResult:
        changes = self._changes(tool)
        outcome = self.guard.check(call, tool.definition.spec, asked=bool(changes))
        if not isinstance(outcome, Ask):
            return outcome
        form = asking.the_form(outcome.request, *words.reasons(outcome, tool.definition.parts, changes))
        is_askable = self.ledger is not None or asking.can_ask(context.session.client_capabilities)
        if self.ledger is None and is_askable and context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            self._open.add("", outcome.id)
            requests: types.InputRequests = {asking.ANSWER: types.ElicitRequest(params=form)}
            return types.InputRequiredResult(input_requests=requests, request_state=outcome.id)
        asks: asking.Asks = functools.partial(_elicit, context, form)
        if self.ledger is not None:
            asks = StoredChannel(self.ledger.store).aask
        self._channel.use(functools.partial(self._ask, asks, tool) if is_askable else None)
        self._open.add(_session_of(context), outcome.id)
        try:
            answered = await self.guard.ainline(outcome.call, tool.definition.spec)
        finally:
            # Such as one whose call the client has cancelled.
            self.guard.withdraw(outcome.id, "the client has left")
        if isinstance(answered, Refusal) and answered.cause is Cause.UNANSWERED:
            # Where mistakes in the rules kept a yes from counting, that is what is said.
            self.before()
        if isinstance(answered, Refusal) and not is_askable:
            hint = words.NO_FORM_FOR_CHANGES if changes else words.NO_FORM
            return attrs.evolve(answered, text=f"{answered.text}\n{hint}")
        return answered

    async def _ask(
        self, asks: asking.Asks, tool: Offered, request: ToolConfirmationRequest
    ) -> ToolConfirmationResponse | None:
        async with asyncio.timeout(self.wait):
            response = await asks(request)
        # INVARIANT: law 1. The answer meets the rules and the tool as they are now, and not as they were when the user
        # was asked. The rules come last: nothing is waited for between them and the decision.
        if tool.is_pinned:
            await tool.upstream.refresh()
        self.before()
        return response

    async def _answer(
        self, call: ToolCall | Refusal, tool: Offered, params: types.InputResponseRequestParams
    ) -> Permit | Refusal | Silence:
        if isinstance(call, Refusal):
            return call
        if self.ledger is not None:
            # INVARIANT: a client does not answer what it was not asked.
            return Refusal(words.LATE, Cause.NOT_ASKED)
        question = self.guard.ledger.find(params.request_state or "")
        if question is None or question.call.digest != call.digest or question.spec != tool.definition.spec:
            return Refusal(words.LATE, Cause.NOT_ASKED)
        response = asking.read_answer((params.input_responses or {}).get(asking.ANSWER))
        if response is None:
            self._channel.use(None)
            return await self.guard.ainline(question.call, question.spec)
        return self.guard.answer(question.pending_id, response)

    async def _run(self, permit: Permit, tool: Offered) -> types.CallToolResult:
        is_changed, is_approved = self._changes(tool) != (), permit.decision.verdict is Verdict.CONFIRM
        is_current = tool.upstream.definitions.get(tool.definition.name) == tool.definition
        if not is_current or (is_changed and not is_approved):
            return words.refuse(f"The tool `{tool.shown}` changed in the meantime, and the call did not run.")
        if is_changed:
            self.pins.pin(tool.upstream.server.identity, tool.definition)
        started = False
        try:
            with permit as arguments:
                started = True
                result = await tool.upstream.call(tool.definition.name, arguments)
                permit.done(ok=not result.is_error)
                return result
        except ToolError as error:
            return words.refuse(safe_str(error))
        except Exception as error:
            if not started:
                raise
            _LOG.exception("the end of a call could not be recorded")
            return words.refuse(f"The gateway failed ({type(error).__name__}); the call has run, at least in part.")


async def _elicit(
    context: Context, form: types.ElicitRequestFormParams, _: ToolConfirmationRequest
) -> ToolConfirmationResponse | None:
    return asking.read_answer(
        await context.session.elicit_form(form.message, form.requested_schema, context.request_id)
    )


async def _is_there(upstream: Upstream) -> bool:
    try:
        await upstream.refresh()
    except ToolError as error:
        # The tools of the others are still there.
        _LOG.warning("%s", error)
        return False
    return True


def _session_of(context: Context) -> str:
    """Return which client of the handshake era this is; on standard input there is one."""
    return f"handshake {getattr(context.request, 'headers', {}).get('mcp-session-id', '')}"
