"""The ledger in a store: what is asked and answered outlasts the process."""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import attrs

from permitry.channels.clock import Moment
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import Row, StoredQuestion, answer_text, row_of
from permitry.core.call import ToolCall
from permitry.core.json_values import parse_json
from permitry.core.spec import ToolSpec
from permitry.errors import FullLedgerError, LateAnswerError, LedgerError, StoreError, safe_str
from permitry.guard.handled import Asker
from permitry.guard.ledger import EarlierQuestion, Ledger, PendingConfirmation, digest_of
from permitry.store.questions import StoredQuestions

__all__ = ["StoredLedger"]

_DROPPED = "the answer does not count: it is too old, or the tool has changed since"


@attrs.define
class StoredLedger(Ledger):
    """Open questions in a store. Each is answered once, in time, here or by another process.

    A call that comes with the id, session and agent of one that was asked about before, in another process, is not
    asked about again: give its `Session` the same `id`. An answer that came in time counts for as long again after the
    deadline. `approvers` are the names of those who may answer; all, where there are none. `redact` leaves secrets out
    of what is kept of a call and of an answer when the question is closed. `above` are the processes below which no one
    may answer; this one and the one that started it, where it is None. `clock` is for tests.

    All methods raise `LedgerError` where the store is away, or what it has is damaged.
    """

    is_durable: ClassVar[bool] = True
    store: StoredQuestions
    redact: Callable[[Any], Any] = attrs.field(repr=False)
    lifetime: float = attrs.field(default=3600.0, kw_only=True)
    approvers: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    above: tuple[int, ...] | None = attrs.field(default=None, kw_only=True)
    clock: Callable[[], Moment] = attrs.field(default=Moment.now, kw_only=True, repr=False)
    # As it is typed by a human: no sign that a shell or an eye could take for another.
    new_id: Callable[[], str] = attrs.field(default=lambda: secrets.token_hex(8), kw_only=True, repr=False)

    def _keep(self, question: PendingConfirmation, request: ToolConfirmationRequest | None) -> PendingConfirmation:
        now, call = self.clock(), question.call
        deadline = now.after(self.lifetime)
        session, agent = question.asker or ("", "")
        stored = StoredQuestion(
            question.pending_id, session, agent, call.tool, call.digest, question.decision, None,
            digest_of(question.spec), self.approvers, self._above, now.wall, deadline,
        )  # fmt: skip
        row = row_of(stored, request or ToolConfirmationRequest(call), self.redact)
        with _ledger_errors():
            is_kept = self.store.add(row, self.most, self.size)
        if not is_kept:
            raise FullLedgerError(f"at most {self.most:,} at once, with {self.size:,} bytes of calls")
        question = attrs.evolve(question, deadline=deadline.wall)
        with self._lock:
            self._open[question.pending_id] = question
        return question

    def find(self, pending_id: str) -> PendingConfirmation | None:
        """Return an open question of this process, or None; also where the store is away."""
        pending = super().find(pending_id)
        try:
            if pending is not None and self._find_open(pending_id) is not None:
                return pending
        except StoreError:
            return None
        return None

    def answer(self, pending_id: str) -> ToolConfirmationResponse | None:
        """Return the answer to an open question that was given elsewhere, or None."""
        with _ledger_errors():
            row = self._find_open(pending_id)
        if row is None or row["answer"] is None:
            return None
        return StoredQuestion.of(row).response

    def claim(self, pending_id: str, response: ToolConfirmationResponse | None = None) -> PendingConfirmation:
        """Close a question of this process with its answer, once, and return it; one from elsewhere counts first."""
        pending = super().find(pending_id)
        if pending is None:
            raise LedgerError(f"no open question has the id `{pending_id}`: it is unknown or already answered")
        with _ledger_errors():
            # An answer that comes in between is the one that counts, and never changes.
            claimed = self._settle(pending, response) or self._settle(pending, response)
        if claimed is None:
            raise _already_answered(pending_id)
        self._open.pop(pending_id, None)
        return claimed

    def _settle(
        self, pending: PendingConfirmation, response: ToolConfirmationResponse | None
    ) -> PendingConfirmation | None:
        """Close a question with the answer that came first; None where it is closed, or was answered in between."""
        name = pending.pending_id
        row = self._find_open(name)
        if row is None:
            return None
        has = row["answer"]
        if has is not None:
            first = StoredQuestion.of(row).response
            if response is not None and response != first:
                raise _already_answered(name)
            response, pending = first, attrs.evolve(pending, answered_by=row["answered_by"])
        if response is None:
            return pending if self.store.close(name, self.clock()) else None
        if self.store.take(name, has, self._text_to_keep(response), self.clock()):
            return attrs.evolve(pending, response=response)
        if self.store.close(name, self.clock(), has):
            self._open.pop(name, None)
            raise LateAnswerError(f"the answer to `{name}` came too late; the call stays blocked", pending)
        return None

    def _find_open(self, name: str) -> Row | None:
        row = self.store.find(name)
        if row is None or row["closed_at"] is not None:
            return None
        return row

    def expire(self) -> list[PendingConfirmation]:
        """Close the questions that can get no answer any more, and return those that this process asked."""
        try:
            names = self.store.expire(self.clock())
        except StoreError:
            return []
        return self._remove_late(names)

    def earlier(self, call: ToolCall, spec: ToolSpec | None, asker: Asker) -> EarlierQuestion | None:
        """Return what is known of a call that was asked about in another process."""
        with _ledger_errors():
            row = self._find_row(call, asker)
            if row is None:
                return None
            question = StoredQuestion.of(row)
            pending = PendingConfirmation(question.id, call, question.decision, question.deadline.wall, spec, asker)
            if not self._counts(question, spec):
                return self._drop(question, pending, row["answer"])
        if not question.is_closed:
            with self._lock:
                self._open[question.id] = pending
        response = question.response if question.is_closed else None
        return EarlierQuestion(pending, response, not question.is_closed, row["call_id"] == (call.call_id or ""))

    def _drop(self, question: StoredQuestion, pending: PendingConfirmation, has: str | None) -> EarlierQuestion:
        """Close an open question without an answer; the one that it `has` does not count."""
        self.store.close(question.id, self.clock(), has)
        pending = attrs.evolve(pending, answered_by=question.answered_by)
        return EarlierQuestion(pending, None, is_open=False, dropped=None if has is None else _DROPPED)

    def _find_row(self, call: ToolCall, asker: Asker) -> Row | None:
        return self.store.earlier(*asker, call.call_id or "", call.digest)

    @property
    def _above(self) -> tuple[int, ...]:
        return (os.getpid(), os.getppid()) if self.above is None else self.above

    def _text_to_keep(self, response: ToolConfirmationResponse) -> str:
        """Return an answer as it is kept of a closed question."""
        try:
            # The parts that can hold a secret, as plain JSON.
            arguments = None if response.arguments is None else parse_json(answer_text(response))["arguments"]
            said = {"instructions": response.instructions, "arguments": arguments, "result": response.result}
            return answer_text(attrs.evolve(response, **self.redact(said)))
        except (RecursionError, TypeError, ValueError) as error:
            raise LedgerError(f"the answer cannot be kept: {safe_str(error)}") from error

    def _counts(self, question: StoredQuestion, spec: ToolSpec | None) -> bool:
        """Return whether an open question is about the tool as it is now, and is answered in time or can be."""
        if question.is_closed:
            return True
        last = question.deadline if question.response is None else question.deadline.after(self.lifetime)
        is_same = question.spec == digest_of(spec)
        return is_same and not self.clock().is_past(last, question.asked_at)


@contextlib.contextmanager
def _ledger_errors() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise LedgerError(str(error)) from error


def _already_answered(name: str) -> LedgerError:
    return LedgerError(f"no open question has the id `{name}`: it is already answered")
