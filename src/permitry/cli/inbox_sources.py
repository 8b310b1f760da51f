"""What `permitry inbox` shows: the questions of hooks, which are files, next to those of a store."""

import os
import time
from collections.abc import Sequence

import attrs

from permitry.audit.redaction import redacted
from permitry.confirm.response import ToolConfirmationResponse
from permitry.errors import LedgerError, PermitryError
from permitry.hooks.waiting import Question, Questions, ancestors
from permitry.inbox.questions import Inbox, Shown

__all__ = ["HookInbox", "Inboxes"]

_NEAR = 2
"""So many processes above a hook are those of its host: a shell, perhaps, and the host itself."""

_MOST = 1_000
_DAMAGED = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)


@attrs.define
class HookInbox:
    """The questions of hooks. Who has answered one is known for those that were answered here."""

    questions: Questions
    _seen: dict[str, Shown] = attrs.field(factory=dict, init=False, repr=False)

    def open(self) -> list[Shown]:
        """Return the questions that can be answered, oldest first; one that is damaged is left out."""
        found = []
        for name in self.questions.names():
            try:
                shown = self.find(name)
            except PermitryError:
                continue
            if shown is not None and not shown.outcome:
                found.append(attrs.evolve(shown, arguments=redacted(shown.arguments)))
        return found

    def find(self, name: str) -> Shown | None:
        """Return a question, also one that has been closed since it was shown.

        Raises: `PermitryError` for one that is damaged.
        """
        question = self._read(name)
        before = self._seen.get(name)
        if question is None:
            return before and attrs.evolve(before, outcome=before.outcome or "closed", arguments={})
        is_answered = self.questions.is_answered(name)
        is_known = before is not None and before.outcome and before.digest == question.digest
        outcome = before.outcome if before is not None and is_known else "answered elsewhere"
        shown = _shown(question, outcome if is_answered else "")
        if len(self._seen) >= _MOST:
            self._seen.clear()
        self._seen[name] = shown
        return shown

    def answer(self, name: str, digest: str, response: ToolConfirmationResponse, by: str) -> None:
        """Answer a question, once; the host that asked takes no other arguments.

        Raises: `LedgerError`.
        """
        question = self._read(name)
        # INVARIANT: law 5. What was shown is what is answered.
        if question is None or question.digest != digest:
            raise LedgerError(f"the question `{name}` is not open any more, or not about the call that was shown")
        if response.arguments is not None or response.skip_future:
            raise LedgerError("a hook takes a yes or a no")
        if set(question.above[:_NEAR]) & {os.getpid(), *ancestors(os.getpid())}:
            raise LedgerError(f"the question `{name}` was asked above this process, which may not answer it")
        self.questions.answer(question, response)
        self._seen[name] = _shown(question, f"{response.outcome} by {by}")

    def grant(self, name: str, seconds: float, by: str) -> None:
        """Raise: what a hook asks about is asked about each time.

        Raises: `LedgerError`.
        """
        raise LedgerError(f"a hook asks `{by}` about `{name}` each time, also within {seconds:.0f} seconds")

    def _read(self, name: str) -> Question | None:
        # A name is not a path.
        if not (name.isascii() and name.isalnum()):
            return None
        try:
            return self.questions.find(name)
        except _DAMAGED as error:
            raise PermitryError(f"the question `{name}` is damaged") from error


def _shown(question: Question, outcome: str) -> Shown:
    try:
        return Shown(
            question.id, question.digest, str(question.tool), dict(question.arguments), str(question.reason),
            session=str(question.session), agent=str(question.agent), place=f"{question.host} in {question.folder}",
            left=max(0.0, question.until - time.time()), outcome=outcome, may_edit=False,
        )  # fmt: skip
    except _DAMAGED as error:
        raise PermitryError("the question is damaged") from error


@attrs.frozen
class Inboxes:
    """Several inboxes as one; no two have a question of the same id."""

    inboxes: Sequence[Inbox]

    def open(self) -> list[Shown]:
        """Return the questions that can be answered."""
        return [shown for inbox in self.inboxes for shown in inbox.open()]

    def find(self, name: str) -> Shown | None:
        """Return a question."""
        return next((shown for inbox in self.inboxes if (shown := inbox.find(name)) is not None), None)

    def answer(self, name: str, digest: str, response: ToolConfirmationResponse, by: str) -> None:
        """Answer a question where it is.

        Raises: `LedgerError`.
        """
        self._of(name).answer(name, digest, response, by)

    def grant(self, name: str, seconds: float, by: str) -> None:
        """Permit the call of a question for so long, where that is possible.

        Raises: `LedgerError`.
        """
        self._of(name).grant(name, seconds, by)

    def _of(self, name: str) -> Inbox:
        inbox = next((each for each in self.inboxes if each.find(name) is not None), None)
        if inbox is None:
            raise LedgerError(f"there is no question `{name}`")
        return inbox
