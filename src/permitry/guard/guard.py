"""`Guard`: decide, ask, answer and record the calls that a host runs itself."""

import functools
import logging
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, assert_never

import attrs

from permitry.actions.changes import Undo
from permitry.audit.record import RunRecord, decision_fields
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.diagnostics import nearest
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.authorized import AuthorizedCall
from permitry.errors import (
    FullLedgerError,
    LateAnswerError,
    LedgerError,
    ReplayError,
    UnknownToolError,
    safe_str,
)
from permitry.guard.counted import charged, charged_approved
from permitry.guard.granted import Grants
from permitry.guard.handled import Asker
from permitry.guard.ledger import PendingConfirmation
from permitry.guard.outcome import Ask, Blocked, Cause, Decided, Pending, Permit, Ready, Refusal, Silence
from permitry.guard.questions import Questions, digest_of, not_recorded
from permitry.guard.refusal import (
    already_handled,
    asked_before,
    changed_tool,
    too_many_questions,
    unasked,
    used_id,
)
from permitry.guard.tools import HostTools, Tools
from permitry.rules.configured import ConfiguredRule
from permitry.undo.first import NOTHING_KEEPS, Asked, Kept, decided_unkept, kept_first

__all__ = ["Guard"]

Passed = TypeVar("Passed", bound=Refusal | Silence)

_LOG = logging.getLogger("permitry.guard")
_NO_QUESTION = "No question about this call is open, so it did not run. Make the call again if you still need it."


@attrs.define(repr=False)
class Guard(Questions):
    """Decides, asks about and records the calls of a host that runs its tools itself. Thread-safe.

    One guard serves one session: calls of a sub-agent go to a guard of `session.child(...)`. `unmatched` says what
    becomes of calls that no rule is about: they are asked about, or with `silence` left to the host's own way. A policy
    that blocks such calls blocks them in either case. `grants` may permit what a human would be asked about.

    >>> from permitry import Session
    >>> guard = Guard(session=Session(yolo_mode=True))
    >>> with guard.check(guard.call("look", '{"path": "a"}')) as arguments:
    ...     arguments
    {'path': 'a'}
    """

    unmatched: Literal["confirm", "silence"] = attrs.field(
        default="confirm", kw_only=True, validator=attrs.validators.in_(("confirm", "silence"))
    )
    undo: Undo | None = attrs.field(default=None, kw_only=True, repr=False)
    """Keeps what permissions with `keep` let calls change; without it they permit nothing."""
    grants: Grants | None = attrs.field(default=None, kw_only=True, repr=False)
    _tools: Tools = attrs.field(factory=HostTools, init=False, repr=False)
    _deciding: set[tuple[Asker, str | None, str]] = attrs.field(factory=set, init=False, repr=False)
    # By the ids and digests of calls that may run, as a model may give one id to several: what was kept for them.
    _entries: dict[tuple[str | None, str], Kept] = attrs.field(factory=dict, init=False, repr=False)
    _modes_seen: set[str] = attrs.field(factory=lambda: {"default"}, init=False, repr=False)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.policy!r}>"

    # What a host does with a call ---------------------------------------------------------------------------------

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | str,
        *,
        call_id: str | None = None,
        server: str | None = None,
        shown: str | None = None,
        kind: PayloadKind = PayloadKind.FUNCTION,
    ) -> ToolCall | Refusal:
        """Return the call that a model made, or why it is none: `arguments` are an object or its JSON text.

        `shown` is the name by which the model knows the tool, where `name` is the one that rules use.
        """
        parts: dict[str, Any] = {"call_id": call_id, "server": server, "shown": shown, "kind": kind}

        def build() -> ToolCall:
            if isinstance(arguments, str):
                return ToolCall.from_json(name, arguments, **parts)
            return ToolCall(name, arguments, **parts)

        call = _built(build)
        if isinstance(call, ToolCall):
            return call
        return Refusal(f"The call was not understood: {call}. It did not run.", Cause.BAD_CALL)

    def check(
        self, call: ToolCall | Refusal, spec: ToolSpec | None = None, *, asked: bool = False
    ) -> Permit | Refusal | Ask | Silence:
        """Decide and record; the same call id with the same call gives the same outcome, without a second decision.

        `spec` is the host's declaration of the tool. `asked` says that the host knows of a question about this call,
        such as one that it stored before a restart: whatever the rules say by now, the call is asked about at least.

        A call that is left to the host is decided each time, as it may run each time, and so is one of which the guard
        learns that it was asked about. What is decided again counts again for budgets, never less strictly.

        Raises: `ValueError` for the declaration of another tool.
        """
        outcome = call if isinstance(call, Refusal) else self._decided(call, spec, is_asked=asked)
        if isinstance(outcome, Pending):
            return Ask(outcome.pending_id, outcome.request, outcome.decision)
        return self._for_host(outcome)

    def answer(self, pending_id: str, response: ToolConfirmationResponse) -> Permit | Refusal:
        """Answer an open question, once, and return what follows; an answer that comes second or late permits nothing.

        Raises: `TypeError` for anything that is not a response.
        """
        try:
            return self._for_host(self.resolve(pending_id, response))
        except LateAnswerError as error:
            return Refusal.of(self._unanswered_block(error.pending.call, error.pending.decision))
        except LedgerError:
            return Refusal(_NO_QUESTION, Cause.NOT_ASKED)

    def inline(self, call: ToolCall | Refusal, spec: ToolSpec | None = None) -> Permit | Refusal | Silence:
        """Decide, and ask on the channel if need be, for hosts that can wait for the answer."""
        outcome = call if isinstance(call, Refusal) else self._decided(call, spec)
        return self._for_host(self.ask(outcome) if isinstance(outcome, Pending) else outcome)

    async def ainline(self, call: ToolCall | Refusal, spec: ToolSpec | None = None) -> Permit | Refusal | Silence:
        """Do what `inline` does without blocking the event loop while a human thinks, or a disk writes."""
        outcome = call if isinstance(call, Refusal) else await self._off_loop(lambda: self._decided(call, spec))
        return self._for_host(await self.aask(outcome) if isinstance(outcome, Pending) else outcome)

    def _for_host(self, outcome: Ready | Blocked | Passed) -> Permit | Refusal | Passed:
        match outcome:
            case Ready() if not self._tools.is_open(outcome.authorized):
                return Refusal(already_handled(outcome.call), Cause.HANDLED, decision=outcome.decision)
            case Ready():
                record = self._run_record()
                return Permit(outcome.call, outcome.decision, outcome.authorized, self._redeem, record)
            case Blocked():
                return Refusal.of(outcome)
            case _:
                return outcome

    # Steps --------------------------------------------------------------------------------------------------------

    def _decided(
        self, call: ToolCall, spec: ToolSpec | None = None, *, is_asked: bool = False, runs: bool = False
    ) -> Decided:
        """Return what is kept of this call, or decide it; with `runs` it runs at once if it may."""
        if type(call) is not ToolCall and not isinstance(call, ToolCall):
            raise TypeError(f"a call is a ToolCall(name, arguments), not {safe_str(call, repr)}")
        is_given = call.call_id is not None
        if not is_given:
            # Not a sequence number: a model could use the same id for one of its calls.
            call = call.with_id(f"call-{self.ledger.new_id()}")
        call = self._tools.name(call)
        with self.session.lock:
            kept = self._kept(call)
            if kept is None or isinstance(kept, Silence) or (is_asked and self._withdraw(kept)):
                kept = self._first_decided(call, spec, kept, is_given=is_given, is_asked=is_asked, runs=runs)
                self.handled.keep(self._asker, call, kept, is_open=type(kept) is Pending)
            return kept

    def _first_decided(
        self, call: ToolCall, spec: ToolSpec | None, kept: Decided | None, *, is_given: bool, is_asked: bool, runs: bool
    ) -> Decided:
        key = (self._asker, call.call_id, call.digest)
        if key in self._deciding:
            raise LedgerError(f"the call `{call.call_id}` is being decided already")
        self._deciding.add(key)
        try:
            # Looked up once: what is decided on, recorded, asked about and authorized is one tool, even after a reload.
            spec = self._tools.declare(call, spec)
            if kept is None and self.handled.is_used(self._asker, call, is_given=is_given):
                return self._refused(call, spec, used_id(call, self.policy.version), Cause.HANDLED)
            if kept is None and is_given and self.ledger.is_durable:
                try:
                    earlier = self._earlier(call, spec)
                except LedgerError as error:
                    return self._refused(call, spec, unasked(str(error), self.policy.version), Cause.QUESTIONS)
                if earlier is not None:
                    return earlier
            return self._new(call, spec, kept, is_asked=is_asked, runs=runs)
        finally:
            self._deciding.discard(key)

    def _new(
        self, call: ToolCall, spec: ToolSpec | None, kept: Decided | None, *, is_asked: bool, runs: bool
    ) -> Decided:
        context = AuthContext.from_state(self.session)
        if self.session.host_mode not in self._modes_seen:
            self._modes_seen.add(self.session.host_mode)
            _warn_of_unknown_mode(self.session.host_mode, self.policy)
        decision, cause = self._tools.check(call, context, self.policy.decide(call, context, spec))
        if cause is not Cause.POLICY:
            # The error message of the tool: the model can correct the call, so no human has to be asked.
            return self._refused(call, spec, decision, cause)
        grant = None
        if self.grants is not None and not is_asked:
            decision, grant = self._granted(call, spec, kept, decision)
        if is_asked or kept is not None:
            decision = _pinned(decision, kept, is_asked=is_asked)
        if decision.keeps or self.session.shared is not None:
            asked = Asked(self.policy, call, context, spec)
            context, decision = self._prepared(asked, decision, is_asked=is_asked)
        details = decision_fields(decision)
        details["arguments"], details["mode"], details["tool_digest"] = call.to_dict(), context.mode, digest_of(spec)
        details["agent"] = context.agent
        # What is kept first is recorded in between.
        runs = runs and decision.verdict is Verdict.ALLOW and not decision.keeps
        is_started = runs and hasattr(self.recorder, "together")
        if not self._record("decided", call, details, is_started=is_started):
            return not_recorded(call, decision)
        match decision.verdict:
            case Verdict.BLOCK:
                return self._blocked(call, decision)
            case Verdict.CONFIRM:
                return self._unsettled(call, spec, context, decision, grant, is_asked=is_asked)
            case Verdict.ALLOW:
                return self._ready(call, spec, context, decision, is_started=is_started)
            case _:
                assert_never(decision.verdict)

    def _granted(
        self, call: ToolCall, spec: ToolSpec | None, kept: Decided | None, decision: Decision
    ) -> tuple[Decision, str | None]:
        """Return the decision with the grants, and the id of one that answers it; none lifts a block."""
        if self.grants is None or kept is not None or decision.verdict is not Verdict.CONFIRM:
            return decision, None
        return self.grants.taken(self.policy, call, self.session, spec, decision)

    def _unsettled(
        self,
        call: ToolCall,
        spec: ToolSpec | None,
        context: AuthContext,
        decision: Decision,
        grant: str | None = None,
        *,
        is_asked: bool,
    ) -> Decided:
        """Open a question about a call, or leave it to the host; `grant` is an answer to it that was given before."""
        if grant is not None:
            if not self._record("answered", call, {"approved": True, "grant": grant}):
                return not_recorded(call, decision)
            return self._ready(call, spec, context, decision, approved=True)
        if self._runs_unasked(decision, is_asked=is_asked):
            # The host may let it run, so that it counts like a call that may.
            self.session.apply(call, self.policy.side_effects(call, context, spec))
            return Silence(call, decision)
        try:
            return self._pending(call, spec, decision)
        except FullLedgerError as error:
            return self._refused(call, spec, too_many_questions(decision, str(error)), Cause.QUESTIONS)
        except LedgerError as error:
            return self._refused(call, spec, unasked(str(error), decision.policy_version), Cause.QUESTIONS)

    def _prepared(self, asked: Asked, decision: Decision, *, is_asked: bool) -> tuple[AuthContext, Decision]:
        """Count a call that may run, and keep what it changes; return what is decided then, and in which context."""
        if self.session.shared is not None:
            runs = functools.partial(self._runs_unasked, is_asked=is_asked)
            asked, decision = charged(self.session, asked, decision, runs)
        return asked.context, self._kept_first(asked, decision) if decision.keeps else decision

    def _runs_unasked(self, decision: Decision, *, is_asked: bool) -> bool:
        """Return whether a call may run by this decision: it is allowed, or left to the host."""
        is_left = self.unmatched == "silence" and decision.phase is Phase.DEFAULT and not is_asked
        return decision.verdict is Verdict.ALLOW or (decision.verdict is Verdict.CONFIRM and is_left)

    def _withdraw(self, outcome: Decided) -> bool:
        """Withdraw a permit that no human gave, so that its call is asked about; return whether that worked."""
        if not isinstance(outcome, Ready) or outcome.is_approved:
            return False
        try:
            self._tools.redeem(outcome.authorized)
        except ReplayError:
            return False
        return True

    def _judged(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Decision:
        """Return what the rules say here: permissions with `keep` say nothing where nothing keeps."""
        decision = self.policy.decide(call, context, spec)
        is_kept = self.undo is not None or not decision.keeps
        return decision if is_kept else decided_unkept(Asked(self.policy, call, context, spec), decision, NOTHING_KEEPS)

    def _kept_first(self, asked: Asked, decision: Decision) -> Decision:
        """Keep what an allowed call changes; where that is not possible, return what is decided without that."""
        if decision.verdict is not Verdict.ALLOW:
            return decision
        decision, kept = kept_first(asked, decision, self.undo, str(getattr(self.recorder, "session", self.session.id)))
        if kept is not None:
            self._entries[asked.call.call_id, asked.call.digest] = kept
        return decision

    def _is_noted(self, call: ToolCall) -> bool:
        """Record what was kept for a call that is about to run, if anything, and return whether that worked."""
        kept = self._entries.get((call.call_id, call.digest))
        return kept is None or self._record("kept", call, {"entry": kept.entry})

    def _redeem(self, authorized: AuthorizedCall) -> ToolCall:
        # Of the tools that there are when it runs: a permit does not outlive the registry that it was given for.
        return self._tools.redeem(authorized)

    def _run_record(self, *, is_started: bool = False) -> RunRecord:
        """Return what records a run, of which the start may be on record already."""
        if self.undo is None:
            return RunRecord(self.recorder, self.session.returned, is_started=is_started)
        return RunRecord(self.recorder, self.session.returned, self._starting, self._ended, is_started)

    def _starting(self, call: ToolCall) -> None:
        """Keep again what has changed since the decision, so that this change is not undone with the call.

        Raises: `UndoError`, and what the recorder raises; then the call must not run.
        """
        kept = self._entries.get((call.call_id, call.digest))
        if kept is None or self.undo is None:
            return
        renewed = kept.renewed(self.undo)
        if renewed != kept:
            self._entries[call.call_id, call.digest] = renewed
            self.recorder.record("kept", call, entry=renewed.entry)

    def _ended(self, call: ToolCall) -> None:
        kept = self._entries.pop((call.call_id, call.digest), None)
        if kept is not None and self.undo is not None:
            self.undo.ended(kept.entry)

    def _blocked(self, call: ToolCall, decision: Decision, cause: Cause = Cause.POLICY) -> Blocked:
        text = (
            decision.message
            if cause in (Cause.MISFIT, Cause.UNAVAILABLE)
            else self.notifier.blocked(call.shown or call.tool, decision)
        )
        return Blocked(call, decision, ToolResult(False, text or ""), cause)

    def _ready(
        self,
        call: ToolCall,
        spec: ToolSpec | None,
        context: AuthContext,
        decision: Decision,
        *,
        approved: bool = False,
        is_started: bool = False,
    ) -> Ready | Blocked:
        if decision.keeps and not self._is_noted(call):
            return not_recorded(call, decision)
        if approved and self.session.shared is not None:
            now = charged_approved(self.session, Asked(self.policy, call, context, spec), decision)
            if now.verdict is Verdict.BLOCK:
                return self._refused(call, spec, now, Cause.POLICY)
        try:
            record = self._run_record(is_started=is_started)
            created = self._tools.authorize(call, spec, context, record, self.session)
        except UnknownToolError:
            # The tool was replaced between the decision and the authorization.
            if is_started:
                self._record("finished", call, {"ok": False, "outcome": "refused", "seconds": 0.0, "error": None})
            return self._refused(call, self._tools.declare(call, spec), changed_tool(call, decision), Cause.POLICY)
        if decision.keeps:
            # What was kept is remembered for as long as the call may run.
            weakref.finalize(created, self._entries.pop, (call.call_id, call.digest), None).atexit = False
        # Side effects apply when a call may run, not when it runs: of calls begun together, each counts for the next.
        self.session.apply(call, self.policy.side_effects(call, context, spec))
        return Ready(call, decision, created, approved)

    def _refused(self, call: ToolCall, spec: ToolSpec | None, decision: Decision, cause: Cause) -> Blocked:
        """Block a call that no rule blocks, and record that."""
        own = {"arguments": call.to_dict(), "edited": False, "tool_digest": digest_of(spec)}
        if not self._record("decided", call, decision_fields(decision) | own):
            return not_recorded(call, decision)
        return self._blocked(call, decision, cause)

    def _approved(self, question: PendingConfirmation, response: ToolConfirmationResponse) -> Ready | Blocked:
        edited = response.arguments
        if edited is None:
            return self._decided_again(question.call, question, response)
        call = _built(lambda: self._tools.name(attrs.evolve(question.call, arguments=edited)))
        if isinstance(call, ToolCall):
            return self._decided_again(call, question, response)
        result = ToolResult(False, f"The edited arguments cannot be used: {call}.")
        return Blocked(question.call, question.decision, result, Cause.BAD_EDIT)

    def _decided_again(
        self, call: ToolCall, question: PendingConfirmation, response: ToolConfirmationResponse
    ) -> Ready | Blocked:
        # INVARIANT: law 1. The answer is for these very arguments and this very tool, and no answer lifts a BLOCK.
        context, spec = AuthContext.from_state(self.session), self._tools.declare(call, question.spec)
        now, cause = self._tools.check(call, context, self.policy.decide(call, context, spec))
        if now.verdict is not Verdict.BLOCK and digest_of(spec) != digest_of(question.spec):
            now, cause = changed_tool(call, now), Cause.POLICY
        is_edited = call.digest != question.call.digest
        decision = now if is_edited or now.verdict is Verdict.BLOCK else question.decision
        if is_edited or decision is not question.decision:
            details = {"arguments": call.to_dict(), "edited": is_edited, "tool_digest": digest_of(spec)}
            if not self._record("decided", call, decision_fields(decision) | details):
                return not_recorded(call, decision)
        if decision.verdict is Verdict.BLOCK:
            return self._blocked(call, decision, cause)
        outcome = self._ready(call, spec, context, decision, approved=True)
        is_asked_anyway = question.decision.is_question_of_rule or now.is_question_of_rule
        if response.is_remembered and isinstance(outcome, Ready) and not is_asked_anyway:
            self.session.ignore(call.tool)
        return outcome


def _pinned(decision: Decision, kept: Decided | None, *, is_asked: bool) -> Decision:
    """Return the decision about a call that was asked about, or left to the host, before."""
    # INVARIANT: law 6. A rule that changed while someone asked a human makes no run of a "no".
    if decision.verdict is not Verdict.ALLOW:
        return decision
    return asked_before(decision) if is_asked or kept is None else kept.decision


def _built(build: Callable[[], ToolCall]) -> ToolCall | str:
    """Return a call, or why it cannot be built."""
    try:
        return build()
    except Exception as error:  # noqa: BLE001 -- arguments from outside may fail in any way
        return safe_str(error)


def _warn_of_unknown_mode(mode: str, policy: AuthorizationPolicy) -> None:
    """Log a warning for a mode that no rule of a file names: a misspelt `plan` would be a session without plan mode."""
    scopes = (rule.scope for rule in policy.rules if isinstance(rule, ConfiguredRule))
    if not any(mode in scope.modes for scope in scopes):
        _LOG.warning("no rule knows the mode `%s`; %s", mode, nearest(mode.lower(), ("plan", "yolo", "default")))
