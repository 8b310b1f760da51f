"""What the inbox needs of the place that keeps questions, and the questions of a store."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from permitry.channels.clock import Moment
from permitry.channels.request import EffectLine
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.core.origin import Origin
from permitry.errors import LedgerError
from permitry.guard.grants import Grant
from permitry.guard.grants_in_force import rule_of
from permitry.guard.ledgers import RecordedGrants

if TYPE_CHECKING:
    from permitry.store.questions import StoredQuestions

__all__ = ["Inbox", "Shown", "StoreInbox"]


@attrs.frozen
class Shown:
    """A question as a page shows it.

    `age` are the seconds since it was asked, `left` those until it is late. `outcome` says how it was
    closed. `remember` offers not to be asked again. `may_grant`: the very call can be permitted for a
    time; with `has_turn`, until the user writes again.
    """

    id: str
    digest: str
    tool: str
    arguments: Mapping[str, Any]
    reason: str
    rule: str = ""
    source: str = ""
    session: str = ""
    agent: str = ""
    folder: str = ""
    path: str = ""
    preview: str = ""
    age: float = 0.0
    left: float = 0.0
    outcome: str = ""
    errors: Sequence[str] = ()
    approvers: Sequence[str] = ()
    remember: str = ""
    may_grant: bool = False
    has_turn: bool = False
    effects: Sequence[EffectLine] = ()
    origins: Sequence[Origin] = ()


class Inbox(Protocol):
    """Knows the open questions, and takes answers. Thread-safe. All raise `PermitryError`."""

    def open(self) -> Sequence[Shown]:
        """Return the questions that can be answered, oldest first, without secrets and effects."""

    def find(self, name: str) -> Shown | None:
        """Return a question in full, open or closed; None for one that is not known."""

    def answer(self, name: str, digest: str, response: ToolConfirmationResponse, by: str) -> None:
        """Answer the question about the call with this digest, once. Raises: `LedgerError`."""

    def grant(self, name: str, seconds: float, by: str, *, is_for_request: bool = False) -> None:
        """Permit the call that `by` approved for so long, or this request. Raises: `LedgerError`."""


@attrs.frozen
class StoreInbox:
    """The questions of a store; a process does not answer what it, or one `above` it, has asked."""

    store: "StoredQuestions"
    above: Callable[[], Iterable[int]] = tuple
    grants: RecordedGrants | None = None

    def open(self) -> list[Shown]:
        """Return the questions that can be answered, oldest first; one that is damaged is left out."""
        now = Moment.now()
        found = (self._read(row) for row in self.store.open(now))
        return [_summary(question, now) for question in found if question is not None]

    def find(self, name: str) -> Shown | None:
        """Return a question in full, open or closed."""
        question = self._find(name)
        if question is None:
            return None
        shown = _summary(question, Moment.now())
        request = question.request
        if shown.outcome or request is None:
            return shown
        return attrs.evolve(
            shown, may_grant=self.grants is not None, has_turn=question.turn != "", arguments=request.arguments,
            path=request.path or "", preview=request.preview or "", effects=request.effects, origins=request.origins,
            remember=request.suggested_grants[0].label if request.suggested_grants else "",
        )  # fmt: skip

    def answer(self, name: str, digest: str, response: ToolConfirmationResponse, by: str) -> None:
        """Answer the question about the call with this digest, once. Raises: `LedgerError`."""
        question = self._find(name)
        # INVARIANT: law 5. What was shown is what is answered; the store compares once more, with what it has then.
        if question is None or question.digest != digest:
            raise LedgerError(f"the question `{name}` is not about the call that was shown")
        is_here = question.deadline.boot == Moment.now().boot
        if is_here and set(question.above) & {os.getpid(), *self.above()}:
            raise LedgerError(f"the question `{name}` was asked above this process, which may not answer it")
        answer_to(self.store, question, response, by=by)

    def grant(self, name: str, seconds: float, by: str, *, is_for_request: bool = False) -> None:
        """Permit what `by` has approved, as `Inbox.grant`. Raises: `LedgerError`."""
        question = self._find(name)
        response = None if question is None else question.response
        if self.grants is None or question is None or response is None:
            raise LedgerError(f"nothing is granted for the question `{name}`")
        # INVARIANT: a rejection, an edit, and the answer of another human remember nothing.
        if not response.is_approval or response.arguments is not None or question.answered_by != by:
            raise LedgerError(f"`{by}` has not approved the call of the question `{name}`")
        now = Moment.now()
        grant = attrs.evolve(
            Grant.of_call(question.tool, question.digest, question.spec),
            agent=question.agent or None, session=question.session, reason="approved in the inbox", granted_by=by,
            made_at=now.wall, deadline=now.after(seconds), request=question.turn if is_for_request else None,
        )  # fmt: skip
        rule_of(grant)
        self.grants.give(grant)

    def _find(self, name: str) -> StoredQuestion | None:
        # A database has no text with this character, and fails where it is asked for one.
        row = None if "\0" in name else self.store.find(name)
        return None if row is None else StoredQuestion.of(row)

    def _read(self, row: object) -> StoredQuestion | None:
        try:
            return StoredQuestion.of(row)  # type: ignore[arg-type]  # the row of a store
        except LedgerError:
            return None


def _summary(question: StoredQuestion, now: Moment) -> Shown:
    decision, request = question.decision, question.request
    folder = "" if request is None else request.folder or ""
    return Shown(
        question.id, question.digest, question.tool, question.arguments, decision.reason or "no rule allows this call",
        rule=decision.rule_id or "", source=decision.source or "", session=question.session, agent=question.agent,
        folder=folder, age=max(0.0, now.wall - question.asked_at), left=now.until(question.deadline),
        outcome=_outcome(question, now),
        errors=[str(error) for error in decision.errors], approvers=question.approvers,
    )  # fmt: skip


def _outcome(question: StoredQuestion, now: Moment) -> str:
    if question.response is not None:
        said = question.response.outcome
        return f"{said} by {question.answered_by}" if question.answered_by else f"{said} where it was asked"
    if question.is_closed:
        return "closed without an answer"
    return "late: it was not answered in time" if now.is_past(question.deadline, question.asked_at) else ""
