"""What a turn of the model changed in the workspace: the interface between a handler and its tracker of changes."""

from typing import Protocol

__all__ = ["TurnTracker"]


class TurnTracker(Protocol):
    """Compares a workspace with what it was when a turn began, such as `permitry_tools.turn_diff.TurnDiffTracker`."""

    def begin(self) -> None:
        """Begin a turn: later changes are relative to the workspace as it is now."""
        ...

    def diff(self) -> str:
        """Return what has changed since the turn began, as one unified diff; empty if nothing has."""
        ...
