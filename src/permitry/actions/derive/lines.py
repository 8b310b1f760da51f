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
from permitry.actions.programs.inputs import STREAMS
from permitry.core.action import Word
from permitry.core.words import CommandLine

if TYPE_CHECKING:
    from permitry.actions.reading.lenient import LooseCommand

__all__ = ["lines_of", "say_by_name", "with_keyword"]

_SCRIPT = re.compile(r"[\w.-]+(?:/[\w.-]+)*", re.ASCII)
_PACKAGE = re.compile(r"[a-z][a-z0-9-]*", re.ASCII)
_OF_SHELLS = re.compile(r"-[eux]+")
_OF_RUNNERS = frozenset({"-y", "--yes", "-q", "--quiet", "run", "dlx"})


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
    """Return the line of a nested command, and whether that is a file or a package with nothing but a name.

    Only options that are known come before it, so it is not a text; and it is neither a stream nor of another folder.
    """
    if line is None or not line.is_alone or not line.words or not command.words:
        return line
    if not is_opaque(program_of(command.words)):
        return line
    before = [word.text for word in itertools.takewhile(lambda word: word != command.words[0], line.words[1:])]
    by, name = record_of(program_of(line.words)), command.words[0].text
    if by.shell in ("bash", "posix") or by.input == "source":
        is_named = _is_script(name) and all(map(_OF_SHELLS.fullmatch, before))
    else:
        is_named = by.by_name and _PACKAGE.fullmatch(name) is not None and _OF_RUNNERS.issuperset(before)
    return attrs.evolve(line, runs_by_name=is_named and not command.words[0].is_open)


def _is_script(name: str) -> bool:
    *_, last = parts = name.split("/")
    return bool(_SCRIPT.fullmatch(name)) and ".." not in parts and not STREAMS.fullmatch(last)


def _line(command: Command) -> CommandLine:
    assigned = tuple(Word(f"{name}={value}", is_open=name in command.unknown) for name, value in command.assignments)
    return CommandLine(assigned, command.words)
