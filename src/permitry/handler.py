"""`ToolHandler`: a guard that decides and a registry that runs, combined. The only wiring of all the parts."""

from collections.abc import Mapping
from typing import Any, Literal

import attrs

from permitry.actions.changes import Undo
from permitry.audit.recorder import Recorder
from permitry.channels.channel import ConfirmationChannel
from permitry.channels.notifier import ToolRejectionNotifier
from permitry.channels.request import ConfirmationRequestFactory, ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
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
from permitry.guard.asking import abandon, do_work
from permitry.guard.case import TurnTracker
from permitry.guard.forwarding import Part, forward
from permitry.guard.grants_in_force import Grants
from permitry.guard.guard import Guard
from permitry.guard.handled import HandledCalls
from permitry.guard.ledger import Ledger
from permitry.guard.outcome import Blocked, Cause, Decided, Pending, Ready
from permitry.guard.preview import explain, preview
from permitry.guard.refusal import already_handled
from permitry.guard.registry_tools import RegistryTools, check_available
from permitry.guard.session import Session

__all__ = ["Blocked", "Cause", "Pending", "Ready", "ToolHandler"]

# What attrs takes for a part that is not given. None would hide the mistake of a host whose policy did not load.
_DEFAULT: Any = attrs.NOTHING


class ToolHandler:
    """The facade in front of the tool registry: its `guard` decides, and the registry runs. The only way to run a call.

    Every part can be replaced; the defaults are the six built-in rules, an empty registry, a channel without a human,
    and a record in memory. Thread-safe.
    """

    # A part whose name is misspelt is an error.
    __slots__ = ("__weakref__", "_registry", "guard")

    policy: Part[AuthorizationPolicy] = Part()
    session: Part[Session] = Part()
    notifier: Part[ToolRejectionNotifier] = Part()
    tracker: Part[TurnTracker | None] = Part()
    factory: Part[ConfirmationRequestFactory] = Part()
    channel: Part[ConfirmationChannel] = Part()
    ledger: Part[Ledger] = Part()
    recorder: Part[Recorder] = Part()
    handled: Part[HandledCalls[Decided]] = Part()
    undo: Part[Undo | None] = Part()
    grants: Part[Grants | None] = Part()

    call = forward(Guard.call)
    check = forward(Guard.check)
    answer = forward(Guard.answer)
    inline = forward(Guard.inline)
    ainline = forward(Guard.ainline)
    ask = forward(Guard.ask)
    aask = forward(Guard.aask)
    resolve = forward(Guard.resolve)
    withdraw = forward(Guard.withdraw)
    begin_turn = forward(Guard.begin_turn)
    turn_diff = forward(Guard.turn_diff)

    def __init__(  # noqa: PLR0913 -- the parts of a handler
        self,
        # The order of the seed documents: a session comes first.
        session: Session = _DEFAULT,
        policy: AuthorizationPolicy = _DEFAULT,
        notifier: ToolRejectionNotifier = _DEFAULT,
        *,
        tracker: TurnTracker | None = None,
        channel: ConfirmationChannel = _DEFAULT,
        ledger: Ledger = _DEFAULT,
        recorder: Recorder = _DEFAULT,
        handled: HandledCalls[Decided] = _DEFAULT,
        undo: Undo | None = None,
        grants: Grants | None = None,
        registry: ToolRegistry = _DEFAULT,
        factory: ConfirmationRequestFactory = _DEFAULT,
    ) -> None:
        registry = ToolRegistry() if registry is _DEFAULT else registry
        factory = ConfirmationRequestFactory(registry.preview) if factory is _DEFAULT else factory
        self.guard = Guard(
            policy, session, notifier, tracker=tracker, factory=factory, channel=channel,
            ledger=ledger, recorder=recorder, handled=handled, undo=undo, grants=grants,
        )  # fmt: skip
        self.registry = registry

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.policy!r}>"

    @property
    def registry(self) -> ToolRegistry:
        """The tools that the handler runs."""
        return self._registry

    @registry.setter
    def registry(self, registry: ToolRegistry) -> None:
        self._registry = registry
        self.guard.tools = RegistryTools(registry)

    @property
    def unmatched(self) -> Literal["confirm"]:
        """Nothing asks but the handler."""
        return "confirm"

    # Asking the policy ----------------------------------------------------------------------------

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
        return self._check(call, preview(call, self.guard))

    def explain(self, call: ToolCall) -> Explanation:
        """Return the decision for `call`, the same as `decide` gives, with every rule's part in it."""
        full = explain(call, self.guard)
        return attrs.evolve(full, decision=self._check(call, full.decision))

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

    # The way of a call ----------------------------------------------------------------------------

    def handle(self, call: ToolCall, scope: Caller | None = None) -> ToolResult:
        """Decide, ask if need be, run if permitted, and return what the model is shown.

        `scope` is the state of the caller for call-time tools, or only a listener for the events of the run.
        """
        outcome = self.guard.begin(call, runs=True)
        if type(outcome) is Pending:
            outcome = self.guard.ask(outcome)
        return self.run(_rule_out_silence(outcome), scope)

    async def ahandle(self, call: ToolCall, scope: Caller | None = None) -> ToolResult:
        """Do what `handle` does, but never block the event loop: not for a human, a tool, or the disk of the record."""
        guard = self.guard
        outcome = await do_work(
            guard, lambda: guard.begin(call, runs=True), is_on_loop=True, abandon=lambda late: abandon(late, guard)
        )
        if type(outcome) is Pending:
            outcome = await self.guard.aask(outcome)
        return await self.arun(_rule_out_silence(outcome), scope)

    def begin(self, call: ToolCall) -> Ready | Blocked | Pending:
        """Decide and record; the same call id with the same call gives the same outcome, without a second decision.

        A call without an id gets a new one each time, so it is always decided. A call with an id whose outcome is no
        longer kept (see `HandledCalls`) is blocked, and never decided or run again.
        """
        outcome = self.guard.begin(call)
        return outcome if type(outcome) is Pending else _rule_out_silence(outcome)

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
            return ToolResult(False, already_handled(outcome.call))

    async def arun(self, outcome: Ready | Blocked, scope: Caller | None = None) -> ToolResult:
        """Do what `run` does on the event loop."""
        if isinstance(outcome, Blocked):
            return outcome.result
        try:
            return await self.registry.adispatch(outcome.authorized, scope)
        except ReplayError:
            return ToolResult(False, already_handled(outcome.call))

    # Steps ----------------------------------------------------------------------------------------

    def _check(self, call: ToolCall, decision: Decision) -> Decision:
        """Return the decision, or a block when no tool can take the call."""
        if not len(self.registry):
            # It belongs to a host that runs its tools itself; `begin` runs nothing for it.
            return decision
        context = AuthContext.from_state(self.session)
        return self.guard.tools.check(self.registry.resolved(call), context, decision)[0]

    def _decide_name(self, tool_name: str) -> Decision:
        """Return the decision about a tool of which no arguments are known yet."""
        call, context = self.registry.resolved(ToolCall(tool_name)), AuthContext.from_state(self.session)
        decision = preview(call, self.guard)
        return check_available(self.registry, call, context, decision) if len(self.registry) else decision


def _rule_out_silence(outcome: Decided) -> Ready | Blocked:
    match outcome:
        case Ready() | Blocked():
            return outcome
    raise AssertionError("a handler leaves no call to its host")
