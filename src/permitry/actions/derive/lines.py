"""Commands as they are written, of which a program that runs is a part; for permissions that spell both out."""

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from permitry.actions.command import Command
from permitry.actions.programs.catalogue import is_opaque, record_of
from permitry.actions.programs.inner import program_of
from permitry.core.action import Word
from permitry.core.words import CommandLine

if TYPE_CHECKING:
    from permitry.actions.reading.lenient import LooseCommand

__all__ = ["lines_of", "say_by_name", "with_keyword"]

_TAKES_TEXT = re.compile(r"-[A-Za-z]*c[A-Za-z]*|--c.*")


def lines_of(commands: Sequence[Command]) -> Mapping[tuple[int, int], CommandLine]:
    """Return the commands as they are written, by where they are; none where two are in one place."""
    places = Counter((each.start, each.end) for each in commands)
    alone = (each for each in commands if places[each.start, each.end] == 1)
    return {(each.start, each.end): _line(with_keyword(each)) for each in alone}


def with_keyword(command: Command) -> Command:
    """Return a command with the keyword `time` before it as its first word."""
    if command.within[-1:] != ("time",):
        return command
    words = (Word("time"), *_line(command).assigned, *command.words)
    return attrs.evolve(command, words=words, assignments=(), within=command.within[:-1])


def say_by_name(line: CommandLine | None, command: "LooseCommand") -> CommandLine | None:
    """Return the line of a nested command, and whether that is a file or a package with nothing but a name."""
    if line is None or not line.words or not command.words or not is_opaque(program_of(command.words)):
        return line
    before = itertools.takewhile(lambda word: word != command.words[0], line.words)
    by = record_of(program_of(line.words))
    is_text = any(_TAKES_TEXT.fullmatch(word.text) for word in before)
    return attrs.evolve(line, runs_by_name=(by.by_name or by.shell != "") and not is_text)


def _line(command: Command) -> CommandLine:
    assigned = tuple(Word(f"{name}={value}", is_open=name in command.unknown) for name, value in command.assignments)
    return CommandLine(assigned, command.words)
