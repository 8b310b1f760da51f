"""How a permission reads matches: an effect must match exactly, and an exception takes back what it may match."""

import attrs
from tests.tables import for_each

from permitry.conditions.command import ArgvPattern
from permitry.conditions.path import PathPattern
from permitry.conditions.permit import cover, fits
from permitry.conditions.scope import Conditions
from permitry.core.action import Access, Action, Actions, Operands, Place, Roots, Run, Touch, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.effects import Effect
from permitry.core.rule import Request

ACTIONS = Actions((), roots=Roots(("/w",), ("/home/u",)))
READ = Touch(Access.READ, Place("a", ("/w/a",), ("/w/a",)))
CAT = Conditions(commands=(ArgvPattern("cat *"),))


def _fits(conditions: Conditions, subject: Action, run: Run | None = None) -> bool:
    return fits(conditions, Effect(subject, run, ACTIONS))


def test_a_path_fits_with_its_access() -> None:
    """Another access, or a path that is not certain, does not surely fit."""
    conditions = Conditions(paths=(PathPattern("a"),), accesses=frozenset({Access.READ}))
    assert _fits(conditions, READ)
    assert not _fits(conditions, attrs.evolve(READ, access=Access.WRITE))
    assert not _fits(conditions, attrs.evolve(READ, place=attrs.evolve(READ.place, is_certain=False)))


@for_each(("is_listed", "is_fit"), [(True, True), (False, False)])
def test_a_program_fits_if_all_it_touches_is_known(*, is_listed: bool, is_fit: bool) -> None:
    """A condition on paths says nothing about what could not be read."""
    run = Run((Word("cat"), Word("a")), read_operands=lambda: Operands((READ,), is_listed=is_listed))
    assert _fits(attrs.evolve(CAT, paths=(PathPattern("a"),)), run) is is_fit


def test_a_redirection_is_not_covered_by_a_condition_on_commands() -> None:
    """Its file is an action of its own."""
    assert not _fits(CAT, attrs.evolve(READ, words=(Word("cat"),)))
    assert _fits(CAT, READ, Run((Word("cat"), Word("a"))))


def test_assignments_before_the_program_must_be_named() -> None:
    """They may make it do something else with the path."""
    assert not _fits(CAT, READ, Run((Word("cat"), Word("a")), sets=("PATH=bin",)))


@for_each(("unless", "covered"), [("b", {0}), ("*", set()), ("a", set())])
def test_an_exception_takes_back_what_it_may_match(unless: str, covered: set[int]) -> None:
    """Here a path that the program touches."""
    run = Run((Word("cat"), Word("a")), read_operands=lambda: Operands((READ,), is_listed=True))
    request = Request(ToolCall("t"), AuthContext(), reader=lambda *_: attrs.evolve(ACTIONS, certain=(run,)))
    assert cover(CAT, (Conditions(paths=(PathPattern(unless),)),), request) == covered
