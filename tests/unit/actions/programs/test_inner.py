"""What an option or an expression of a program runs."""

import attrs
from tests.tables import for_each

from permitry.actions.programs.inner import (
    after_dashes,
    fd,
    find,
    has_letter,
    joined,
    listed,
    marked,
    program_of,
    read,
    run,
    without_commands,
)
from permitry.core.action import Word

OPEN = Word("{}", is_open=True)
NAME = Word("{}", is_open=True, is_single=True)


def _words(text: str) -> tuple[Word, ...]:
    return tuple(map(Word, text.split()))


@for_each(
    ("text", "found"),
    [
        ("find . -exec rm {} ;", [run((Word("rm"), NAME))]),
        ("find . -exec rm {} + -ok ls ;", [run((Word("rm"), NAME)), run((Word("ls"),))]),
        ("find . -exec rm + x", [run(_words("rm + x"))]),
        ("find . -exec", [run(())]),
        ("find . -name x", []),
    ],
)
def test_find_runs_what_follows_up_to_its_end(text: str, found: list[object]) -> None:
    """Where a file's name comes, the word is one of those that were found below `.`."""
    inner = [each.words for each in find(_words(text))]
    assert [run([attrs.evolve(word, found=None) for word in words]) for words in inner] == found
    assert {word.found and word.found.tops for words in inner for word in words if word.is_open} <= {(Word("."),)}


@for_each("text", ["find . -execdir rm {} ;", "find . -okdir rm x ;", "find . -exec ls {} ; -exec rm {} ;"])
def test_of_what_is_run_in_other_folders_no_name_is_known(text: str) -> None:
    """Nor of what is run when another program may have changed what was found."""
    *_, inner = find(_words(text))
    assert [word.found for word in inner.words if word.is_open] == [None]


def test_find_alone_runs_nothing() -> None:
    """Its own words are those without the commands."""
    assert without_commands(_words("find . -exec rm {} ; -name x -ok ls ; -print")) == [
        *_words("find . -name x -print")
    ]


def test_a_pattern_may_become_an_option_of_find() -> None:
    """A file can have such a name; that it does is a guess."""
    (inner,) = find((Word("find"), Word("-ex*", is_glob=True), Word("rm"), Word(";")))
    assert (inner.is_guess, [word.text for word in inner.words]) == (True, ["rm"])


@for_each("option", ["-x", "-HX", "--exec", "--exec-batch"])
def test_fd_runs_what_follows_its_option(option: str) -> None:
    """In each of its spellings."""
    (inner,) = fd(_words(f"fd . {option} rm {{}}"))
    assert inner.words == (Word("rm"), OPEN)


def test_fd_puts_a_name_behind_a_command_without_one() -> None:
    """Or in the place of any of its signs, a part of which may be in a longer word."""
    _, named = fd(_words("fd . -x rm -r"))
    assert named == run((Word("rm"), Word("-r"), Word("{}", is_open=True)))
    assert list(fd(_words("fd . --exec cat {//}/a"))) == [run((Word("cat"), Word("{//}/a", is_open=True)))]


def test_fd_takes_a_command_in_the_same_word() -> None:
    """Behind an equals sign."""
    assert list(fd(_words("fd --exec=rm {}"))) == [run((Word("rm"), OPEN))]


@for_each(
    ("text", "command"),
    [
        ("sort --compress-program=id f", "id"),
        ("sort --compress id f", "id"),
        ("rsync -e id a b", "id"),
        ("rsync -aeid", None),
        ("rsync -ae id a b", "id"),
        ("rsync -eid a b", "id"),
        ("git -c alias.x=!id x", "id"),
        ("ssh -o ProxyCommand=id h", "id"),
        ("vim +!id", "id"),
        ("cat -e id", None),
        ("sort", None),
    ],
)
def test_the_value_of_a_listed_option_is_a_command(text: str, command: str | None) -> None:
    """In the next word, in the same one, or behind another sign."""
    texts = [inner.text for inner in listed(_words(text))]
    assert (command in texts) is (command is not None)


def test_what_follows_two_dashes_is_run() -> None:
    """Without them nothing is."""
    assert list(after_dashes(_words("kubectl exec p -- rm x"))) == [run(_words("rm x"))]
    assert list(after_dashes(_words("kubectl get"))) == [run(())]


def test_a_program_has_a_name_without_its_folder() -> None:
    """No words have none."""
    assert (program_of(_words("/bin/rm x")), program_of(_words("rm")), program_of(())) == ("rm", "rm", "")


def test_a_letter_is_looked_for_in_clusters() -> None:
    """Not in a long option, nor in an operand."""
    assert has_letter(Word("-abc"), "b")
    assert not any(has_letter(Word(text), "b") for text in ("--b", "b", "-a=b", "-"))


def test_a_word_that_holds_a_mark_is_not_known() -> None:
    """Another text comes there; the empty mark is in every word."""
    assert marked(Word("a{}")).is_open
    assert marked(Word("a"), ("",)).is_open
    assert not marked(Word("a")).is_open
    assert not marked(Word("a{}$x", is_open=True, is_single=True)).is_single
    assert (joined(_words("a b")), read("a b").text) == ("a b", "a b")
