"""Decisions that no rule makes: a call cannot be run or asked about, or was asked about before."""

import attrs

from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Phase, Verdict

__all__ = [
    "MISTAKEN_RULES", "already_handled", "ask_as_before", "block_changed_tool", "block_too_many_questions",
    "block_unasked", "block_uncounted", "block_used_id", "refuse_input",
]  # fmt: skip

MISTAKEN_RULES = (
    "The user's rule files have mistakes, and until they are right no call runs. Tell the user; leave the files alone."
)
"""What the model is shown while the rule files have mistakes."""


def block_changed_tool(call: ToolCall, decision: Decision) -> Decision:
    """Return the block of a call whose tool has changed since it was decided on, or asked about."""
    message = (
        f"The tool `{call.tool}` changed in the meantime, and the call did not run. "
        "Look at what the tool takes now, and make the call again if you still need it."
    )
    return refuse_input(decision, f"the tool `{call.tool}` was replaced after the call was decided on", message)


def block_too_many_questions(decision: Decision, most: str) -> Decision:
    """Return the block of a call that cannot be asked about now; `most` is the bound."""
    message = (
        "It needs the user's confirmation, and too many calls wait for one already; it did not run. "
        "Go on without it, or stop until the user has answered."
    )
    return refuse_input(decision, f"no room for one more open question: {most}", message)


def block_unasked(error: str, version: str) -> Decision:
    """Return the block of a call that cannot be asked about, or may have been asked about before; `error` says why."""
    message = "It may need the user's confirmation, and no question can be asked now; it did not run. Tell the user."
    reason = f"the questions cannot be read or written: {error}"
    return Decision(Verdict.BLOCK, None, Phase.INPUT, reason, message, policy_version=version)


def block_uncounted(decision: Decision, error: str) -> Decision:
    """Return the block of a call that might run, and cannot be counted for a shared budget; `error` says why."""
    message = "It cannot be counted now for a limit on such calls, so it did not run. Tell the user; do not retry."
    return refuse_input(decision, f"a shared budget cannot be counted: {error}", message)


def block_used_id(call: ToolCall, version: str) -> Decision:
    """Return the block of a call that may have been handled before; `version` is the policy's."""
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


def refuse_input(decision: Decision, reason: str, message: str) -> Decision:
    """Return the block of a call that would be decided otherwise, and cannot run as it is."""
    return attrs.evolve(
        decision, verdict=Verdict.BLOCK, rule_id=None, phase=Phase.INPUT, reason=reason, message=message, source=None
    )
