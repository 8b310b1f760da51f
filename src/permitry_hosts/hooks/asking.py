"""Questions about the calls of hosts: kept in a store, and found again when a host makes the same call once more."""

import json
from collections.abc import Callable
from typing import Any

import attrs

from permitry.audit.redaction import redacted
from permitry.channels.request import ConfirmationRequestFactory, ToolConfirmationRequest
from permitry.channels.stored_question import Row
from permitry.core.call import ToolCall
from permitry.core.decision import Decision
from permitry.core.spec import ToolSpec
from permitry.errors import LedgerError, StoreError
from permitry.guard.handled import Asker
from permitry.guard.ledger import EarlierQuestion
from permitry.guard.stored_ledger import StoredLedger
from permitry_hosts.hooks.edit_diff import diff_of

__all__ = ["HostLedger", "HostRequests"]


@attrs.define
class HostLedger(StoredLedger):
    """The questions about the calls of one host.

    A model that was refused makes its call again, under another id: a question that is open is about any call of this
    session and agent with this digest. It is open for as long again then. What is closed is asked about again.
    """

    redact: Callable[[Any], Any] = attrs.field(default=redacted, repr=False)

    def earlier(self, call: ToolCall, spec: ToolSpec | None, asker: Asker) -> EarlierQuestion | None:
        """Return the question about a call that is open.

        Raises: `LedgerError` when the store is away, or what it has is damaged.
        """
        earlier = super().earlier(call, spec, asker)
        if earlier is None or not earlier.is_open:
            return None
        try:
            deadline = self.clock().after(self.lifetime)
            self.store.renew(earlier.pending.pending_id, call.call_id or "", json.dumps(self._above), deadline)
        except StoreError as error:
            raise LedgerError(str(error)) from error
        return attrs.evolve(earlier, takes_grants=True)

    def is_asked(self, call: ToolCall, asker: Asker) -> bool:
        """Return whether a question about a call is open.

        Raises: `LedgerError`.
        """
        earlier = super().earlier(call, None, asker)
        return earlier is not None and earlier.is_open

    def _find_row(self, call: ToolCall, asker: Asker) -> Row | None:
        return self.store.find_unclosed(*asker, call.digest)


@attrs.frozen
class HostRequests(ConfirmationRequestFactory):
    """Makes requests that name the folder of the agent and show edits as diffs.

    They offer nothing to remember: a host has no session here.
    """

    folder: str = ""

    def create(self, call: ToolCall, decision: Decision, spec: ToolSpec | None = None) -> ToolConfirmationRequest:
        """Return the request for `call`."""
        request = super().create(call, decision, spec)
        return attrs.evolve(
            request, reason=f"{request.reason}, in `{self.folder}`", suggested_grants=(), folder=self.folder,
            preview=diff_of(call, self.folder),
        )  # fmt: skip
