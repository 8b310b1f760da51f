"""Counts of shared budgets that are given, as in golden cases."""

import pickle

from permitry.core.shared import GivenCounts, Limit, SharedCounts

LIMIT = Limit("web", "principal", 2, 60.0)


def test_counts_that_are_given_are_those_of_a_rule() -> None:
    """Of a rule that is not named nothing is used."""
    counts = GivenCounts({"web": 2})
    assert isinstance(counts, SharedCounts)
    assert (counts.used(LIMIT), GivenCounts().used(LIMIT)) == (2, 0)
    assert (counts.relies_on(LIMIT), GivenCounts().relies_on(LIMIT)) == (False, True)
    assert counts.whose(LIMIT) == "principal"


def test_counts_that_are_given_never_change() -> None:
    """Neither with the mapping they came from, nor in a copy."""
    given = {"web": 1}
    counts = GivenCounts(given)
    given["web"] = 0
    assert counts.snapshot() is counts
    assert pickle.loads(pickle.dumps(counts)) == counts  # noqa: S301 -- what this test has written
    assert counts.used(LIMIT) == 1
