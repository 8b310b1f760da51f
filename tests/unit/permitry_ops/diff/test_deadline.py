"""The time limit of a search."""

import time

import pytest

from permitry_ops.diff.deadline import OutOfTimeError, check_time, end_at, is_over
from permitry_ops.diff.language import ANYTHING, Language, shortest


def test_what_runs_inside_ends_when_the_time_is_up() -> None:
    """An inner limit counts until its end, and then the outer one again."""
    with end_at(None):
        check_time()
        with end_at(time.monotonic() - 1):
            assert is_over()
            with pytest.raises(OutOfTimeError):
                shortest([Language(("a", ANYTHING))])
        assert not is_over()
