"""What the model is shown when a call did not run."""

import attrs

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.decision import Decision

__all__ = ["ToolRejectionNotifier"]


@attrs.frozen
class ToolRejectionNotifier:
    """Words for the model: a call did not run, what the user says about it, and how to go on."""

    def rejected(self, tool: str, response: ToolConfirmationResponse) -> str:
        """Return the text for a call the user declined, with guidance or without, or answered instead."""
        if response.result is not None:
            return response.result
        guidance = response.instructions.strip()
        declined = f"The user declined the call of `{tool}`; it did not run."
        if guidance:
            return f"{declined}\nThe user says: {guidance}\nTreat it as not done, and follow this guidance."
        return f"{declined}\nThe user gave no reason.\nTreat it as not done, and ask before you try something else."

    def blocked(self, tool: str, decision: Decision) -> str:
        """Return the text for a call the policy blocked; it names no rule."""
        return f"The call of `{tool}` was blocked. {decision.message or 'It did not run.'}"

    def unanswered(self, tool: str) -> str:
        """Return the text for a call that was not confirmed in time."""
        return (
            f"The call of `{tool}` needs the user's confirmation, and got none; it did not run.\n"
            "Go on without it, or stop and say what you need."
        )
