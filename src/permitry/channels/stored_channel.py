"""The channel of questions in a store, which are answered elsewhere, as with `permitry approve`."""

from collections.abc import Callable
from typing import ClassVar

import attrs

from permitry.channels.clock import Moment
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion
from permitry.errors import LedgerError
from permitry.store.questions import StoredQuestions

__all__ = ["StoredChannel"]


@attrs.frozen
class StoredChannel:
    """Waits until a question has its answer in the store, or can get none any more.

    It looks when the store says that something has changed, and every `pause` seconds where that is not said.
    """

    is_stored: ClassVar[bool] = True
    store: StoredQuestions
    pause: float = attrs.field(default=0.2, kw_only=True)
    clock: Callable[[], Moment] = attrs.field(default=Moment.now, kw_only=True, repr=False)

    def ask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse:
        """Return the answer; `TimeoutError` after the deadline, `LedgerError` where the question is not open."""
        # What changes from here on is heard.
        with self.store.database.watch(self.pause) as wait:
            while (question := self._look(request)).response is None:
                wait(self.clock().until(question.deadline))
        return question.response

    async def aask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse:
        """Do what `ask` does without blocking the event loop."""
        import asyncio  # noqa: PLC0415 -- which a host without an event loop does not need

        while (question := await asyncio.to_thread(self._look, request)).response is None:  # noqa: ASYNC110 -- another process answers
            await asyncio.sleep(self.pause)
        return question.response

    def _look(self, request: ToolConfirmationRequest) -> StoredQuestion:
        row = self.store.find(request.pending_id or "")
        if row is None or row["closed_at"] is not None or row["digest"] != request.call.digest:
            raise LedgerError("the question is not open in this store")
        question = StoredQuestion.of(row)
        if question.response is None and self.clock().is_past(question.deadline, question.asked_at):
            raise TimeoutError("the question was not answered before its deadline")
        return question
