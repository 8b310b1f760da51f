"""Who has answered questions."""

from typing import Any

from permitry.cli.approvers import Approvers


def _asked(name: str, second: int) -> dict[str, Any]:
    return {"event": "asked", "pending_id": name, "at": f"2026-11-23T10:00:{second:02}.000+00:00"}


def _answered(name: str, second: int, **more: object) -> dict[str, Any]:
    return {**_asked(name, second), "event": "answered", "approved": True, **more}


def test_each_approver_has_a_row() -> None:
    """With how long what was approved had waited, and how often arguments were changed."""
    approvers = Approvers()
    approvers.ask(_asked("p1", 0))
    approvers.ask(_asked("p2", 5))
    approvers.answer(_answered("p2", 10, by="ann", edited=True))
    approvers.answer(_answered("p1", 20, by="ann"))
    approvers.answer(_answered("p3", 21, by="bob", approved=False))
    none = {"approved": 0, "not_approved": 1, "edited": 0, "mean": None, "longest": None}
    ann = {"approved": 2, "not_approved": 0, "edited": 1, "mean": 12.5, "longest": 20.0}
    assert approvers.to_dict() == {"ann": ann, "bob": none}
    _, _, rows = approvers.table()
    assert rows == [("ann", "2", "0", "1", "12", "20"), ("bob", "0", "1", "0", "", "")]


def test_what_no_human_answered_has_no_approver() -> None:
    """A grant did, or the time was over; a question of another record has no known wait."""
    approvers = Approvers()
    approvers.answer(_answered("p1", 0, grant="g1"))
    approvers.answer(_answered("p2", 0, approved=False, error="no answer in time"))
    assert approvers.counts == {}
    approvers.answer(_answered("p3", 0, by="ann"))
    assert approvers.to_dict()["ann"]["mean"] is None


def test_questions_without_an_answer_take_no_memory() -> None:
    """Of the oldest it is forgotten when they were asked."""
    approvers = Approvers()
    for number in range(10_001):
        approvers.ask(_asked(f"p{number}", 0))
    for name in ("p0", "p10000"):
        approvers.answer(_answered(name, 5, by=name))
    means = {by: each["mean"] for by, each in approvers.to_dict().items()}
    assert means == {"p0": None, "p10000": 5.0}


def test_a_clock_that_went_back_makes_no_wait() -> None:
    """And no mean below none; a time that is not one is unknown."""
    approvers = Approvers()
    approvers.ask(_asked("p1", 30))
    approvers.answer(_answered("p1", 10, by="ann"))
    approvers.ask({**_asked("p2", 0), "at": "soon"})
    approvers.answer(_answered("p2", 10, by="bob"))
    assert {by: each["longest"] for by, each in approvers.to_dict().items()} == {"ann": 0.0, "bob": None}
