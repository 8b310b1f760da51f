"""The tools of a registry, as a guard asks about them; apart, as a hook needs no registry."""

import difflib

from permitry.audit.recorder import RunRecord
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.spec import ToolSpec
from permitry.dispatch.authorized import AuthorizedCall
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import UnavailableError, safe_str
from permitry.guard.outcome import Cause, Redeemed
from permitry.guard.refusal import refuse_input
from permitry.guard.session import Session
from permitry.guard.tools import Tools

__all__ = ["RegistryTools", "check_available"]

# Looked up once: that takes longer than to compare them.
_BLOCK, _POLICY = Verdict.BLOCK, Cause.POLICY


class RegistryTools(Tools):
    """The tools of a registry, which runs them: nothing else authorizes its calls."""

    def __init__(self, registry: ToolRegistry) -> None:
        self.registry = registry
        self._outstanding = registry._outstanding  # noqa: SLF001 -- what is authorized here runs there

    def name(self, call: ToolCall) -> ToolCall:
        """Return the call under the name that the registry has for the tool."""
        return self.registry.resolved(call)

    def declare(self, call: ToolCall, _spec: ToolSpec | None) -> ToolSpec | None:
        """Return what the registry declares now."""
        return self.registry.get(call.tool)

    def check(self, call: ToolCall, context: AuthContext, decision: Decision) -> tuple[Decision, Cause]:
        """Return the decision, or a block for a tool that is not there now, or cannot take the arguments."""
        decision = check_available(self.registry, call, context, decision)
        if decision.verdict is _BLOCK or (found := self.registry.misfit(call)) is None:
            return decision, _POLICY
        reason, cause = f"the arguments do not fit the tool `{call.tool}`", Cause.MISFIT
        if isinstance(found, UnavailableError):
            reason, cause = f"what the tool `{call.tool}` needs is not available here", Cause.UNAVAILABLE
        return refuse_input(decision, reason, safe_str(found)), cause

    def authorize(
        self, call: ToolCall, spec: ToolSpec | None, context: AuthContext, record: RunRecord, session: Session
    ) -> AuthorizedCall:
        """Authorize a call for `dispatch`."""
        return self.registry._authorize(call, spec, context, record, session)  # noqa: SLF001 -- the only place that authorizes

    def redeem(self, authorized: AuthorizedCall) -> Redeemed:
        """Return the call that was authorized, once."""
        found = self._outstanding.redeem(authorized)
        return Redeemed(found.call, found.record)


def check_available(tools: ToolRegistry, call: ToolCall, context: AuthContext, decision: Decision) -> Decision:
    """Return the decision, or a block when there is no such tool to run in this context."""
    if decision.verdict is _BLOCK or tools.is_enabled(call.tool, context):
        return decision
    lack = "is not enabled in this context" if call.tool in tools else "is not registered"
    names = sorted(spec.name for spec in tools.specs(context))
    near = difflib.get_close_matches(call.tool, names, n=1)
    hint = f"Did you mean `{near[0]}`? " if near else ""
    message = f"There is no tool `{call.tool}`. {hint}Tools: {', '.join(names) or 'none'}."
    return refuse_input(decision, f"the tool `{call.tool}` {lack}", message)
