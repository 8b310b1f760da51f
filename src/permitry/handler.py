"""`ToolHandler`: decide, confirm, notify, dispatch, record. The only wiring of all the parts."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Literal, cast

import attrs

from permitry.audit.record import RunRecord
from permitry.channels.notifier import ToolRejectionNotifier
from permitry.channels.request import ConfirmationRequestFactory, ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.explanation import Explanation
from permitry.core.policy import AuthorizationPolicy
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.core.template import Template
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.scope import Caller
from permitry.errors import ReplayError
from permitry.guard.guard import Guard
from permitry.guard.outcome import Blocked, Cause, Pending, Ready, Silence
from permitry.guard.questions import check_policy
from permitry.guard.refusal import already_handled, available
from permitry.guard.registry_tools import RegistryTools
from permitry.guard.session import Session
from permitry.guard.tools import Tools

__all__ = ["Blocked", "Cause", "Pending", "Ready", "ToolHandler"]


def _take_tools(handler: "ToolHandler", _: object, registry: ToolRegistry) -> ToolRegistry:
    """Let the calls of a handler run by another registry."""
    handler._tools = RegistryTools(registry)  # noqa: SLF001 -- its own
    return registry


@attrs.define(repr=False)
class ToolHandler(Guard):
    """The facade in front of the tool registry, a `Guard` that also runs the calls: the only way to run one.

    Every part can be replaced; the defaults are the six built-in rules, an empty registry, a channel without a human,
    and a record in memory. Thread-safe.
    """

    # The order of the seed documents: a session comes first.
    session: Session = attrs.field(factory=Session)
    policy: AuthorizationPolicy = attrs.field(factory=create_default_authorization_policy, validator=check_policy)
    notifier: ToolRejectionNotifier = attrs.field(factory=ToolRejectionNotifier)
    # Nothing asks but the handler.
    unmatched: Literal["confirm"] = attrs.field(default="confirm", init=False, on_setattr=attrs.setters.frozen)
    registry: ToolRegistry = attrs.field(factory=ToolRegistry, kw_only=True, on_setattr=_take_tools)
    _tools: Tools = attrs.field(init=False, repr=False)
    factory: ConfirmationRequestFactory = attrs.field(kw_only=True)

    @_tools.default
    def _tools_of_registry(self) -> Tools:
        return RegistryTools(self.registry)

    @factory.default
    def _factory_with_previews(self) -> ConfirmationRequestFactory:
        return ConfirmationRequestFactory(self.registry.preview)

    # Asking the policy ------------------------------------------------------------------------------------------

    @property
    def active_template(self) -> Template | None:
        """The active template: the tools it names need no confirmation. None if no template is active."""
        return self.session.active_template

    def set_active_template(self, template: Template | None) -> None:
        """Make `template` the active one; with None, no template is active."""
        self.session.active_template = template

    def decide(self, call: ToolCall) -> Decision:
        """Return the decision for `call` in the session as it is now. Pure: nothing is recorded or asked.

        Unless no tool at all is registered, a call is also blocked if its tool is not registered or not enabled in this
        context, or cannot take its arguments.
        """
        call, context = self.registry.resolved(call), AuthContext.from_state(self.session)
        spec = self.registry.get(call.tool)
        decision = self._judged(call, context, spec)
        if self.grants is not None and decision.verdict is Verdict.CONFIRM:
            granted = self.grants.decide(self.policy, call, self.session, spec, decision)
            decision = decision if granted.keeps else granted
        # A registry without any tool belongs to a host that runs its tools itself; `begin` runs nothing for it.
        return self._tools.check(call, context, decision)[0] if len(self.registry) else decision

    def explain(self, call: ToolCall) -> Explanation:
        """Return the decision for `call`, the same as `decide` gives, with every rule's part in it."""
        context, call = AuthContext.from_state(self.session), self.registry.resolved(call)
        full = self.policy.explain(call, context, self.registry.get(call.tool))
        if full.decision.keeps and self.undo is None:
            full = attrs.evolve(full, decision=self._judged(call, context, self.registry.get(call.tool)))
        if self.grants is not None and full.decision.verdict is Verdict.CONFIRM:
            granted = self.grants.policy(self.policy, self.session)
            wider = granted.explain(call, context, self.registry.get(call.tool))
            is_granted = wider.decision.verdict is Verdict.ALLOW and not wider.decision.keeps
            full = wider if is_granted else attrs.evolve(wider, decision=full.decision)
        if not len(self.registry):
            return full
        return attrs.evolve(full, decision=self._tools.check(call, context, full.decision)[0])

    def visible_tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools to show to the model now: those that are enabled, and of which some call could run."""
        return self.registry.specs(AuthContext.from_state(self.session), self.policy)

    def should_confirm(self, tool_name: str) -> bool:
        """Return whether the tool may not run without confirmation: True for CONFIRM and for BLOCK."""
        return self._decide_name(tool_name).verdict is not Verdict.ALLOW

    def is_tool_blocked(self, tool_name: str) -> bool:
        """Return whether the tool is blocked: no answer can make it run."""
        return self._decide_name(tool_name).verdict is Verdict.BLOCK

    def create_confirmation_request(self, tool_name: str, args: Mapping[str, object]) -> ToolConfirmationRequest:
        """Return the question a human would be asked about this call."""
        call = self.registry.resolved(ToolCall(tool_name, args))
        return self.factory.create(call, self.decide(call), self.registry.get(call.tool))

    def process_confirmation(self, response: ToolConfirmationResponse, tool_name: str) -> bool:
        """Return whether the answer lets a tool run, for a host that runs its tools itself.

        An approval with `skip_future` puts the tool on the ignore list. A rejection is never remembered; its text for
        the model is appended to `session.messages`.
        """
        name = self.registry.resolved(ToolCall(tool_name)).tool
        if response.is_remembered:
            self.session.ignore(name)
        if not response.is_approval:
            self.session.messages.append(self.notifier.rejected(name, response))
        return response.is_approval

    # The way of a call ------------------------------------------------------------------------------------------

    def handle(self, call: ToolCall, scope: Caller | None = None) -> ToolResult:
        """Decide, ask if need be, run if permitted, and return what the model is shown.

        `scope` is the state of the caller for call-time tools, or only a listener for the events of the run.
        """
        match self._begun(call, runs=True):
            case Pending() as pending:
                return self.run(self.ask(pending), scope)
            case outcome:
                return self.run(outcome, scope)

    async def ahandle(self, call: ToolCall, scope: Caller | None = None) -> ToolResult:
        """Do what `handle` does, but never block the event loop: not for a human, a tool, or the disk of the record."""
        outcome = await self._off_loop(lambda: self._begun(call, runs=True), self._abandoned)
        return await self.arun(await self.aask(outcome) if isinstance(outcome, Pending) else outcome, scope)

    def begin(self, call: ToolCall) -> Ready | Blocked | Pending:
        """Decide and record; the same call id with the same call gives the same outcome, without a second decision.

        A call without an id gets a new one each time, so it is always decided. A call with an id whose outcome is no
        longer kept (see `HandledCalls`) is blocked, and never decided or run again.
        """
        return self._begun(call, runs=False)

    def run(self, outcome: Ready | Blocked, scope: Caller | None = None) -> ToolResult:
        """Dispatch a `Ready`, or return what the model is shown about a `Blocked`.

        Raises: `FatalToolError` from the tool; what the recorder raises when the start (then nothing ran) or the end of
        a run could not be recorded.
        """
        if isinstance(outcome, Blocked):
            return outcome.result
        try:
            return self.registry.dispatch(outcome.authorized, scope)
        except ReplayError:
            return _replayed(outcome)

    async def arun(self, outcome: Ready | Blocked, scope: Caller | None = None) -> ToolResult:
        """Do what `run` does on the event loop."""
        if isinstance(outcome, Blocked):
            return outcome.result
        try:
            return await self.registry.adispatch(outcome.authorized, scope)
        except ReplayError:
            return _replayed(outcome)

    # Steps --------------------------------------------------------------------------------------------------------

    def _begun(self, call: ToolCall, *, runs: bool) -> Ready | Blocked | Pending:
        match self._decided(call, runs=runs):
            case Silence():
                raise AssertionError("a handler leaves no call to its host")  # see `unmatched`
            case outcome:
                return outcome

    def _abandoned(self, outcome: Ready | Blocked | Pending) -> None:
        """End a call that was decided while its caller was cancelled: nothing ran, and a question stays open."""
        match outcome:
            case Ready(call, _, authorized):
                with contextlib.suppress(ReplayError):
                    observer = self.registry._redeem(authorized).observer  # noqa: SLF001 -- as `RegistryTools` does
                    cast("RunRecord", observer).abandoned(call)
            case Pending():
                self._interrupted(outcome, asyncio.CancelledError.__name__)
            case Blocked():
                pass

    def _decide_name(self, tool_name: str) -> Decision:
        """Return the decision about a tool of which no arguments are known yet."""
        call, context = self.registry.resolved(ToolCall(tool_name)), AuthContext.from_state(self.session)
        decision = self.policy.decide(call, context, self.registry.get(call.tool))
        return available(self.registry, call, context, decision) if len(self.registry) else decision


def _replayed(outcome: Ready) -> ToolResult:
    return ToolResult(False, already_handled(outcome.call))
