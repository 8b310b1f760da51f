"""What a text may do as far as the lenient reader sees it: actions for restrictions, never for permissions."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import attrs

from permitry.actions.command import NOWHERE, Command
from permitry.actions.derive.given import run_of
from permitry.actions.derive.lines import say_by_name
from permitry.actions.derive.redirections import EXPANSION, may_be_socket, socket_of
from permitry.actions.folders import Folder
from permitry.actions.links_met import follow_pattern
from permitry.actions.programs.inner import program_of
from permitry.actions.programs.settings import connects
from permitry.actions.reading.words import has_wildcard
from permitry.actions.unpacked import Given
from permitry.actions.variables import that_change_commands
from permitry.core.action import Access, Action, Connect, Unknown, Word
from permitry.core.words import CommandLine

if TYPE_CHECKING:
    from permitry.actions.reading.lenient import LooseCommand, LooseReading

__all__ = ["TOO_MUCH", "by_certainty", "inner_actions", "loosely", "possible_actions", "read_text", "read_words"]

FoundAction: TypeAlias = tuple[Action, bool]
"""An action, and whether it is a guess."""
TOO_MUCH = "too much is run inside it"


def loosely(text: str, folder: Folder) -> tuple[tuple[Action, ...], tuple[Action, ...]]:
    """Return the actions of a text if it is run as a command: those that are not guesses, and those that are."""
    return by_certainty(possible_actions(read_text(text), folder))


def possible_actions(reading: "LooseReading", folder: Folder) -> Iterator[FoundAction]:
    """Yield the actions of the commands that the lenient reader found; any `cd` may have come before any of them."""
    commands = reading.commands
    for command in commands:
        if command.words and command.words[0].text in ("cd", "pushd"):
            folder = folder.joined(folder.moved(command.words[1:]))
    yield from dict.fromkeys((action, each.is_guess) for each in commands for action in _loose(each, folder))
    targets = dict.fromkeys(target for each in commands for target in (*each.reads, *each.writes))
    yield from ((Connect(target, is_certain=False), True) for target in targets if may_be_socket(target))
    if not reading.is_complete:
        yield Unknown("", "the text holds too much to look at"), False


def _loose(
    command: "LooseCommand", folder: Folder, sets: tuple[str, ...] = (), line: CommandLine | None = None
) -> Iterator[Action]:
    sets = (*sets, *that_change_commands(command.assignments))
    if command.words:
        text = "\n".join(command.stdin) if command.stdin else None
        doubt = "it is not read with certainty"
        run = run_of(command, doubt, folder, given=Given(text=text), is_guess=command.is_guess)
        yield attrs.evolve(run, sets=sets, line=line)
    for _, value in command.assignments:
        if "://" in value:
            yield from connects(Word(value))
    for target, access in ((command.reads, Access.READ), (command.writes, Access.WRITE)):
        for text in target:
            if text != NOWHERE:
                is_open = EXPANSION.search(text) is not None
                word = Word(text, has_wildcard(text), is_home=text.startswith("~"), is_open=is_open)
                touch = folder.place_of(word, access, is_certain=False)
                touch = attrs.evolve(touch, is_guess=command.is_guess, words=command.words, sets=sets)
                yield socket_of(text) or touch
                yield from follow_pattern(touch, folder)


def inner_actions(
    command: Command,
    reading: "LooseReading",
    folder: Folder,
    sets: tuple[str, ...],
    line: CommandLine | None = None,
) -> Iterator[FoundAction]:
    """Yield the actions of the nested commands that a program runs; `sets` are the assignments before it."""
    before: tuple[Word, ...] = ()
    was_guess = False
    for each in reading.commands:
        # A program named with its folder is reported without the folder as well: both are one command. What was found
        # for the same words may differ.
        is_again = each.words[1:] == before[1:] and each.argv[:1] == (program_of(before),)
        if not is_again or (was_guess and not each.is_guess):
            before, was_guess = each.words, each.is_guess
            if each.words != command.words:
                yield from ((action, each.is_guess) for action in _loose(each, folder, sets, say_by_name(line, each)))
    if not reading.is_complete:
        yield Unknown(" ".join(command.argv), TOO_MUCH), False


def by_certainty(found: Iterable[FoundAction]) -> tuple[tuple[Action, ...], tuple[Action, ...]]:
    """Return the actions that are not guesses, and those that are."""
    sure: list[Action] = []
    guessed: list[Action] = []
    for action, is_guess in found:
        (guessed if is_guess else sure).append(action)
    return tuple(sure), tuple(guessed)


# A text that only reads does not need the lenient reader, so that is loaded on first use.


def read_text(text: str) -> "LooseReading":
    """Return what the lenient reader finds in a text, with the commands that programs run."""
    from permitry.actions.derive.recursive import read_recursively  # noqa: PLC0415 -- see above

    return read_recursively(text)


def read_words(words: Sequence[Word], assignments: Sequence[tuple[str, str]] = ()) -> "LooseReading":
    """Return the commands that a program runs, by its words and assignments."""
    from permitry.actions.derive.recursive import read_words_recursively  # noqa: PLC0415 -- see above

    return read_words_recursively(words, assignments)
