"""The channel of questions in a store: they are answered from elsewhere, such as with `permitry approve`."""

import time
from collections.abc import Callable

import attrs

from permitry.confirm.clock import Moment
from permitry.confirm.request import ToolConfirmationRequest
from permitry.confirm.response import ToolConfirmationResponse
from permitry.confirm.stored import QuestionStore, StoredQuestion
from permitry.errors import LedgerError

__all__ = ["StoredChannel"]


@attrs.frozen
class StoredChannel:
    """Waits until a question has its answer in the store, or can get none any more; looks every `pause` seconds."""

    store: QuestionStore
    pause: float = attrs.field(default=0.2, kw_only=True)
    clock: Callable[[], Moment] = attrs.field(default=Moment.now, kw_only=True, repr=False)

    def ask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse:
        """Return the answer.

        Raises: `TimeoutError` after the deadline; `LedgerError` for a question that is not open; `StoreError`.
        """
        while (response := self._look(request)) is None:
            time.sleep(self.pause)
        return response

    async def aask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse:
        """Do what `ask` does without blocking the event loop."""
        import asyncio  # noqa: PLC0415 -- which a host without an event loop does not need

        while (response := await asyncio.to_thread(self._look, request)) is None:  # noqa: ASYNC110 -- another process answers
            await asyncio.sleep(self.pause)
        return response

    def _look(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        row = None if request.pending_id is None else self.store.find(request.pending_id)
        if row is None or row["closed_at"] is not None or row["digest"] != request.call.digest:
            raise LedgerError("the question is not open in this store")
        question = StoredQuestion.of(row)
        if question.response is None and self.clock().is_past(question.deadline, question.asked_at):
            raise TimeoutError("the question was not answered before its deadline")
        return question.response
