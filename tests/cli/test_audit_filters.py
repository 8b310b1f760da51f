"""Which records `permitry audit` is asked for."""

import argparse
import datetime as dt

import pytest

from permitry.cli.audit_filters import moment


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-11-23", "2026-11-23T00:00:00.000+00:00"),
        ("2026-11-23T10:00", "2026-11-23T10:00:00.000+00:00"),
        ("2026-11-23T10:00+02:00", "2026-11-23T08:00:00.000+00:00"),
    ],
)
def test_a_time_is_as_the_record_has_it(text: str, at: str) -> None:
    """In UTC where it names no other zone."""
    assert moment(text) == at


@pytest.mark.parametrize(("text", "seconds"), [("2m", 120), ("1h", 3600), ("1d", 86_400), ("1w", 604_800)])
def test_an_age_is_a_time(text: str, seconds: int) -> None:
    """Before now."""
    before = dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(moment(text))
    assert abs(before.total_seconds() - seconds) < 60


@pytest.mark.parametrize("text", ["", "soon", "5 days", "9999999h"])
def test_other_texts_are_no_time(text: str) -> None:
    """With how to write one."""
    with pytest.raises(argparse.ArgumentTypeError, match="not a time"):
        moment(text)
