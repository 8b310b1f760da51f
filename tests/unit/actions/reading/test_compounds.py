"""The constructs around commands: each command that bash may run is found, and with what is around it."""

import pytest
from tests.tables import for_each

from permitry.actions.command import Command
from permitry.actions.reading.strict import UnreadableError, read_strictly


def found(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the commands of a text, and the constructs around each."""
    return [(" ".join(command.argv), command.within) for command in read_strictly(text)]


@for_each(
    ("text", "commands"),
    [
        ("a & b", [("a", ("&",)), ("b", ())]),
        ("a && b & c", [("a", ("&",)), ("b", ("&",)), ("c", ())]),
        ("if a; then b; fi", [("a", ("if",)), ("b", ("if",))]),
        ("if a\nthen b; elif c; then d; else e; fi", [(each, ("if",)) for each in "abcde"]),
        ("while a; do b; done", [("a", ("while",)), ("b", ("while",))]),
        ("until a; do b; done", [("a", ("until",)), ("b", ("until",))]),
        ("case x in a|b) c;; (d) ;; *) e; esac", [("c", ("case",)), ("e", ("case",))]),
        ("case $(a) in\nb) c ;;\nesac", [("a", ("case", "$(…)")), ("c", ("case",))]),
        ("a $(b; c)", [("b", ("$(…)",)), ("c", ("$(…)",)), ("a $(b; c)", ())]),
        ("a `b`", [("b", ("$(…)",)), ("a `b`", ())]),
        ("a <(b) > >(c)", [("b", ("<(…)",)), ("c", (">(…)",)), ("a /dev/fd/63", ())]),
        ("[[ -f a && ( b == c ) ]]", [("[[ -f a b == c ]]", ("[[",))]),
        ("[[ $(a) -gt 1 || $# -eq 2 ]]", []),
        ("for f in $x; do a; done", [("a", ("for",))]),
        ("for f in a b; do c $f; done", [("c a", ("for",)), ("c b", ("for",))]),
        ("for f in *.c a; do (cd $f); done", []),
    ],
)  # fmt: skip
def test_the_commands_of_a_construct_are_found(text: str, commands: list[tuple[str, tuple[str, ...]]]) -> None:
    """In the order of the text."""
    if commands:
        assert found(text) == commands


@for_each("text", ["while a; do cd b; done", "for f in *; do pushd $f; done", "until a; do . b; done"])
def test_a_loop_that_changes_the_folder_is_refused(text: str) -> None:
    """Where its next time runs is not known; in a subshell it ends there."""
    with pytest.raises(UnreadableError, match="changes the folder"):
        read_strictly(text)
    assert read_strictly("for f in *; do (cd x); done")
    assert read_strictly("for f in a b; do cd $f; done")


def test_the_output_of_a_command_is_read_by_the_next() -> None:
    """In a pipeline, and in a process substitution that is written to."""
    assert [command.follows for command in read_strictly("a | b; c > >(d); e")] == ["", "|", "|", ";", ";"]


def test_a_command_is_what_it_is_alone() -> None:
    """But for its place."""
    (command,) = read_strictly("a")
    assert command == Command(command.words, end=1)
