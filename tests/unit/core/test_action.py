"""The actions of calls: what they are called, what they touch, and what of them is known."""

from tests.tables import for_each

from permitry.core.action import (
    Access,
    Action,
    Actions,
    Connect,
    Delegate,
    Operands,
    Place,
    Run,
    Touch,
    Unknown,
    Word,
    phrase,
)

A, B = (Place(name, (f"/w/{name}",), (f"/w/{name}",)) for name in ("a", "b"))
READ, WRITE = Touch(Access.READ, A), Touch(Access.WRITE, B)
HERE, THERE = Connect("https://h/x", "https", "h", 443), Connect("t", host="t")
COPY = Run((Word("cp"), Word("a"), Word("b")), "it writes", read_operands=lambda: Operands((READ, WRITE)))
FETCH = Run((Word("curl"), Word("h")), "it connects", read_operands=lambda: Operands(connects=(HERE,)))
UNREADABLE = Unknown("$x", "an expansion")


# Words ------------------------------------------------------------------------------------------------------------


@for_each(
    ("word", "may"),
    [
        (Word("-x"), True),
        (Word("x"), False),
        (Word(""), False),
        (Word("*", is_glob=True), True),
        (Word("?x", is_glob=True), True),
        (Word("[-x]y", is_glob=True), True),
        (Word("a*", is_glob=True), False),
        (Word("*"), False),
        (Word("$x", is_open=True), True),
        (Word("a$x", is_open=True), True),
        (Word("a$x", is_open=True, is_single=True), False),
        (Word("-a$x", is_open=True, is_single=True), True),
        (Word("~/$x", is_home=True, is_open=True, is_single=True), True),
        (Word("{}", is_open=True, is_single=True), True),
        (Word("$x", is_open=True, is_single=True, is_value=True), False),
        (Word("-a$x", is_open=True, is_single=True, is_value=True), False),
    ],
)
def test_a_word_may_be_an_option_when_it_may_begin_with_a_hyphen(*, word: Word, may: bool) -> None:
    """A file name may be anything, and so may what an expansion becomes."""
    assert word.may_be_option is may


def test_programs_are_all_that_run_or_may_run() -> None:
    """Certain ones first, and no guesses."""
    actions = Actions((COPY, READ), (FETCH, HERE), (Run((Word("rm"),)),))
    assert list(actions.runs()) == [COPY, FETCH]


def test_what_is_touched_includes_the_operands_of_programs() -> None:
    """In order, certain ones first, and no guesses."""
    actions = Actions((COPY, HERE), (READ, UNREADABLE), (WRITE,))
    assert list(actions.touches()) == [READ, WRITE, READ]
    assert list(Actions((FETCH,)).touches()) == []


def test_what_is_connected_to_includes_the_operands_of_programs() -> None:
    """In order, certain ones first, and no guesses."""
    actions = Actions((FETCH, READ), (THERE, UNREADABLE), (HERE,))
    assert list(actions.connects()) == [HERE, THERE]


def test_the_first_thing_that_could_not_be_read_is_reported() -> None:
    """Only among what is certain: what is possible besides can make nothing less certain."""
    assert Actions((READ, UNREADABLE, Unknown("y", "later"))).unknown is UNREADABLE
    assert Actions((READ,), (UNREADABLE,), (UNREADABLE,)).unknown is None


@for_each(
    ("actions", "targets"),
    [
        (Actions((COPY, FETCH)), {"path:/w/a", "path:/w/b", "host:h"}),
        (Actions((READ,), (THERE,)), {"path:/w/a", "host:t"}),
        (Actions((Touch(Access.READ, Place("l", ("/w/l",), ("/w/a",))), READ)), {"path:/w/a"}),
        (Actions((Touch(Access.READ, Place("x")), Connect("no address"))), {"path:x", "host:no address"}),
        (Actions((Delegate("x"), Delegate())), {"agent:x", "agent:None"}),
        (Actions((UNREADABLE, Run((Word("ls"),))), guessed=(READ,)), set()),
    ],
)
def test_targets_are_what_a_call_meets(actions: Actions, targets: set[str]) -> None:
    """Two names of one file are one target, and what has no other name goes by how it is written."""
    assert actions.targets == targets


def test_operands_are_read_when_someone_asks_and_once() -> None:
    """Rules about names cost no reading."""
    asked: list[None] = []

    def read() -> Operands:
        asked.append(None)
        return Operands((READ,), is_listed=True)

    run = Run((Word("cat"), Word("a")), read_operands=read)
    assert (run.argv, run) == (("cat", "a"), Run((Word("cat"), Word("a"))))
    assert asked == []
    assert run.operands is run.operands
    assert asked == [None]


# In a few words ---------------------------------------------------------------------------------------------------


@for_each(
    ("action", "expected"),
    [
        (COPY, "cp a b"),
        (READ, "read a"),
        (Touch(Access.DELETE, B), "delete b"),
        (HERE, "connect https://h/x"),
        (Delegate("x"), "delegate to x"),
        (Delegate(), "delegate to an agent"),
        (UNREADABLE, "$x"),
        (Unknown("x" * 60, "why"), "x" * 60),
        (Unknown("x" * 61, "why"), "x" * 60 + "..."),
    ],
)
def test_an_action_is_reported_in_a_few_words(action: Action, expected: str) -> None:
    """Long ones are cut."""
    assert phrase(action) == expected


@for_each(
    ("words", "expected"),
    [
        ((Word("git"), Word("-m"), Word("fix it")), "git -m 'fix it'"),
        ((Word("*.o"), Word("*.o", is_glob=True), Word("~/x", is_home=True), Word("~x")), "'*.o' *.o ~/x '~x'"),
        ((Word("$x y", is_open=True, is_single=True), Word("$x", is_open=True), Word("$x")), "\"$x y\" $x '$x'"),
        ((Word("it's"), Word("$it's"), Word("")), "\"it's\" '$it'\\''s' ''"),
        ((Word("["), Word("{}"), Word("{a,b}")), "[ {} '{a,b}'"),
    ],
)
def test_a_command_is_shown_as_a_shell_needs_it(words: tuple[Word, ...], expected: str) -> None:
    """In quotes are the words that a shell would read otherwise, and only they."""
    assert phrase(Run(words)) == expected
