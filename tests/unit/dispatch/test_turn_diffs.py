"""How a handler comes to what a turn changed: through its tracker, and without one nothing is known."""

import attrs

from permitry.dispatch.turn_diffs import TurnDiffs


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
    diffs = TurnDiffs()
    diffs.begin_turn()
    assert diffs.turn_diff() is None


def test_a_tracker_is_asked() -> None:
    """For what has changed since the turn began."""
    diffs = TurnDiffs(tracker=_Tracker())
    diffs.begin_turn()
    diffs.begin_turn()
    assert diffs.turn_diff() == "diff of turn 2"
