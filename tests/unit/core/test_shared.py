"""Budgets that many processes share: what counts must be able to do."""

from permitry.core.shared import SharedCounts
from permitry.golden.counts import GivenCounts


def test_counts_are_known_by_what_they_can_do() -> None:
    """Whatever their class; not so a mapping of numbers."""
    assert isinstance(GivenCounts(), SharedCounts)
    assert not isinstance({"web": 1}, SharedCounts)
