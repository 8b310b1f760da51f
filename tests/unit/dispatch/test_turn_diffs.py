"""How a guard comes to what a turn changed: through its tracker, and without one nothing is known."""

import attrs

from permitry.guard.guard import Guard


@attrs.define
class _Tracker:
    """Counts the turns that began."""

    begun: int = 0

    def begin(self) -> None:
        self.begun += 1

    def diff(self) -> str:
        return f"diff of turn {self.begun}"


def test_without_a_tracker_nothing_is_known() -> None:
    """Which is not the same as no change: that is an empty text."""
    guard = Guard()
    guard.begin_turn()
    assert guard.turn_diff() is None


def test_a_tracker_is_asked() -> None:
    """For what has changed since the turn began."""
    guard = Guard(tracker=_Tracker())
    guard.begin_turn()
    guard.begin_turn()
    assert guard.turn_diff() == "diff of turn 2"
