"""`ToolHandler`: decide, confirm, notify, dispatch, record. The only wiring of all the parts."""

import logging
from collections.abc import Mapping
from typing import assert_never

import attrs

from permitry.audit.record import RunRecord, decision_fields
from permitry.config.diagnostics import nearest
from permitry.confirm.ledger import PendingConfirmation
from permitry.confirm.refusal import available, changed_tool, checked, misfit, too_many_questions, used_id
from permitry.confirm.request import ConfirmationRequestFactory, ToolConfirmationRequest
from permitry.confirm.response import ToolConfirmationResponse
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
from permitry.errors import (
    FullLedgerError,
    LedgerError,
    ReplayError,
    UnavailableError,
    UnknownToolError,
    safe_str,
)
from permitry.outcome import Blocked, Cause, Pending, Ready
from permitry.questions import Questions, digest_of, not_recorded
from permitry.rules.configured import ConfiguredRule

__all__ = ["Blocked", "Cause", "Pending", "Ready", "ToolHandler"]

_LOG = logging.getLogger("permitry.handler")


@attrs.define
class ToolHandler(Questions):
    """The facade in front of the tool registry: the only way to run a call.

    Every part can be replaced; the defaults are the six built-in rules, an empty registry, a channel without a human,
    and a record in memory. Thread-safe.
    """

    registry: ToolRegistry = attrs.field(factory=ToolRegistry, kw_only=True)
    factory: ConfirmationRequestFactory = attrs.field(kw_only=True)
    _run_record: RunRecord | None = attrs.field(default=None, init=False, repr=False)
    _deciding: set[tuple[str | None, str]] = attrs.field(factory=set, init=False, repr=False)
    _modes_seen: set[str] = attrs.field(factory=lambda: {"default"}, init=False, repr=False)

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
        decision = self.policy.decide(call, context, self.registry.get(call.tool))
        # A registry without any tool belongs to a host that runs its tools itself; `begin` runs nothing for it.
        return checked(self.registry, call, context, decision) if len(self.registry) else decision

    def explain(self, call: ToolCall) -> Explanation:
        """Return the decision for `call`, the same as `decide` gives, with every rule's part in it."""
        context, call = AuthContext.from_state(self.session), self.registry.resolved(call)
        full = self.policy.explain(call, context, self.registry.get(call.tool))
        return (
            attrs.evolve(full, decision=checked(self.registry, call, context, full.decision))
            if len(self.registry)
            else full
        )

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
        outcome = self.begin(call)
        return self.run(self.ask(outcome) if isinstance(outcome, Pending) else outcome, scope)

    async def ahandle(self, call: ToolCall, scope: Caller | None = None) -> ToolResult:
        """Do what `handle` does without blocking the event loop while a human thinks or a tool works."""
        outcome = self.begin(call)
        return await self.arun(await self.aask(outcome) if isinstance(outcome, Pending) else outcome, scope)

    def begin(self, call: ToolCall) -> Ready | Blocked | Pending:
        """Decide and record; the same call id with the same call gives the same outcome, without a second decision.

        A call without an id gets a new one each time, so it is always decided. A call with an id whose outcome is no
        longer kept (see `HandledCalls`) is blocked, and never decided or run again.
        """
        is_given = call.call_id is not None
        if not is_given:
            # Not a sequence number: a model could use the same id for one of its calls.
            call = call.with_id(f"call-{self.ledger.new_id()}")
        call = self.registry.resolved(call)
        with self._lock, self.session.lock:
            outcome = self.handled.find(call)
            if outcome is None:
                outcome = self._begun(call, is_given=is_given)
                self.handled.keep(call, outcome, is_open=type(outcome) is Pending)
            return outcome

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

    def _begun(self, call: ToolCall, *, is_given: bool) -> Ready | Blocked | Pending:
        key = (call.call_id, call.digest)
        if key in self._deciding:
            raise LedgerError(f"the call `{call.call_id}` is being decided already")
        self._deciding.add(key)
        try:
            if self.handled.is_used(call, is_given=is_given):
                return self._refused(call, used_id(call, self.policy.version), Cause.HANDLED)
            return self._begin(call)
        finally:
            self._deciding.discard(key)

    def _begin(self, call: ToolCall) -> Ready | Blocked | Pending:
        context = AuthContext.from_state(self.session)
        if self.session.host_mode not in self._modes_seen:
            self._modes_seen.add(self.session.host_mode)
            _warn_of_unknown_mode(self.session.host_mode, self.policy)
        # Looked up once: what is decided on, recorded, asked about and authorized is one tool, even after a reload.
        spec = self.registry.get(call.tool)
        decision = available(self.registry, call, context, self.policy.decide(call, context, spec))
        if decision.verdict is not Verdict.BLOCK and (found := self.registry.misfit(call)) is not None:
            # The error message of the tool: the model can correct the call, so no human has to be asked.
            cause = Cause.UNAVAILABLE if isinstance(found, UnavailableError) else Cause.MISFIT
            return self._refused(call, misfit(call, found, decision), cause)
        details = decision_fields(decision)
        details["arguments"], details["mode"], details["tool_digest"] = call.to_dict(), context.mode, digest_of(spec)
        if not self._record("decided", call, details):
            return not_recorded(call, decision)
        match decision.verdict:
            case Verdict.BLOCK:
                return self._blocked(call, decision)
            case Verdict.CONFIRM:
                try:
                    return self._pending(call, spec, decision)
                except FullLedgerError as error:
                    return self._refused(call, too_many_questions(decision, str(error)), Cause.QUESTIONS)
            case Verdict.ALLOW:
                return self._ready(call, spec, context, decision)
            case _:
                assert_never(decision.verdict)

    def _decide_name(self, tool_name: str) -> Decision:
        """Return the decision about a tool of which no arguments are known yet."""
        call, context = self.registry.resolved(ToolCall(tool_name)), AuthContext.from_state(self.session)
        decision = self.policy.decide(call, context, self.registry.get(call.tool))
        return available(self.registry, call, context, decision) if len(self.registry) else decision

    def _blocked(self, call: ToolCall, decision: Decision, cause: Cause = Cause.POLICY) -> Blocked:
        text = (
            decision.message
            if cause in (Cause.MISFIT, Cause.UNAVAILABLE)
            else self.notifier.blocked(call.tool, decision)
        )
        return Blocked(call, decision, ToolResult(False, text or ""), cause)

    def _ready(
        self, call: ToolCall, spec: ToolSpec | None, context: AuthContext, decision: Decision
    ) -> Ready | Blocked:
        observer = self._run_record
        if observer is None or observer.recorder is not self.recorder:
            observer = self._run_record = RunRecord(self.recorder)
        try:
            created = self.registry._authorize(call, spec, context, observer, self.session)  # noqa: SLF001 -- the only place that authorizes
        except UnknownToolError:
            # The tool was replaced between the decision and the authorization.
            return self._refused(call, changed_tool(call, decision), Cause.POLICY)
        # Side effects apply when a call may run, not when it runs: of calls begun together, each counts for the next.
        self.session.apply(call, self.policy.side_effects(call, context, spec))
        return Ready(call, decision, created)

    def _refused(self, call: ToolCall, decision: Decision, cause: Cause) -> Blocked:
        """Block a call that no rule blocks, and record that."""
        digest = digest_of(self.registry.get(call.tool))
        fields = {**decision_fields(decision), "arguments": call.to_dict(), "edited": False, "tool_digest": digest}
        if not self._record("decided", call, fields):
            return not_recorded(call, decision)
        return self._blocked(call, decision, cause)

    def _approved(self, question: PendingConfirmation, response: ToolConfirmationResponse) -> Ready | Blocked:
        call = question.call
        if response.arguments is not None:
            try:
                call = self.registry.resolved(attrs.evolve(call, arguments=response.arguments))
            except Exception as error:  # noqa: BLE001 -- arguments from outside may fail in any way
                result = ToolResult(False, f"The edited arguments cannot be used: {safe_str(error)}.")
                return Blocked(call, question.decision, result, Cause.BAD_EDIT)
        return self._decided_again(call, question, response)

    def _decided_again(
        self, call: ToolCall, question: PendingConfirmation, response: ToolConfirmationResponse
    ) -> Ready | Blocked:
        # INVARIANT: law 1. The answer is for these very arguments and this very tool, and no answer lifts a BLOCK.
        context, spec = AuthContext.from_state(self.session), self.registry.get(call.tool)
        now = checked(self.registry, call, context, self.policy.decide(call, context, spec))
        if now.verdict is not Verdict.BLOCK and digest_of(spec) != question.tool_digest:
            now = changed_tool(call, now)
        is_edited = call.digest != question.call.digest
        decision = now if is_edited or now.verdict is Verdict.BLOCK else question.decision
        if is_edited or decision is not question.decision:
            details = {"arguments": call.to_dict(), "edited": is_edited, "tool_digest": digest_of(spec)}
            if not self._record("decided", call, decision_fields(decision) | details):
                return not_recorded(call, decision)
        if decision.verdict is Verdict.BLOCK:
            return self._blocked(call, decision)
        outcome = self._ready(call, spec, context, decision)
        is_asked_anyway = question.decision.is_question_of_rule or decision.is_question_of_rule
        if response.is_remembered and isinstance(outcome, Ready) and not is_asked_anyway:
            self.session.ignore(call.tool)
        return outcome


def _warn_of_unknown_mode(mode: str, policy: AuthorizationPolicy) -> None:
    """Log a warning for a mode that no rule of a file names: a misspelt `plan` would be a session without plan mode."""
    scopes = (rule.scope for rule in policy.rules if isinstance(rule, ConfiguredRule))
    if not any(mode in scope.modes for scope in scopes):
        _LOG.warning("no rule knows the mode `%s`; %s", mode, nearest(mode.lower(), ("plan", "yolo", "default")))


def _replayed(outcome: Ready) -> ToolResult:
    return ToolResult(
        False, f"The call `{outcome.call.call_id}` has already been handled; give every call an id of its own."
    )
