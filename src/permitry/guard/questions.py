"""The questions of one session: a human is asked about calls; each answer is bound to its call and counts once."""

import contextlib
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

import attrs

from permitry.audit.record import MemoryRecorder, Recorder, decision_fields, record_start
from permitry.channels.channel import (
    ConfirmationChannel,
    UnattendedChannel,
    check_channel,
)
from permitry.channels.notifier import ToolRejectionNotifier
from permitry.channels.request import ConfirmationRequestFactory, ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision
from permitry.core.policy import AuthorizationPolicy
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.apart import Apart
from permitry.dispatch.turn_diffs import TurnDiffs
from permitry.errors import FullLedgerError, LateAnswerError, LedgerError, safe_str
from permitry.guard.handled import Asker, HandledCalls
from permitry.guard.ledger import ConfirmationLedger, Ledger, PendingConfirmation
from permitry.guard.outcome import Blocked, Cause, Decided, Pending, Ready
from permitry.guard.refusal import already_handled
from permitry.guard.session import Session

__all__ = ["Questions", "check_policy"]

T = TypeVar("T")

_LOG = logging.getLogger("permitry.questions")
_NOT_RECORDED = "The call could not be recorded, so it did not run. Tell the user; do not retry."


def check_policy(_: object, __: object, policy: object) -> None:
    """Raise for what is not a policy, and say how to make one of it.

    Raises: `TypeError`.
    """
    if isinstance(policy, AuthorizationPolicy):
        return
    if isinstance(policy, (str, os.PathLike)):
        hint = f"load it first: policy=load_policy({os.fspath(policy)!r})"
    else:
        hint = "use load_policy(...) for rule files, or AuthorizationPolicy(rules) for rules"
    raise TypeError(f"`policy` must be an AuthorizationPolicy, not {safe_str(policy, repr)}; {hint}")


@attrs.define
class Questions(TurnDiffs):
    """What a `ToolHandler` does without knowing any tool: ask about calls, settle answers, record both. Thread-safe."""

    policy: AuthorizationPolicy = attrs.field(factory=create_default_authorization_policy, validator=check_policy)
    session: Session = attrs.field(factory=Session)
    notifier: ToolRejectionNotifier = attrs.field(factory=ToolRejectionNotifier)
    factory: ConfirmationRequestFactory = attrs.field(factory=ConfirmationRequestFactory, kw_only=True)
    channel: ConfirmationChannel = attrs.field(factory=UnattendedChannel, kw_only=True, validator=check_channel)
    ledger: Ledger = attrs.field(factory=ConfirmationLedger, kw_only=True, repr=False)
    recorder: Recorder = attrs.field(factory=MemoryRecorder, kw_only=True, repr=False)
    handled: HandledCalls[Decided] = attrs.field(factory=HandledCalls, kw_only=True, repr=False)
    _apart: Apart = attrs.field(factory=Apart, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Raise `RuleError` when the rules or the lists of the session cannot be used with the policy."""
        for context in AuthContext.from_state(self.session).lineage():
            self.policy.within(context)

    def ask(self, pending: Pending) -> Ready | Blocked:
        """Ask on the channel, wait for the answer, and resolve the question; if the channel fails, the call is blocked.

        Where the ledger is durable, an answer from elsewhere that comes first counts, and ends the wait: a channel that
        is not async is asked in a thread then.

        An interrupt (Ctrl-C, a cancelled task) is raised to the caller: nothing ran, and the question stays open.
        """
        from permitry.dispatch.waiting import without_suspending  # noqa: PLC0415 -- asyncio, which a hook does not need

        return without_suspending(self._ask(pending, self._reply, _here))

    async def aask(self, pending: Pending) -> Ready | Blocked:
        """Do what `ask` does; an async channel is awaited, any other channel is called in a thread.

        The answer is recorded in a thread where that waits for a disk.
        """
        return await self._ask(pending, self._areply, self._off_loop)

    def resolve(self, pending_id: str, response: ToolConfirmationResponse) -> Ready | Blocked:
        """Answer an open question, once, and return what follows.

        The call is decided again, with edited arguments if there are any: a restriction that applies only since the
        question was asked still blocks. An answer is about the tool that was registered when the question was asked:
        if its declaration has changed since, the call is blocked, and the model is asked to make it again.

        Raises: `LedgerError` when the id is unknown, already answered, or late; `TypeError` for anything that is not a
        response.
        """
        if not isinstance(response, ToolConfirmationResponse):
            raise TypeError(f"an answer is a ToolConfirmationResponse, not {response!r}")
        with self.session.lock:
            try:
                question = self._claimed(pending_id, response)
            except LateAnswerError as error:
                self._close(error.pending, "the answer came too late", by=error.pending.answered_by)
                raise
            return self._conclude(question, response)

    def withdraw(self, pending_id: str, reason: str) -> None:
        """Close a question that no one will answer, so that its call is blocked.

        One that is closed stays as it is; one that was answered from elsewhere gets that answer.
        """
        self._closed(pending_id, reason)

    # Asking -----------------------------------------------------------------------------------------------------

    async def _ask(
        self,
        pending: Pending,
        reply: Callable[[ToolConfirmationRequest], Awaitable[object]],
        settle: "_Settle",
    ) -> Ready | Blocked:
        if not await settle(lambda: self._is_asked(pending)):
            return self._unanswered_block(pending.call, pending.decision)
        try:
            response = await reply(pending.request)
        except Exception as error:  # noqa: BLE001 -- whatever a channel does, the call must not run for it
            why = f"{type(error).__name__}: {safe_str(error)}"
            return await settle(lambda: self._unanswered(pending, why))
        except GeneratorExit as error:
            # A coroutine that is closed may not wait for anything.
            self._interrupted(pending, type(error).__name__)
            raise
        except BaseException as error:
            why = type(error).__name__
            await settle(lambda: self._interrupted(pending, why))
            raise
        return await settle(lambda: self._answered(pending, response))

    async def _off_loop(self, work: Callable[[], T], abandoned: Callable[[T], None] | None = None) -> T:
        """Return what `work` returns, which records; in a thread where that waits for a disk."""
        if not hasattr(self.recorder, "together"):
            return work()
        return await self._apart.run(work, abandoned)

    @property
    def _has_others(self) -> bool:
        """Whether a question may be answered on other ways than by the channel, which does not see that."""
        return self.ledger.is_durable and not getattr(self.channel, "is_stored", False)

    async def _reply(self, request: ToolConfirmationRequest) -> object:
        if not self._has_others:
            return self.channel.ask(request)
        from permitry.guard.first_answer import first_here  # noqa: PLC0415 -- asyncio, as above

        return first_here(self.channel, self.ledger, request)

    async def _areply(self, request: ToolConfirmationRequest) -> object:
        from permitry.guard.first_answer import await_channel, first_on_loop  # noqa: PLC0415 -- as above

        if not self._has_others:
            return await await_channel(self.channel, request)
        return await first_on_loop(self.channel, self.ledger, request)

    def _is_asked(self, pending: Pending) -> bool:
        """Return whether the question is open, and the request shows the very call it is about."""
        question = self.ledger.find(pending.pending_id)
        if question is None or question.asker != self._asker:
            return False
        return question.call == pending.call == pending.request.call

    def _pending(self, call: ToolCall, spec: ToolSpec | None, decision: Decision) -> Pending | Blocked:
        """Open a question about a call.

        Raises: `FullLedgerError`.
        """
        origins = self.policy.origins(call, AuthContext.from_state(self.session), spec)
        request = attrs.evolve(self.factory.create(call, decision, spec), origins=origins)
        question = self._opened(request, decision, spec)
        request = attrs.evolve(request, pending_id=question.pending_id)
        if not self._record("asked", call, {"pending_id": question.pending_id}):
            with contextlib.suppress(LedgerError):
                self.ledger.claim(question.pending_id)
            return not_recorded(call, decision)
        return Pending(question.pending_id, call, decision, request)

    def _opened(
        self, request: ToolConfirmationRequest, decision: Decision, spec: ToolSpec | None
    ) -> PendingConfirmation:
        """Open a question; if the ledger is full, questions past their deadline are closed first."""
        try:
            return self.ledger.open(request.call, decision, spec, self._asker, request)
        except FullLedgerError:
            late = self.ledger.expire()
            for question in late:
                # Others see for themselves that theirs are gone: see `_kept`.
                if question.asker == self._asker:
                    self._close(question, "no answer in time")
            if not late:
                raise
            return self.ledger.open(request.call, decision, spec, self._asker, request)

    # Answers ----------------------------------------------------------------------------------------------------

    def _answered(self, pending: Pending, response: object) -> Ready | Blocked:
        if response is None:
            return self._unanswered(pending, None)
        if not isinstance(response, ToolConfirmationResponse):
            given = safe_str(response, repr)
            return self._unanswered(pending, f"the channel answered {given}, not a ToolConfirmationResponse")
        try:
            return self.resolve(pending.pending_id, response)
        except LedgerError as error:
            return self._unanswered(pending, str(error))

    def _conclude(self, question: PendingConfirmation, response: ToolConfirmationResponse) -> Ready | Blocked:
        """Return what follows from the answer to a question that has been claimed, and keep it."""
        # If an interrupt comes before the outcome is known, the question counts as unanswered: the call is blocked.
        self._keep(self._unanswered_block(question.call, question.decision), question.call)
        outcome = self._settled(question, response)
        self._keep(outcome, question.call, outcome.call)
        return outcome

    def _claimed(self, pending_id: str, response: ToolConfirmationResponse | None = None) -> PendingConfirmation:
        """Claim a question of this session and agent; the guards of others may share the ledger.

        Raises: `LedgerError`.
        """
        question = self.ledger.find(pending_id)
        if question is not None and question.asker != self._asker:
            raise LedgerError(f"the question `{pending_id}` was asked somewhere else")
        return self.ledger.claim(pending_id, response)

    def _settled(self, question: PendingConfirmation, response: ToolConfirmationResponse) -> Ready | Blocked:
        call, decision = question.call, question.decision
        answer = {
            "pending_id": question.pending_id,
            "approved": response.is_approval,
            "by": question.answered_by,
            "skip_future": response.skip_future,
            "abort": response.abort,
            "instructions": response.instructions,
            "edited": response.arguments is not None,
        }
        if response.result is not None:
            answer |= {"responded": True, "result": response.result}
        if not self._record("answered", call, answer):
            return not_recorded(call, decision)
        if not response.is_approval:
            return self._declined(call, decision, response)
        return self._approved(question, response)

    def _approved(self, question: PendingConfirmation, response: ToolConfirmationResponse) -> Ready | Blocked:
        """Return what follows from an approval, which has been recorded."""
        raise NotImplementedError

    def _unanswered(self, pending: Pending, error: str | None) -> Ready | Blocked:
        closed = self._closed(pending.pending_id, error)
        # Another answer was taken already; it counts, and this one does not.
        return self._unanswered_block(pending.call, pending.decision) if closed is None else closed

    def _closed(self, pending_id: str, error: str | None) -> Ready | Blocked | None:
        """Close a question without an answer, unless it was answered from elsewhere: that answer counts."""
        with self.session.lock:
            try:
                question = self._claimed(pending_id)
            except LateAnswerError as late:
                question = late.pending
            except LedgerError:
                return None
            if question.response is None:
                return self._close(question, error, by=question.answered_by)
            if error:
                _LOG.warning("an answer from elsewhere counts, as it came first: %s", error)
            return self._conclude(question, question.response)

    def _interrupted(self, pending: Pending, error: str) -> None:
        """Record that the wait for an answer has ended while the question is still open."""
        if self.ledger.find(pending.pending_id) is not None:
            details = {"pending_id": pending.pending_id, "error": error}
            self._record("interrupted", pending.call, details)

    def _close(self, question: PendingConfirmation | Pending, error: str | None, *, by: str | None = None) -> Blocked:
        """Settle a question that is not open any more, without an approval; an answer `by` someone does not count."""
        call = question.call
        blocked = self._unanswered_block(call, question.decision, error or "")
        if error:
            _LOG.warning("no answer about a call of `%s`, so it is blocked: %s", call.tool, error)
        self._keep(blocked, call)
        author = {} if by is None else {"by": by}
        self._record("answered", call, {"pending_id": question.pending_id, "approved": False, "error": error, **author})
        return blocked

    def _unanswered_block(self, call: ToolCall, decision: Decision, note: str = "") -> Blocked:
        result = ToolResult(False, self.notifier.unanswered(call.shown or call.tool), note=note)
        return Blocked(call, decision, result, Cause.UNANSWERED)

    # Keeping ----------------------------------------------------------------------------------------------------

    @property
    def _asker(self) -> Asker:
        """Whose calls are decided: outcomes and questions of another session or agent are not found by these."""
        return self.session.id, self.session.agent

    def _kept(self, call: ToolCall) -> Decided | None:
        """Return what became of a call; one whose question is gone from a shared ledger was not answered."""
        kept = self.handled.find(self._asker, call)
        return self._open_still(kept) if isinstance(kept, Pending) else kept

    def _open_still(self, pending: Pending) -> Pending | Ready | Blocked:
        """Return what has become of a question meanwhile: it may have been answered elsewhere."""
        try:
            response = self.ledger.answer(pending.pending_id)
        except LedgerError as error:
            # It stays open: an answer may be found later.
            return self._unanswered_block(pending.call, pending.decision, str(error))
        if response is not None:
            return self._answered(pending, response)
        if self.ledger.find(pending.pending_id) is None:
            return self._close(pending, "the question is not open any more")
        return pending

    def _earlier(self, call: ToolCall, spec: ToolSpec | None) -> Decided | None:
        """Return what became of a call that was asked about before this process was started; None if none was.

        Raises: `LedgerError` when that cannot be known.
        """
        earlier = self.ledger.earlier(call, spec, self._asker)
        if earlier is None:
            return None
        question = earlier.pending
        if not earlier.is_recorded:
            own = {"arguments": call.to_dict(), "edited": False, "tool_digest": digest_of(spec)}
            if not self._record("decided", call, decision_fields(question.decision) | own):
                return not_recorded(call, question.decision)
        if earlier.is_open:
            request = attrs.evolve(self.factory.create(call, question.decision, spec), pending_id=question.pending_id)
            return self._open_still(Pending(question.pending_id, call, question.decision, request))
        if earlier.response is None:
            if earlier.dropped is not None:
                self._close(question, earlier.dropped, by=question.answered_by)
            return self._unanswered_block(call, question.decision)
        if earlier.response.is_approval:
            # INVARIANT: law 5. It may have run.
            return Blocked(call, question.decision, ToolResult(False, already_handled(call)), Cause.HANDLED)
        return self._declined(call, question.decision, earlier.response)

    def _declined(self, call: ToolCall, decision: Decision, response: ToolConfirmationResponse) -> Blocked:
        if response.result is not None:
            return Blocked(call, decision, ToolResult(True, response.result), Cause.RESPONDED)
        text = self.notifier.rejected(call.shown or call.tool, response)
        return Blocked(call, decision, ToolResult(False, text, ends_session=response.abort), Cause.DECLINED)

    def _keep(self, outcome: Decided, *calls: ToolCall) -> None:
        for call in calls:
            self.handled.keep(self._asker, call, outcome, is_open=isinstance(outcome, Pending))

    def _record(self, event: str, call: ToolCall, details: Mapping[str, object], *, is_started: bool = False) -> bool:
        """Record the event, and return whether that worked; a call that is not recorded must not run.

        With `is_started` the start of the call is recorded with it.
        """
        try:
            if is_started:
                record_start(self.recorder, call, details)
            else:
                self.recorder.record(event, call, **details)
        except Exception as error:  # noqa: BLE001 -- a sink may fail in any way, and each way means: not recorded
            _LOG.warning("`%s` of a call of `%s` could not be recorded: %s", event, call.tool, safe_str(error))
            return False
        return True


class _Settle(Protocol):
    """Returns what the work returns, which may wait for a disk."""

    def __call__(self, work: Callable[[], T], /) -> Coroutine[Any, Any, T]: ...


async def _here(work: Callable[[], T]) -> T:
    return work()


def not_recorded(call: ToolCall, decision: Decision) -> Blocked:
    """Return the block of a call that could not be recorded."""
    return Blocked(call, decision, ToolResult(False, _NOT_RECORDED), Cause.NOT_RECORDED)


def digest_of(spec: ToolSpec | None) -> str | None:
    """Return the digest of a declaration; None for a tool that is not declared."""
    return None if spec is None else spec.digest
