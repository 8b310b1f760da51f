"""What is logged while something is away."""

import logging

import attrs
import pytest

from permitry.outages import Outage


@attrs.define
class Clock:
    """A clock that is set."""

    now: float = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Return a clock."""
    return Clock()


@pytest.fixture
def outage(clock: Clock) -> Outage:
    """Return an outage that was not noted so far."""
    return Outage(logging.getLogger("permitry.test"), "nothing counts", clock=clock)


def test_one_line_is_logged_when_it_begins_and_one_when_it_is_over(
    outage: Outage, caplog: pytest.LogCaptureFixture
) -> None:
    """However often it is tried; none while all is well."""
    outage.end()
    for _ in range(1_000):
        outage.note("the store is away")
    outage.end()
    outage.end()
    assert caplog.messages == ["nothing counts: the store is away; failures: 1", "over: nothing counts; failures: 999"]


def test_one_line_a_minute_says_how_often(outage: Outage, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """Since the last line, with the reason of now."""
    for second in range(180):
        clock.now = float(second)
        outage.note(f"away at {second}")
    assert caplog.messages == [
        "nothing counts: away at 0; failures: 1",
        "nothing counts: away at 60; failures: 60",
        "nothing counts: away at 120; failures: 60",
    ]


def test_what_comes_and_goes_is_logged_no_more_often(
    outage: Outage, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """Such as a store that every second call has to wait for."""
    for second in range(120):
        clock.now = float(second)
        outage.note("away")
        outage.end()
    assert caplog.messages == [
        "nothing counts: away; failures: 1",
        "over: nothing counts; failures: 0",
        "nothing counts: away; failures: 60",
        "over: nothing counts; failures: 0",
    ]
