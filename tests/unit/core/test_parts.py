"""The parts of a call: each action, and what its programs touch and connect to."""

import attrs
import pytest

from permitry.core.action import Access, Action, Actions, Connect, Operands, Place, Run, Touch, Word
from permitry.core.parts import Part, Parts, guesses_of, parts_of

READ = Touch(Access.READ, Place("a", ("/w/a",), ("/w/a",)))
GUESS = attrs.evolve(READ, is_guess=True)
CONNECT = Connect("https://x.org", "https", "x.org", 443)
RUN = Run((Word("cat"), Word("a")), None, read_operands=lambda: Operands((READ,), (CONNECT,), guessed=(GUESS,)))


def test_a_program_has_its_operands_after_it() -> None:
    """Each knows the program it belongs to."""
    assert list(parts_of([RUN, READ])) == [Part(RUN), Part(READ, RUN), Part(CONNECT, RUN), Part(READ)]


def test_guessed_operands_come_with_guessed_actions_only() -> None:
    """They are no parts of what the call surely does."""
    assert list(guesses_of(Actions((RUN,), guessed=(CONNECT,)))) == [Part(CONNECT), Part(GUESS, RUN)]


@pytest.mark.parametrize(
    ("part", "is_guess"),
    [
        (Part(READ, RUN), False),
        (Part(GUESS, RUN), True),
        (Part(attrs.evolve(RUN, is_guess=True)), True),
        (Part(READ, attrs.evolve(RUN, is_guess=True)), True),
        (Part(CONNECT), False),
    ],
)
def test_what_belongs_to_a_guess_is_one(part: Part, is_guess: bool) -> None:  # noqa: FBT001 -- a case
    """A path that need not be touched, a program that need not run, and what it touches."""
    assert part.is_guess is is_guess


@pytest.mark.parametrize(
    ("subject", "is_open"),
    [
        (READ, False),
        (Touch(Access.READ, Place("$x", (), ())), True),
        (CONNECT, False),
        (Connect("$x", None, None, None), True),
        (RUN, False),
    ],
)
def test_what_could_be_anything_is_open(subject: Action, is_open: bool) -> None:  # noqa: FBT001 -- a case
    """A path without a name, an address without a host."""
    assert Part(subject).is_open is is_open
    assert bool(Parts((Part(subject),)).open) is is_open


def test_the_words_are_those_of_the_program() -> None:
    """Of an address that no program connects to there are none."""
    assert Part(READ, RUN).words == Part(RUN).words == RUN.words
    assert Part(CONNECT).words == ()


def test_parts_are_listed_by_type_in_their_order() -> None:
    """Programs, paths and addresses."""
    parts = Parts(tuple(parts_of([CONNECT, RUN])))
    assert parts.runs == (Part(RUN),)
    assert parts.touches == (Part(READ, RUN),)
    assert parts.connects == (Part(CONNECT), Part(CONNECT, RUN))


def test_a_part_has_the_assignments_of_its_program() -> None:
    """Those of the program that touches it, or whose input it is."""
    run = attrs.evolve(RUN, sets=("PATH=bin",))
    given = attrs.evolve(READ, sets=("PATH=bin",))
    assert [Part(run).sets, Part(READ, run).sets, Part(given).sets, Part(READ).sets] == [run.sets] * 3 + [()]
    assert Part(CONNECT).sets == ()
