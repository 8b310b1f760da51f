"""What stands around a program: wrappers, shells and assignments."""

import pytest

from permitry.actions.programs.catalogue import RefusedError
from permitry.actions.programs.wrappers import unwrap
from permitry.actions.shell.strict import Command, read_strictly
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


@pytest.mark.parametrize("wrapper", ["timeout", "timeout 5", "nice", "env", "env LC_ALL=C", "sh", "sh -c", "command"])
def test_an_open_word_is_never_what_runs(wrapper: str) -> None:
    """An expansion in the place of a program, of a text or of an option is refused."""
    words = tuple(Word(word) for word in wrapper.split())
    with pytest.raises(RefusedError):
        unwrap(Command((*words, Word("$x", is_open=True))))
