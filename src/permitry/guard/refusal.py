"""Decisions that no rule makes: a call cannot be run or asked about, or was asked about before."""

import difflib
from collections.abc import Iterable
from typing import Protocol

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.spec import ToolSpec
from permitry.errors import ToolError, UnavailableError, safe_str

__all__ = [
    "MISTAKEN_RULES",
    "Tools",
    "already_handled",
    "ask_as_before",
    "available",
    "block_changed_tool",
    "block_too_many_questions",
    "block_unasked",
    "block_uncounted",
    "block_used_id",
    "misfit",
]

# Looked up once: that takes longer than to compare it.
_BLOCK = Verdict.BLOCK

MISTAKEN_RULES = (
    "The user's rule files have mistakes, and until they are right no call runs. Tell the user; leave the files alone."
)
"""What the model is shown while the rule files have mistakes."""


class Tools(Protocol):
    """A registry, as far as these checks need one."""

    def __contains__(self, name: object, /) -> bool:
        """Return whether a tool of this name is registered."""
        ...

    def is_enabled(self, name: str, context: AuthContext, /) -> bool:
        """Return whether there is such a tool in this context."""
        ...

    def specs(self, context: AuthContext, /) -> Iterable[ToolSpec]:
        """Return the declarations of the tools that are enabled in this context."""
        ...


def available(tools: Tools, call: ToolCall, context: AuthContext, decision: Decision) -> Decision:
    """Return the decision, or a block when there is no such tool to run in this context."""
    if decision.verdict is _BLOCK or tools.is_enabled(call.tool, context):
        return decision
    lack = "is not enabled in this context" if call.tool in tools else "is not registered"
    return _no_such_tool(call, lack, tools.specs(context), decision)


def _no_such_tool(call: ToolCall, lack: str, tools: Iterable[ToolSpec], decision: Decision) -> Decision:
    names = sorted(spec.name for spec in tools)
    near = difflib.get_close_matches(call.tool, names, n=1)
    hint = f"Did you mean `{near[0]}`? " if near else ""
    message = f"There is no tool `{call.tool}`. {hint}Tools: {', '.join(names) or 'none'}."
    return _refused(decision, f"the tool `{call.tool}` {lack}", message)


def misfit(call: ToolCall, found: ToolError, decision: Decision) -> Decision:
    """Return the block of a call that its tool cannot take; `found` says why, in words for the model."""
    reason = f"the arguments do not fit the tool `{call.tool}`"
    if isinstance(found, UnavailableError):
        reason = f"what the tool `{call.tool}` needs is not available here"
    return _refused(decision, reason, safe_str(found))


def block_changed_tool(call: ToolCall, decision: Decision) -> Decision:
    """Return the block of a call whose tool is not any more the one that was decided on, or asked about."""
    message = (
        f"The tool `{call.tool}` changed in the meantime, and the call did not run. "
        "Look at what the tool takes now, and make the call again if you still need it."
    )
    return _refused(decision, f"the tool `{call.tool}` was replaced after the call was decided on", message)


def block_too_many_questions(decision: Decision, most: str) -> Decision:
    """Return the block of a call that cannot be asked about now; `most` says how much may be open."""
    message = (
        "It needs the user's confirmation, and too many calls wait for one already; it did not run. "
        "Go on without it, or stop until the user has answered."
    )
    return _refused(decision, f"no room for one more open question: {most}", message)


def block_unasked(error: str, version: str) -> Decision:
    """Return the block of a call that cannot be asked about, or may have been asked about before; `error` says why."""
    message = "It may need the user's confirmation, and no question can be asked now; it did not run. Tell the user."
    reason = f"the questions cannot be read or written: {error}"
    return Decision(Verdict.BLOCK, None, Phase.INPUT, reason, message, policy_version=version)


def block_uncounted(decision: Decision, error: str) -> Decision:
    """Return the block of a call that might run, and cannot be counted for a shared budget; `error` says why."""
    message = "It cannot be counted now for a limit on such calls, so it did not run. Tell the user; do not retry."
    return _refused(decision, f"a shared budget cannot be counted: {error}", message)


def block_used_id(call: ToolCall, version: str) -> Decision:
    """Return the block of a call that may have been handled before; `version` is that of the policy."""
    reason = f"the call id `{call.call_id}` may have been used for this call before"
    return Decision(Verdict.BLOCK, None, Phase.INPUT, reason, already_handled(call), policy_version=version)


def already_handled(call: ToolCall) -> str:
    """Return the text for the model about a call that has already run."""
    return f"The call `{call.call_id}` has already been handled; give every call an id of its own."


def ask_as_before(decision: Decision) -> Decision:
    """Return the question about a call that the rules would allow by now."""
    reason = "it was asked about before, and has no answer yet"
    return attrs.evolve(
        decision, verdict=Verdict.CONFIRM, rule_id=None, phase=Phase.HOST, reason=reason, message=None, source=None
    )


def _refused(decision: Decision, reason: str, message: str) -> Decision:
    return attrs.evolve(
        decision, verdict=Verdict.BLOCK, rule_id=None, phase=Phase.INPUT, reason=reason, message=message, source=None
    )
