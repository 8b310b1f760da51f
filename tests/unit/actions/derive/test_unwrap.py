"""What stands around a program: wrappers, shells and assignments."""

import pytest
from tests.tables import for_each

from permitry.actions.command import Command
from permitry.actions.derive.unwrap import unwrap
from permitry.actions.programs.entries import RefusedError
from permitry.actions.programs.wrappers import PARAMETERS
from permitry.actions.reading.strict import read_strictly
from permitry.core.action import Word


def test_unwrap_names_what_runs() -> None:
    """Wrappers and shells are taken off; what runs keeps the place of the whole, and their names."""
    command = read_strictly("ls; timeout 5 env LC_ALL=C sh -c 'cat a | wc -l'")[1]
    inner = unwrap(command)
    assert [one.argv for one in inner] == [("cat", "a"), ("wc", "-l")]
    assert {(one.start, one.end) for one in inner} == {(command.start, command.end)}
    assert [one.within for one in inner] == [("timeout", "env", "sh")] * 2
    assert [one.follows for one in inner] == [command.follows, "|"]


def test_redirections_of_a_shell_stand_at_its_first_command() -> None:
    """What is opened before a shell starts is opened where its first command runs."""
    inner = unwrap(read_strictly("sh -c 'cd x < a; ls > b' > c")[0])
    assert [[one.target for one in command.redirections] for command in inner] == [["c", "a"], ["b"]]


def test_unwrap_refuses_what_it_cannot_see_through() -> None:
    """A wrapper used in an unknown way is an error, not a guess."""
    with pytest.raises(RefusedError, match="`env -S` splits a text into a command"):
        unwrap(read_strictly("env -S 'ls' x")[0])


def test_a_wrapper_that_runs_nothing_stands_for_itself() -> None:
    """`env` alone prints, and so does `command -v`."""
    for text in ("env", "command -v ls", "nice"):
        assert [one.argv for one in unwrap(read_strictly(text)[0])] == [tuple(text.split())]


@for_each("wrapper", ["timeout", "timeout 5", "nice", "env", "env LC_ALL=C", "sh", "sh -c", "command"])
def test_an_open_word_is_never_what_runs(wrapper: str) -> None:
    """An expansion in the place of a program, of a text or of an option is refused."""
    words = tuple(Word(word) for word in wrapper.split())
    with pytest.raises(RefusedError):
        unwrap(Command((*words, Word("$x", is_open=True))))


@for_each(
    ("text", "argv", "assignments"),
    [
        ("env -u A ls -l", ("ls", "-l"), (("A", ""),)),
        ("env -uA --unset=B C=1 ls", ("ls",), (("A", ""), ("B", ""), ("C", "1"))),
        ("env -i ls", ("ls",), (("PATH", ""),)),
    ],
)
def test_a_variable_that_is_taken_away_is_a_change(
    text: str, argv: tuple[str, ...], assignments: tuple[tuple[str, str], ...]
) -> None:
    """As if it were empty; without variables, programs are looked for elsewhere."""
    (inner,) = unwrap(read_strictly(text)[0])
    assert (inner.argv, inner.assignments) == (argv, assignments)


@for_each("text", ["env -u", "env -u A", "env -i", 'env -u "$A" ls', "env -u $A ls", "env -u* ls", "env -u A=B ls"])
def test_what_is_taken_away_is_known(text: str) -> None:
    """And so is the program behind it."""
    with pytest.raises(RefusedError):
        unwrap(read_strictly(text)[0])


def test_a_text_with_parameters_does_not_only_read() -> None:
    """What they are is not known where the text names them."""
    (inner,) = unwrap(read_strictly("sh -c 'cat $1' _ a")[0])
    assert inner.words == (Word("cat"), Word("$1", is_open=True))
    assert inner.within == ("sh", PARAMETERS)


def test_all_commands_of_a_shell_are_fed() -> None:
    """By the pipe before it."""
    inner = unwrap(read_strictly("a | sh -c 'b; c'")[1])
    assert [one.is_piped for one in inner] == [True, True]
