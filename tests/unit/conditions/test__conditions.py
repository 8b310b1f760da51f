"""The conditions of one `when` or `unless`: all must hold, and one that fails is never taken for one that holds."""

from typing import cast

import pytest
from tests.matching import Given
from tests.tables import for_each

from permitry.conditions._conditions import Conditions
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match
from permitry.conditions.path import PathPattern
from permitry.core.action import Access
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.errors import UnevaluableError

REQUEST = Request(ToolCall("t"), AuthContext())
HOST = HostPattern("b.example", None, "b.example", None)


class _Impure(Given):
    """One whose own class does not say that it is pure."""


@for_each(
    ("answers", "hold"),
    [((), True), ((True, True), True), ((True, False), False), ((None, False), False)],
)
def test_all_conditions_must_hold(answers: tuple[bool | None, ...], *, hold: bool) -> None:
    """One that does not hold outweighs one that fails; no conditions always hold."""
    conditions = Conditions(tuple(map(Given, answers)))
    assert conditions.plain_match(REQUEST, Match.YES) is hold


def test_a_condition_that_fails_is_not_passed_over() -> None:
    """The others hold, so the answer depends on it."""
    with pytest.raises(UnevaluableError):
        Conditions((Given(None), Given(answer=True))).plain_match(REQUEST, Match.ALIKE)


@for_each("answer", [True, 5, None])
def test_an_answer_that_is_no_match_is_a_failure(answer: object) -> None:
    """So that a restriction with such a condition applies."""

    class Wrong(Given):
        def match(self, _: Request, _needed: Match = Match.YES, /) -> Match:
            return cast("Match", answer)

    with pytest.raises(TypeError, match="not how far it matches"):
        Conditions((Wrong(answer=True),)).plain_match(REQUEST, Match.ALIKE)


def test_conditions_are_pure_if_each_says_so_itself() -> None:
    """A subclass may have changed what it was true of."""
    assert Conditions((Given(answer=True),)).are_pure
    assert not Conditions((Given(answer=True), _Impure(answer=True))).are_pure


def test_what_they_are_about_is_named_for_a_human() -> None:
    """With one pattern of each kind, and what happens to paths."""
    conditions = Conditions(
        commands=(ArgvPattern("ls"), ArgvPattern("cat")),
        paths=(PathPattern("a"),),
        hosts=(HOST,),
        accesses=frozenset({Access.WRITE}),
    )
    assert conditions.does == "run `ls`, ... and write `a` and connect to `b.example`"
    assert Conditions().does == ""
