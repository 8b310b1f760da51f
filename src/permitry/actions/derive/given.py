"""What a command touches by its words and by what it is given besides: its input, and files that it unpacks."""

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import attrs

from permitry.actions.command import Command
from permitry.actions.derive.opened import anything_of
from permitry.actions.derive.runners import program_of, words_elsewhere
from permitry.actions.derive.unwrap import only_reads
from permitry.actions.folders import Folder
from permitry.actions.found_names import touch_perhaps
from permitry.actions.patches import hidden_patch, paths_of
from permitry.actions.paths import apart
from permitry.actions.programs.arguments import with_values
from permitry.actions.programs.candidates import is_name, paths_in, reads_code
from permitry.actions.programs.catalogue import bind, record_of
from permitry.actions.programs.filters import expand_by_program, selection_of
from permitry.actions.programs.git import without_options
from permitry.actions.programs.named import Named
from permitry.actions.programs.operands import touches_of as operands_of
from permitry.actions.programs.possible import names_in_code
from permitry.actions.programs.sed import with_script
from permitry.actions.programs.settings import connects
from permitry.actions.selection import EVERYTHING, narrow
from permitry.actions.touched import touched
from permitry.actions.unpacked import Given, may_write
from permitry.core.action import Access, Action, Operands, Run, Touch, Word

if TYPE_CHECKING:
    from permitry.actions.reading.lenient import LooseCommand

__all__ = ["given_of", "operands_in", "run_of", "touches_of_patch"]

_MOST_FILES = 4_096


def given_of(command: Command, text: str | None, before: Sequence[Action], *, is_last: bool) -> Given:
    """Return what a command is given; `is_last`: nothing but the actions `before` it can change what it reads."""
    inputs = [each for each in command.redirections if each.operator == "<"]
    file = None
    if len(inputs) == 1 and inputs[0].is_input and inputs[0].target is not None:
        file = Word(inputs[0].target, is_home=inputs[0].is_home, is_open=inputs[0].is_open)
    given = Given(file, text, is_one_text=[(each.target, each.is_open) for each in inputs] == [(None, False)])
    # A variable may name another repository.
    is_known = is_last and not any(name.startswith("GIT_") for name, _ in command.assignments)
    if is_known:
        return attrs.evolve(given, is_written=functools.partial(may_write, tuple(before)))
    return given


def operands_in(words: tuple[Word, ...], folder: Folder, given: Given) -> Operands:
    """Return what a program touches."""
    text = given.text
    named = operands_of(with_script(words, text), only_reads)
    elsewhere = words_elsewhere(words)
    if elsewhere:
        # A command that runs on another machine is an action of its own.
        paths, guessed = (
            tuple(each for each in group if each.word not in elsewhere) for group in (named.paths, named.guessed)
        )
        named = attrs.evolve(named, paths=paths, guessed=guessed)
    code = _names_in_input(words, text or "")
    found_hosts, guessed_connects = (
        tuple(connect for word in hosts for connect in connects(word)) for hosts in (named.hosts, named.guessed_hosts)
    )
    perhaps = itertools.chain.from_iterable(touch_perhaps(each, folder) for each in (*named.guessed, *code))
    selection = EVERYTHING
    if folder.selects and not any(each.follows for each in named.paths):
        selection = selection_of(words)
    if selection != EVERYTHING:
        # What is selected below a folder is known by the folder.
        patterns = tuple(expand_by_program(words))
        named = attrs.evolve(
            named, paths=tuple(each for each in named.paths if (each.word, each.is_tree) not in patterns)
        )
    touches = tuple(narrow(each, selection, folder.bases) for each in touched(named, folder, given))
    are_all_changes = record_of(words[0].text).undoable
    found = Operands(touches, found_hosts, named.is_listed, (*perhaps, *guessed_connects), are_all_changes)
    return attrs.evolve(found, guessed=(*found.guessed, *anything_of(words, named.unclear, found, folder)))


def _names_in_input(words: tuple[Word, ...], text: str) -> Iterator[Named]:
    """Yield what a text names that an interpreter, or the console of a client, reads."""
    if reads_code(words):
        yield from names_in_code(Word(text))
    elif record_of(program_of(words)).language:
        names = paths_in(Word(text), program_of(words))
        yield from (Named(access, name) for name in names if is_name(name) for access in Access)


def run_of(
    command: "Command | LooseCommand",
    doubt: str | None,
    folder: Folder,
    *,
    given: Given,
    is_wrapper: bool = False,
    is_guess: bool = False,
) -> Run:
    """Return the action of running a command."""
    patch = hidden_patch(command.words, given.text)
    read = functools.partial(operands_in, command.words, folder, given)
    if patch is not None:
        read = functools.partial(_read_patch, patch, folder)
    bare = without_options(command.words) if program_of(command.words) == "git" else ()
    return Run(
        with_values(command.words),
        doubt,
        read_operands=bind(read),
        within=command.within,
        start=command.start,
        end=command.end,
        bare=tuple(bare),
        is_wrapper=is_wrapper,
        is_guess=is_guess,
        is_piped=command.is_piped,
    )


def touches_of_patch(text: str, folder: Folder) -> tuple[tuple[Touch, ...], str | None]:
    """Return what a patch touches, and why that is not certain, None if it is."""
    found = paths_of(text)
    if len(found.touched) > _MOST_FILES:
        return (), f"the patch touches more than {_MOST_FILES} files"
    # Some programs write through a link, and others replace the link by a new file.
    touches = (
        folder.place_of(Word(path), access, is_entry=access is Access.WRITE, origin="patch")
        for access, path in found.touched
    )
    return tuple(each for touch in touches for each in apart(touch)), found.doubt


def _read_patch(patch: str, folder: Folder) -> Operands:
    touches, doubt = touches_of_patch(patch, folder)
    return Operands(touches, is_listed=doubt is None)
