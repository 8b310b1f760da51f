"""What a turn of the model changed in the workspace: the interface between a handler and its tracker of changes."""

from typing import Protocol

import attrs

__all__ = ["TurnDiffs", "TurnTracker"]


class TurnTracker(Protocol):
    """Compares a workspace with what it was when a turn began, such as `permitry_tools.turn_diff.TurnDiffTracker`."""

    def begin(self) -> None:
        """Begin a turn: later changes are relative to the workspace as it is now."""
        ...

    def diff(self) -> str:
        """Return what has changed since the turn began, as one unified diff; empty if nothing has."""
        ...


@attrs.define
class TurnDiffs:
    """The part of a handler that says what a turn changed; without a `tracker`, that is not known."""

    tracker: TurnTracker | None = attrs.field(default=None, kw_only=True, repr=False)

    def begin_turn(self) -> None:
        """Begin a turn: `turn_diff` is relative to the workspace as it is now."""
        if self.tracker is not None:
            self.tracker.begin()

    def turn_diff(self) -> str | None:
        """Return all changes since the turn began, made by a tool or not; empty for no changes, None without a tracker.

        Raises: `PermitryError` when no turn has begun.
        """
        return None if self.tracker is None else self.tracker.diff()
