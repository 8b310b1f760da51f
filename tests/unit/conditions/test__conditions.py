"""The conditions of one `when` or `unless`: all must hold, and one that fails is never taken for one that holds."""

from typing import ClassVar

import attrs
import pytest

from permitry.conditions._conditions import Conditions, Effect
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.path import PathPattern
from permitry.core.action import Access, Actions, Operands, Place, Roots, Run, Touch, Unknown, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.errors import UnevaluableError

REQUEST = Request(ToolCall("t"), AuthContext())
ACTIONS = Actions((), roots=Roots(("/w",), ("/home/u",)))
HOST = HostPattern("b.example", None, "b.example", None)
READ = Touch(Access.READ, Place("a", ("/w/a",), ("/w/a",)))


@attrs.frozen
class _Given:
    """A condition that answers what it is given; None if it cannot be evaluated."""

    answer: bool | None
    is_pure: ClassVar[bool] = True

    def holds(self, _: Request, *, over_approximate: bool) -> bool:
        if self.answer is None:
            raise UnevaluableError(f"no answer, {over_approximate=}")
        return self.answer

    def fact(self, _: Request) -> str:
        return f"answer = {self.answer}"


class _Impure(_Given):
    """One whose own class does not say that it is pure."""


@pytest.mark.parametrize(
    ("answers", "hold"),
    [((), True), ((True, True), True), ((True, False), False), ((None, False), False)],
)
def test_all_conditions_must_hold(answers: tuple[bool | None, ...], *, hold: bool) -> None:
    """One that does not hold outweighs one that fails; no conditions always hold."""
    conditions = Conditions(tuple(map(_Given, answers)))
    assert conditions.plain_hold(REQUEST, over_approximate=False) is hold


def test_a_condition_that_fails_is_not_passed_over() -> None:
    """The others hold, so the answer depends on it."""
    with pytest.raises(UnevaluableError):
        Conditions((_Given(None), _Given(answer=True))).plain_hold(REQUEST, over_approximate=True)


def test_what_is_the_case_instead_is_reported() -> None:
    """Of each condition that does not hold, or cannot be evaluated."""
    conditions = Conditions((_Given(answer=True), _Given(answer=False), _Given(None)))
    facts = conditions.facts(REQUEST, over_approximate=False)
    assert list(facts) == ["answer = False", "no answer, over_approximate=False"]


def test_conditions_are_pure_if_each_says_so_itself() -> None:
    """A subclass may have changed what it was true of."""
    assert Conditions((_Given(answer=True),)).are_pure
    assert not Conditions((_Given(answer=True), _Impure(answer=True))).are_pure


@pytest.mark.parametrize(
    ("conditions", "whats"),
    [
        (Conditions(paths=(PathPattern("a"),)), {"", "path"}),
        (Conditions(hosts=(HOST,)), {"", "host"}),
        (Conditions(paths=(PathPattern("a"),), hosts=(HOST,)), {"", "path", "host"}),
        (Conditions(commands=(ArgvPattern("ls"),)), {""}),
    ],
)
def test_an_unknown_action_may_be_what_they_are_about(conditions: Conditions, whats: set[str]) -> None:
    """One of which nothing is known may be anything."""
    assert {what for what in ("", "path", "host", "agent") if conditions.are_about(what)} == whats


@pytest.mark.parametrize(
    ("program", "near"),
    [
        (Word("a"), "a"), (Word("/bin/a"), "a"), (Word("x"), ""), (Word("a*", is_glob=True), "abcde"),
        (Word("~", is_home=True), "abcde"), (Word("a", is_open=True), "abcde"),
    ],
)  # fmt: skip
def test_patterns_of_commands_are_found_by_the_name_of_the_program(program: Word, near: str) -> None:
    """All of them where the shell has yet to expand it: the home folder itself may have any name."""
    conditions = Conditions(commands=tuple(map(ArgvPattern, "abcde")))
    assert [each.text for each in conditions.commands_near(Run((program,)))] == list(near)


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


def test_a_path_fits_with_its_access() -> None:
    """Another access, or a path that is not certain, does not surely fit."""
    conditions = Conditions(paths=(PathPattern("a"),), accesses=frozenset({Access.READ}))
    assert conditions.fit(Effect(READ), ACTIONS)
    assert not conditions.fit(Effect(attrs.evolve(READ, access=Access.WRITE)), ACTIONS)
    unsure = attrs.evolve(READ, place=attrs.evolve(READ.place, is_certain=False))
    assert not conditions.fit(Effect(unsure), ACTIONS)


@pytest.mark.parametrize(("is_listed", "fits"), [(True, True), (False, False)])
def test_a_program_fits_if_all_it_touches_is_known(*, is_listed: bool, fits: bool) -> None:
    """A condition on paths says nothing about what could not be read."""
    run = Run((Word("cat"), Word("a")), read_operands=lambda: Operands((READ,), is_listed=is_listed))
    conditions = Conditions(commands=(ArgvPattern("cat *"),), paths=(PathPattern("a"),))
    assert conditions.fit(Effect(run), ACTIONS) is fits


def test_a_redirection_is_not_covered_by_a_condition_on_commands() -> None:
    """Its file is an action of its own."""
    conditions = Conditions(commands=(ArgvPattern("cat *"),))
    assert not conditions.fit(Effect(attrs.evolve(READ, words=(Word("cat"),))), ACTIONS)
    assert conditions.fit(Effect(READ, Run((Word("cat"), Word("a")))), ACTIONS)


def test_a_part_of_a_guess_is_a_guess() -> None:
    """Of a command that need not run, or a path that need not be touched."""
    assert Effect(READ, Run((Word("cat"),), is_guess=True)).is_guess
    assert Effect(attrs.evolve(READ, is_guess=True)).is_guess
    assert not Effect(READ, Run((Word("cat"),))).is_guess


def test_what_is_not_read_certainly_meets_nothing() -> None:
    """It may only be what the conditions are about."""
    assert not Conditions(commands=(ArgvPattern("*"),)).must_fit(Effect(Unknown("$x", "an expansion")), REQUEST)
