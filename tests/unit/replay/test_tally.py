"""What is counted of replayed sessions."""

from permitry.core.decision import Decision, Phase, Verdict
from permitry.replay.tally import Tally

_ALLOW = Decision(Verdict.ALLOW, "a", Phase.PERMISSION, "", None)
_BLOCK = Decision(Verdict.BLOCK, None, Phase.RESTRICTION, "", None)


def test_the_first_call_of_a_kind_has_a_place() -> None:
    """The others are counted."""
    tally = Tally()
    for number in range(3):
        tally.count("look", f"s:{number}", _ALLOW, _BLOCK)
    tally.count("look", "s:3", _BLOCK, None)
    assert tally.places == {("a",): "s:0", ("block", "allow", "look", "a"): "s:0", ("(no rule)",): "s:3"}
    assert tally.to_dict()["changes"] == [
        {"before": "block", "now": "allow", "tool": "look", "rule": "a", "calls": 3, "first": "s:0"}
    ]


def test_a_session_without_a_loss_is_only_counted() -> None:
    """None, or nothing but calls that run."""
    tally = Tally()
    for worst in (None, Verdict.ALLOW, Verdict.CONFIRM):
        tally.end(worst)
    assert (tally.sessions, dict(tally.lost)) == (3, {"confirm": 1})


def test_bad_lines_are_counted_by_their_error() -> None:
    """With the place of the first."""
    tally = Tally()
    for number in range(2):
        tally.refuse(f"s:{number}", "no")
    assert tally.to_dict()["bad_lines"] == [{"error": "no", "lines": 2, "first": "s:0"}]
