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
