"""Counts of shared budgets that are given, as in golden cases."""

import pickle

import pytest

from permitry.core.shared import Limit, SharedCounts
from permitry.errors import UnevaluableError
from permitry.golden.counts import GivenCounts

LIMIT = Limit("web", "principal", 2, 60.0)


def test_counts_that_are_given_are_those_of_a_rule() -> None:
    """Of a rule that is not named it is not known, so that a restriction applies and a permission does not."""
    counts = GivenCounts({"web": 2})
    assert isinstance(counts, SharedCounts)
    assert counts.uses(LIMIT) == 2
    with pytest.raises(UnevaluableError, match="does not say how much of `web` is used"):
        GivenCounts().uses(LIMIT)
    given = (GivenCounts(), counts, GivenCounts({"web": 1}))
    assert [each.relies_on(LIMIT) for each in given] == [False, False, True]
    assert counts.whose(LIMIT) == "principal"


def test_counts_that_are_given_never_change() -> None:
    """Neither with the mapping they came from, nor in a copy."""
    given = {"web": 1}
    counts = GivenCounts(given)
    given["web"] = 0
    assert counts.snapshot() is counts
    assert pickle.loads(pickle.dumps(counts)) == counts  # noqa: S301 -- what this test has written
    assert counts.uses(LIMIT) == 1
