"""What tests of channels and of the guard share: a call, decisions to ask about it, and a clock."""

import pytest

from permitry.channels.clock import Moment
from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Phase, Verdict


@pytest.fixture
def call() -> ToolCall:
    """Return a call that would write a file."""
    return ToolCall("write_file", {"path": "a.txt", "content": "hello"}, call_id="c1")


@pytest.fixture
def unruled() -> Decision:
    """Return the decision to ask because no rule matched."""
    return Decision(Verdict.CONFIRM, None, Phase.DEFAULT, "no rule matched")


@pytest.fixture
def restricted() -> Decision:
    """Return the decision to ask because a restriction wants it."""
    return Decision(Verdict.CONFIRM, "night", Phase.RESTRICTION, "nobody watches at night")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[Moment]:
    """Return the time, which the test sets."""
    now = [Moment(1_000.0, "boot", 50.0)]
    monkeypatch.setattr(Moment, "now", lambda: now[0])
    return now
