"""The ledger: which questions are open, and that each is answered once, in time, for one call."""

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from typing import ClassVar

import attrs

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.decision import Decision
from permitry.core.spec import ToolSpec
from permitry.errors import FullLedgerError, LateAnswerError, LedgerError
from permitry.guard.handled import Asker

__all__ = ["ConfirmationLedger", "EarlierQuestion", "Ledger", "PendingConfirmation", "digest_of"]


@attrs.frozen
class PendingConfirmation:
    """A call that waits for an answer; `deadline` is on the ledger's clock.

    `spec` is the tool's declaration when the question was asked: the answer is about that tool. None for an undeclared
    tool. `asker` is who made the call: the answer is for no other session or agent. Once it is closed, `response` is
    the answer that counts, if any; `answered_by` is who gave an answer from elsewhere.
    """

    pending_id: str
    call: ToolCall
    decision: Decision
    deadline: float
    spec: ToolSpec | None = attrs.field(default=None, repr=False)
    asker: Asker | None = attrs.field(default=None, repr=False)
    process: int = attrs.field(factory=os.getpid, repr=False)
    response: ToolConfirmationResponse | None = None
    answered_by: str | None = None


@attrs.frozen
class EarlierQuestion:
    """A question about a call that was asked before this process was started.

    Once it is closed, `response` is the answer that it got, if any. `is_recorded` says that the decision to ask is on
    record for a call by this very id. `dropped` says why an answer that it had does not count. With `takes_grants` a
    grant answers it while it is open.
    """

    pending: PendingConfirmation
    response: ToolConfirmationResponse | None
    is_open: bool
    is_recorded: bool = True
    dropped: str | None = None
    takes_grants: bool = False


# What is set later is not validated: attrs would do that for every question, twice.
@attrs.define(on_setattr=attrs.setters.NO_OP)
class Ledger:
    """Knows which questions are open, by pending id. Each can be claimed once, before its deadline. Thread-safe.

    At most `most` are open, with at most `size` bytes of arguments; none is dropped for another. `new_id` gives
    unguessable ids. Only one that `is_durable` knows of answers from elsewhere, and of questions from before this
    process was started.
    """

    is_durable: ClassVar[bool] = False
    new_id: Callable[[], str] = attrs.field(default=lambda: secrets.token_urlsafe(9), kw_only=True, repr=False)
    most: int = attrs.field(default=1_000, kw_only=True, validator=attrs.validators.ge(0))
    size: int = attrs.field(default=64 * 1024 * 1024, kw_only=True, validator=attrs.validators.ge(0))
    _open: dict[str, PendingConfirmation] = attrs.field(factory=dict, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    def open(
        self,
        call: ToolCall,
        decision: Decision,
        spec: ToolSpec | None = None,
        asker: Asker | None = None,
        request: ToolConfirmationRequest | None = None,
    ) -> PendingConfirmation:
        """Note a question and return it with its id; `request` is what a human is shown.

        Raises: `FullLedgerError` when too many are open; `LedgerError`.
        """
        return self._keep(PendingConfirmation(self.new_id(), call, decision, 0.0, spec, asker), request)

    def _keep(self, question: PendingConfirmation, request: ToolConfirmationRequest | None) -> PendingConfirmation:
        """Return a question with its deadline, now that it is kept."""
        raise NotImplementedError

    def find(self, pending_id: str) -> PendingConfirmation | None:
        """Return an open question of this process without closing it, or None."""
        question = self._open.get(pending_id)
        # A fork copies the ledger as well; a question stays with the process that asked it.
        return question if question is not None and question.process == os.getpid() else None

    def answer(self, _pending_id: str) -> ToolConfirmationResponse | None:
        """Return an answer that was given elsewhere, and is still to be claimed; `LedgerError` if that is not known."""
        return None

    def claim(self, pending_id: str, response: ToolConfirmationResponse | None = None) -> PendingConfirmation:
        """Close a question with its answer, and return it; this succeeds once per id.

        Where there is no `response`, an answer that was given elsewhere is the answer.

        Raises: `LedgerError` when the id is unknown or already answered; `LateAnswerError` past the deadline.
        """
        raise NotImplementedError

    def expire(self) -> list[PendingConfirmation]:
        """Close the questions past their deadlines, and return those of this process."""
        raise NotImplementedError

    def earlier(self, _call: ToolCall, _spec: ToolSpec | None, _asker: Asker) -> EarlierQuestion | None:
        """Return what is known of an earlier question of this asker about a call by this id."""
        return None

    def __len__(self) -> int:
        """Return how many questions of this process are open."""
        return len(self._open)

    def _remove(self, pending_id: str) -> PendingConfirmation | None:
        return self._open.pop(pending_id, None)

    def _remove_late(self, names: Iterable[str]) -> list[PendingConfirmation]:
        late = [self._remove(name) for name in names]
        return [each for each in late if each is not None and each.process == os.getpid()]


@attrs.define(on_setattr=attrs.setters.NO_OP)
class ConfirmationLedger(Ledger):
    """Open questions in memory. `lifetime` is in seconds; `clock` gives seconds and never runs backwards."""

    lifetime: float = 3600.0
    clock: Callable[[], float] = time.monotonic
    _taken: int = attrs.field(default=0, init=False, repr=False)

    def _keep(self, question: PendingConfirmation, _request: ToolConfirmationRequest | None) -> PendingConfirmation:
        question, size = attrs.evolve(question, deadline=self.clock() + self.lifetime), len(question.call.canonical)
        with self._lock:
            if question.pending_id in self._open:
                raise LedgerError(f"the id `{question.pending_id}` is already in use")
            if len(self._open) >= self.most or self._taken + size > self.size:
                raise FullLedgerError(f"at most {self.most:,} at once, with {self.size:,} bytes of arguments")
            self._taken += size
            self._open[question.pending_id] = question
        return question

    def claim(self, pending_id: str, response: ToolConfirmationResponse | None = None) -> PendingConfirmation:
        """Close a question and return it; this succeeds once per id."""
        with self._lock:
            question = self._remove(pending_id)
        if question is None or question.process != os.getpid():
            raise LedgerError(f"no open question has the id `{pending_id}`: it is unknown or already answered")
        if self.clock() > question.deadline:
            raise LateAnswerError(f"the answer to `{pending_id}` came too late; the call stays blocked", question)
        return attrs.evolve(question, response=response)

    def expire(self) -> list[PendingConfirmation]:
        """Close the questions past their deadlines, and return those of this process."""
        now = self.clock()
        with self._lock:
            return self._remove_late([name for name, each in self._open.items() if now > each.deadline])

    def _remove(self, pending_id: str) -> PendingConfirmation | None:
        question = super()._remove(pending_id)
        if question is not None:
            self._taken -= len(question.call.canonical)
        return question


def digest_of(spec: ToolSpec | None) -> str | None:
    """Return the digest of a declaration; None for a tool that is not declared."""
    return None if spec is None else spec.digest
