"""`Guard`: decide, ask, answer and record the calls that a host runs itself."""

from collections.abc import Mapping
from typing import Any, TypeVar

import attrs

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ToolSpec
from permitry.dispatch.apart import without_suspending
from permitry.dispatch.authorized import AuthorizedCall
from permitry.errors import LateAnswerError, LedgerError, safe_str
from permitry.guard.asking import ask, do_work, take_answer
from permitry.guard.case import Case, Parts
from permitry.guard.line import decide_call, settle_answer, withdraw
from permitry.guard.open_questions import give_no_answer
from permitry.guard.outcome import Ask, Blocked, Cause, Decided, Pending, Permit, Ready, Redeemed, Refusal, Silence
from permitry.guard.refusal import already_handled

__all__ = ["Guard"]

Passed = TypeVar("Passed", bound=Refusal | Silence)

_NO_QUESTION = "No question about this call is open, so it did not run. Make the call again if you still need it."


@attrs.define(repr=False)
class Guard(Parts):
    """Decides, asks about and records the calls of a host that runs its tools itself. Thread-safe.

    One guard serves one session: calls of a sub-agent go to a guard of `session.child(...)`. `unmatched` says what
    becomes of calls that no rule is about: they are asked about, or with `silence` left to the host's own way. A policy
    that blocks such calls blocks them in either case. `grants` may permit what a human would be asked about. Where the
    host shows questions itself (`asked_by`) and does not report their answers, a call counts when it is asked about.

    >>> from permitry import Session
    >>> guard = Guard(session=Session(yolo_mode=True))
    >>> with guard.check(guard.call("look", '{"path": "a"}')) as arguments:
    ...     arguments
    {'path': 'a'}
    """

    def __attrs_post_init__(self) -> None:
        """Raise `RuleError` when the session's rules or lists cannot be used with the policy."""
        for context in AuthContext.from_state(self.session).lineage():
            self.policy.within(context)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.policy!r}>"

    # What a host does with a call -----------------------------------------------------------------

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

        `shown` is the name that the model knows, where `name` is the one that rules use.
        """
        make = ToolCall.from_json if isinstance(arguments, str) else ToolCall
        given: Any = arguments
        try:
            return make(name, given, call_id=call_id, server=server, shown=shown, kind=kind)
        except Exception as error:  # noqa: BLE001 -- arguments from outside may fail in any way
            text = f"The call was not understood: {safe_str(error)}. It did not run."
            return Refusal(text, Cause.BAD_CALL)

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
        outcome = call if isinstance(call, Refusal) else self.begin(call, spec, is_asked=asked)
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
            return Refusal.of(give_no_answer(error.pending, self))
        except LedgerError:
            return Refusal(_NO_QUESTION, Cause.NOT_ASKED)

    def inline(self, call: ToolCall | Refusal, spec: ToolSpec | None = None) -> Permit | Refusal | Silence:
        """Decide, and ask on the channel if need be, for hosts that can wait for the answer."""
        return without_suspending(self._inline(call, spec, is_on_loop=False))

    async def ainline(self, call: ToolCall | Refusal, spec: ToolSpec | None = None) -> Permit | Refusal | Silence:
        """Do what `inline` does without blocking the event loop while a human thinks, or a disk writes."""
        return await self._inline(call, spec, is_on_loop=True)

    async def _inline(
        self, call: ToolCall | Refusal, spec: ToolSpec | None, *, is_on_loop: bool
    ) -> Permit | Refusal | Silence:
        if isinstance(call, Refusal):
            return call
        outcome = await do_work(self, lambda: self.begin(call, spec), is_on_loop=is_on_loop)
        if isinstance(outcome, Pending):
            outcome = await ask(outcome, self, is_on_loop=is_on_loop)
        return self._for_host(outcome)

    def _for_host(self, outcome: Ready | Blocked | Passed) -> Permit | Refusal | Passed:
        match outcome:
            case Ready() if not self.tools.is_open(outcome.authorized):
                return Refusal(already_handled(outcome.call), Cause.HANDLED, decision=outcome.decision)
            case Ready():
                return Permit(
                    outcome.call, outcome.decision, outcome.authorized, self._redeem, outcome.approved_by
                )  # fmt: skip
            case Blocked():
                return Refusal.of(outcome)
            case _:
                return outcome

    def _redeem(self, authorized: AuthorizedCall) -> Redeemed:
        # Of the tools of that moment: a permit does not outlive the registry that it was given for.
        return self.tools.redeem(authorized)

    # The way of a call ----------------------------------------------------------------------------

    def begin(
        self, call: ToolCall, spec: ToolSpec | None = None, *, is_asked: bool = False, runs: bool = False
    ) -> Decided:
        """Return what is kept of this call, or decide and record it: see `check`, which is this in terms of a host.

        With `runs` it runs at once if it may, so that its start is recorded with the decision.

        Raises: `TypeError` for what is not a call; `ValueError` for another tool's declaration.
        """
        if type(call) is not ToolCall and not isinstance(call, ToolCall):
            raise TypeError(f"a call is a ToolCall(name, arguments), not {safe_str(call, repr)}")
        is_given = call.call_id is not None
        if not is_given:
            # Not a sequence number: a model could use the same id for one of its calls.
            call = call.with_id(f"call-{self.ledger.new_id()}")
        return decide_call(Case(self.tools.name(call), is_given, is_asked, runs, spec), self)

    def ask(self, pending: Pending) -> Ready | Blocked:
        """Ask on the channel, wait for the answer, and resolve the question; if the channel fails, the call is blocked.

        Where the ledger is durable, an answer from elsewhere that comes first counts, and ends the wait: a channel that
        is not async is asked in a thread then.

        An interrupt (Ctrl-C, a cancelled task) is raised to the caller: nothing ran, and the question stays open.
        """
        return without_suspending(ask(pending, self, is_on_loop=False))

    async def aask(self, pending: Pending) -> Ready | Blocked:
        """Do what `ask` does; an async channel is awaited, any other channel is called in a thread.

        The answer is recorded in a thread where that waits for a disk.
        """
        return await ask(pending, self, is_on_loop=True)

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
        return settle_answer(pending_id, response, self)

    def take_answer(self, pending: Pending, response: object) -> Ready | Blocked:
        """Return what follows from whatever was answered to a question: anything but an answer blocks its call."""
        return take_answer(pending, self, response)

    def count(self, call: ToolCall) -> None:
        """Count a call that may run without this guard, also beyond budgets that are spent, and set what it sets.

        Raises: `StoreError` where it cannot be counted; then it must not run.
        """
        with self.session.lock:
            context = AuthContext.from_state(self.session)
            effects = self.policy.side_effects(call, context)
            if self.session.shared is not None and effects.shared:
                self.session.shared.charge(effects.shared)
            self.session.apply(call, effects)

    def withdraw(self, pending_id: str, reason: str) -> None:
        """Close a question that no one will answer, so that its call is blocked.

        One that is closed stays as it is; one that was answered from elsewhere gets that answer.
        """
        withdraw(pending_id, self, reason)

    # What a turn changed --------------------------------------------------------------------------

    def begin_turn(self) -> None:
        """Begin a turn, as the user has written: `turn_diff` is relative to what is there now."""
        self.session.begin_turn()
        if self.tracker is not None:
            self.tracker.begin()

    def turn_diff(self) -> str | None:
        """Return all changes since the turn began, made by a tool or not; empty for no changes, None without a tracker.

        Raises: `PermitryError` when no turn has begun.
        """
        return None if self.tracker is None else self.tracker.diff()
