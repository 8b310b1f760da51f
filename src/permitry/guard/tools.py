"""What a guard asks about tools, and how a call that may run gets to one: the one seam between deciding and running."""

from typing import Any

from permitry.audit.recorder import RunRecord
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision
from permitry.core.spec import ToolSpec
from permitry.dispatch.authorized import Authorizations, AuthorizedCall
from permitry.guard.outcome import Cause, Redeemed
from permitry.guard.session import Session

__all__ = ["Tools"]


class Tools:
    """The tools of a host that runs them itself: all that is known of one comes with a call; see `RegistryTools`."""

    def __init__(self) -> None:
        self._outstanding: Authorizations[Any] = Authorizations()

    def name(self, call: ToolCall) -> ToolCall:
        """Return the call under the tool's own name, with its arguments as rules see them."""
        return call

    def declare(self, call: ToolCall, spec: ToolSpec | None) -> ToolSpec | None:
        """Return the tool's declaration of now; `spec` is the one that came with the call.

        Raises: `ValueError` for the declaration of another tool.
        """
        if spec is not None and spec.name != call.tool:
            raise ValueError(f"a call of `{call.tool}` came with the declaration of `{spec.name}`")
        return spec

    def check(self, _call: ToolCall, _context: AuthContext, decision: Decision) -> tuple[Decision, Cause]:
        """Return the decision, or a block when no tool can take the call in this context."""
        return decision, Cause.POLICY

    def authorize(
        self, call: ToolCall, _spec: ToolSpec | None, _context: AuthContext, record: RunRecord, _session: Session
    ) -> AuthorizedCall:
        """Authorize a call, whose run goes to the record.

        Raises: `UnknownToolError` when `spec` is not the declaration of the tool any more.
        """
        return self._outstanding.create(Redeemed(call, record))

    def redeem(self, authorized: AuthorizedCall) -> Redeemed:
        """Return the call that was authorized, once, or raise `ReplayError`."""
        redeemed: Redeemed = self._outstanding.redeem(authorized)
        return redeemed

    def is_open(self, authorized: AuthorizedCall) -> bool:
        """Return whether the call that was authorized has not run yet."""
        return authorized in self._outstanding
