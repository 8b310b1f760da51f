"""The ledger: which questions are open, and that each is answered once, in time, for one call."""

import os
import secrets
import threading
import time
from collections.abc import Callable

import attrs

from permitry.core.call import ToolCall
from permitry.core.decision import Decision
from permitry.errors import LateAnswerError, LedgerError

__all__ = ["ConfirmationLedger", "PendingConfirmation"]


def _new_id() -> str:
    return secrets.token_urlsafe(9)


@attrs.frozen
class PendingConfirmation:
    """A call that waits for an answer; `deadline` is on the ledger's clock.

    `tool_digest` is the digest of the tool's declaration when the question was asked: the answer is about that tool.
    """

    pending_id: str
    call: ToolCall
    decision: Decision
    deadline: float
    tool_digest: str | None = None
    process: int = attrs.field(factory=os.getpid, repr=False)


@attrs.define
class ConfirmationLedger:
    """Open questions by pending id, in memory. Each can be claimed once, before its deadline.

    `lifetime` is in seconds. `clock` gives seconds and never runs backwards; `new_id` gives unguessable ids.
    """

    lifetime: float = 3600.0
    clock: Callable[[], float] = time.monotonic
    new_id: Callable[[], str] = _new_id
    _open: dict[str, PendingConfirmation] = attrs.field(factory=dict, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    def open(self, call: ToolCall, decision: Decision, tool_digest: str | None = None) -> PendingConfirmation:
        """Note a question and return it with its id; `tool_digest` is None for a tool that nobody declared."""
        question = PendingConfirmation(self.new_id(), call, decision, self.clock() + self.lifetime, tool_digest)
        with self._lock:
            if question.pending_id in self._open:
                raise LedgerError(f"the id `{question.pending_id}` is already in use")
            self._open[question.pending_id] = question
        return question

    def find(self, pending_id: str) -> PendingConfirmation | None:
        """Return an open question without closing it, or None."""
        question = self._open.get(pending_id)
        return question if question is not None and question.process == os.getpid() else None

    def claim(self, pending_id: str) -> PendingConfirmation:
        """Close a question and return it; this succeeds once per id.

        Raises: `LedgerError` when the id is unknown or already answered; `LateAnswerError` past the deadline.
        """
        with self._lock:
            question = self._open.pop(pending_id, None)
        # A fork copies the ledger as well; a question stays with the process that asked it.
        if question is None or question.process != os.getpid():
            raise LedgerError(f"no open question has the id `{pending_id}`: it is unknown or already answered")
        if self.clock() > question.deadline:
            raise LateAnswerError(f"the answer to `{pending_id}` came too late; the call stays blocked", question)
        return question

    def __len__(self) -> int:
        return len(self._open)
