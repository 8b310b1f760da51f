"""What is counted of replayed sessions."""

from permitry.core.decision import Decision, Phase, Verdict
from permitry_ops.replay.tally import Loss, Tally

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
    """The others are counted by the strictest verdict, and their tasks have the sum."""
    tally = Tally()
    for loss in (None, Loss(Verdict.BLOCK, "s:1", calls=2), None, Loss(Verdict.CONFIRM, "s:5")):
        tally.end("t", loss)
    assert (tally.sessions, dict(tally.lost)) == (4, {"block": 1, "confirm": 1})
    assert tally.tasks == {"t": Loss(Verdict.BLOCK, "s:1", calls=3, sessions=2)}


def test_memory_does_not_grow_with_the_tasks() -> None:
    """The first that lose a call are listed, the sessions of the others counted; in parts just as in one."""
    whole, parts = Tally(), [Tally(), Tally()]
    for number in range(20_000):
        parts[number // 9_000 % 2].end(f"{number}", Loss(Verdict.CONFIRM, "s:1"))
    parts[0].end("x" * 300, Loss(Verdict.BLOCK, "s:2"))
    for part in parts:
        whole.add(part)
    assert (len(whole.tasks), whole.unlisted, whole.sessions) == (10_000, 10_001, 20_001)
    assert whole.to_dict()["sessions_of_unlisted_tasks"] == 10_001


def test_the_tasks_that_lose_most_come_first() -> None:
    """What is blocked before what is asked about, then by the number of calls."""
    tally = Tally()
    for task, verdict, calls in (("a", "confirm", 9), ("b", "block", 1), ("c", "block", 2), ("d", "confirm", 9)):
        tally.end(task, Loss(Verdict(verdict), "s:1", calls=calls))
    assert [task for task, _ in tally.most_lost()] == ["c", "b", "a", "d"]


def test_bad_lines_are_counted_by_their_error() -> None:
    """With the place of the first."""
    tally = Tally()
    for number in range(2):
        tally.refuse(f"s:{number}", "no")
    assert tally.to_dict()["bad_lines"] == [{"error": "no", "lines": 2, "first": "s:0"}]
