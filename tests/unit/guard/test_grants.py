"""Grants: whose calls they are for, and that they are kept as they are."""

import pytest
from tests.tables import for_each

from permitry.channels.clock import Moment
from permitry.guard.grants import Grant


@for_each("deadline", [None, Moment(1.0, "boot", 2.0)])
def test_a_grant_comes_back_from_its_row(deadline: Moment | None) -> None:
    """With all its parts."""
    grant = Grant('tools = ["x"]', "d", "main", "s", "ann", "because", "bob", 5.0, deadline, 3, None)
    assert Grant.of(grant.row()) == grant


@for_each(
    ("session", "principal", "fits"),
    [(None, None, True), ("s1", None, True), ("s3", None, False), (None, "ann", True), ("s1", "bob", False)],
)
def test_a_grant_is_for_its_sessions_and_principal(session: str | None, principal: str | None, *, fits: bool) -> None:
    """Where it names none, for all."""
    assert Grant("", session=session, principal=principal).is_for(("s1", "s2"), "ann") is fits
    assert Grant("", principal="ann").is_for(("s1",), None) is False


def test_there_are_no_uses_below_none() -> None:
    """None at all is without a bound."""
    with pytest.raises(ValueError, match="uses_left"):
        Grant("", uses_left=-1)


def test_a_grant_for_a_request_ends_when_the_user_writes_again() -> None:
    """Where it is not known which request an agent works on, it counts for none."""
    grant = Grant("", session="s1", request="t1")
    assert Grant.of(grant.row()) == grant
    assert grant.is_for(("s1",), None, "t1")
    assert [grant.is_for(("s1",), None, turn) for turn in ("t2", "")] == [False, False]
    assert not grant.is_for(("s2",), None, "t1")


def test_an_earlier_version_takes_it_for_one_of_another_session() -> None:
    """It knows nothing of requests, and would let it count for longer."""
    assert Grant("", session="s1", request="t1").row()["session"] not in ("s1", None)
    assert Grant.of(Grant("", session="").row()).session == ""


@for_each("session", [None, ""])
def test_a_grant_for_a_request_is_for_a_session(session: str | None) -> None:
    """No other has the same."""
    with pytest.raises(ValueError, match="is for a session"):
        Grant("", session=session, request="t1")


@for_each("request_", [None, "t2"])
def test_a_session_with_a_line_break_has_no_grants(request_: str | None) -> None:
    """Kept, `s1` and a turn of it look like that."""
    with pytest.raises(ValueError, match="line break"):
        Grant("", session="s1\nt1", request=request_)
