"""The effects of a call: each action, and what its programs touch and connect to."""

import attrs
from tests.tables import for_each

from permitry.core.action import Access, Action, Actions, Connect, Delegate, Operands, Place, Roots, Run, Touch, Word
from permitry.core.effects import Effect, Effects, effects_of, guesses_of, only_reads

READ = Touch(Access.READ, Place("a", ("/w/a",), ("/w/a",)))
GUESS = attrs.evolve(READ, is_guess=True)
CONNECT = Connect("https://x.org", "https", "x.org", 443)
RUN = Run((Word("cat"), Word("a")), None, read_operands=lambda: Operands((READ,), (CONNECT,), guessed=(GUESS,)))


def test_a_program_has_its_operands_after_it() -> None:
    """Each knows the program it belongs to."""
    assert list(effects_of([RUN, READ], Actions())) == [
        Effect(RUN),
        Effect(READ, RUN),
        Effect(CONNECT, RUN),
        Effect(READ),
    ]


def test_guessed_operands_come_with_guessed_actions_only() -> None:
    """They are no effects of what the call surely does."""
    assert guesses_of(Actions((RUN,), guessed=(CONNECT,))).every == (Effect(CONNECT), Effect(GUESS, RUN))


@for_each(
    ("effect", "is_guess"),
    [
        (Effect(READ, RUN), False),
        (Effect(GUESS, RUN), True),
        (Effect(attrs.evolve(RUN, is_guess=True)), True),
        (Effect(READ, attrs.evolve(RUN, is_guess=True)), True),
        (Effect(CONNECT), False),
    ],
)
def test_what_belongs_to_a_guess_is_one(effect: Effect, is_guess: bool) -> None:  # noqa: FBT001 -- a case
    """A path that need not be touched, a program that need not run, and what it touches."""
    assert effect.is_guess is is_guess


@for_each(
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
    assert Effect(subject).is_open is is_open
    assert bool(Effects((Effect(subject),)).open) is is_open


def test_the_words_are_those_of_the_program() -> None:
    """Of an address that no program connects to there are none."""
    assert Effect(READ, RUN).words == Effect(RUN).words == RUN.words
    assert Effect(CONNECT).words == ()


def test_effects_are_listed_by_class_in_their_order() -> None:
    """Programs, paths and addresses."""
    effects = Effects(tuple(effects_of([CONNECT, RUN], Actions())))
    assert effects.by_class[Run] == (Effect(RUN),)
    assert effects.by_class[Touch] == (Effect(READ, RUN),)
    assert effects.by_class[Connect] == (Effect(CONNECT), Effect(CONNECT, RUN))


def test_an_effect_has_the_assignments_of_its_program() -> None:
    """Those of the program that touches it, or whose input it is."""
    run = attrs.evolve(RUN, sets=("PATH=bin",))
    given = attrs.evolve(READ, sets=("PATH=bin",))
    assert [Effect(run).sets, Effect(READ, run).sets, Effect(given).sets, Effect(READ).sets] == [run.sets] * 3 + [()]
    assert Effect(CONNECT).sets == ()


@for_each(
    ("effect", "is_of_shell"),
    [
        (Effect(attrs.evolve(READ, access=Access.WRITE, words=(Word("echo"),))), True),
        (Effect(attrs.evolve(READ, access=Access.WRITE, words=(Word("tee"),), is_all=True)), False),
        (Effect(attrs.evolve(READ, words=(Word("cat"),))), False),
        (Effect(attrs.evolve(READ, access=Access.WRITE), RUN), False),
        (Effect(Connect("/dev/tcp/x.org/80")), True),
        (Effect(CONNECT), False),
        (Effect(CONNECT, RUN), False),
        (Effect(RUN), False),
    ],
)
def test_what_the_shell_does_itself_belongs_to_no_program(effect: Effect, is_of_shell: bool) -> None:  # noqa: FBT001 -- a case
    """It writes to the file of a redirection, or connects to an address that is written as one."""
    assert effect.is_of_shell is is_of_shell


def test_patterns_are_compared_with_the_place_of_a_path() -> None:
    """Whatever happens to it; anything else is compared as a whole, and paths from the roots of the call."""
    assert Effect(READ).target is READ.place
    assert Effect(RUN).target is RUN
    roots = Roots(("/w",))
    assert Effect(READ, None, Actions(roots=roots)).roots is roots


@for_each(
    ("action", "is_reading"),
    [
        (Run((Word("ls"),)), True), (Run((Word("x"),), "it may do anything"), False), (READ, True),
        (attrs.evolve(READ, access=Access.WRITE), False), (Connect("x"), False), (Delegate("a"), False),
    ],
)  # fmt: skip
def test_what_only_reads_may_be_covered_by_another_permission(action: Action, *, is_reading: bool) -> None:
    """Programs that only read, and paths that are read."""
    assert only_reads(action) is is_reading
