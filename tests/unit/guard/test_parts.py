"""What a call may do by a decision, whose it is, and what a turn changed."""

import attrs
from tests.tables import for_each
from tests.unit.guard.stubs import ALLOWED, ASKED, BLOCKED, case_of, guard_of

from permitry.core.decision import Decision, Phase
from permitry.guard.guard import Guard
from permitry.guard.parts import asker_of, may_run
from permitry.guard.session import Session

_BY_RULE = attrs.evolve(ASKED, rule_id="asks", phase=Phase.RESTRICTION)


@for_each(
    ("decision", "unmatched", "is_asked", "expected"),
    [
        (ALLOWED, "confirm", False, True),
        (ASKED, "confirm", False, False),
        (ASKED, "silence", False, True),
        (ASKED, "silence", True, False),
        (_BY_RULE, "silence", False, False),
        (BLOCKED, "silence", False, False),
    ],
)
def test_a_call_runs_that_is_allowed_or_left_to_its_host(
    decision: Decision,
    unmatched: str,
    is_asked: bool,  # noqa: FBT001 -- a table
    expected: bool,  # noqa: FBT001 -- as above
) -> None:
    """What a rule asks about, or the host was asked about, is not left to it."""
    guard = guard_of(unmatched=unmatched)
    assert may_run(decision, case_of(decision, is_asked=is_asked), guard) is expected


def test_an_asker_is_a_session_and_an_agent() -> None:
    """A sub-agent is another one."""
    session = Session(id="s1")
    assert asker_of(guard_of(session=session)) == ("s1", "main")
    assert asker_of(guard_of(session=session.child("helper", id="s2"))) == ("s2", "helper")


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
