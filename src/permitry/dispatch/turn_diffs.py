"""What a turn of the model changed in the workspace: how a handler comes to its tracker."""

from typing import Protocol

import attrs

__all__ = ["TurnDiffs", "TurnTracker"]


class TurnTracker(Protocol):
    """Compares a workspace with what it was when a turn began, such as `permitry_tools.turn_diff.TurnDiffTracker`."""

    def begin(self) -> None:
        """Take what is there now for the beginning of a turn."""
        ...

    def diff(self) -> str:
        """Return what has changed since, as one unified diff; empty where nothing has."""
        ...


@attrs.define
class TurnDiffs:
    """The part of a handler that says what a turn changed; without a `tracker` nothing is known of it."""

    tracker: TurnTracker | None = attrs.field(default=None, kw_only=True, repr=False)

    def begin_turn(self) -> None:
        """Take what is in the workspace now for the beginning of a turn."""
        if self.tracker is not None:
            self.tracker.begin()

    def turn_diff(self) -> str | None:
        """Return all that has changed since the turn began, whatever did it; empty for nothing, None without a tracker.

        Raises: `PermitryError` when no turn has begun.
        """
        return None if self.tracker is None else self.tracker.diff()
