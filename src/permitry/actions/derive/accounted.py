"""What is unknown about a text that the strict reader refuses: anything, or only the operands of known programs.

The strict reader refuses a text because of a single expansion. If the text consists only of simple commands of programs
that run nothing but themselves, with literal names and no assignments, an expansion among their operands cannot become
another command: only the paths are unknown. Any other text may do anything. Before a program is added here, show that
no value of a variable can make it run something, through the arithmetic and subscripts of bash either.
"""

import re

from permitry.actions.builtins import MOVING
from permitry.actions.derive.runners import program_of
from permitry.actions.programs.catalogue import record_of
from permitry.actions.reading.lenient import LooseCommand, LooseReading
from permitry.actions.variables import is_special

__all__ = ["ANYTHING", "PATHS", "WORDS", "what_is_unknown"]

ANYTHING, PATHS, WORDS = "", "path", "words"

_OF_A_USER = re.compile(r"~[\w+-]")
_LOOP = re.compile(r"\b(?:for|select)\s+(\w+)")
_EXPANSION = re.compile(r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}|\?)")
# Outside of plain expansions: quotes, pipes, lists and redirections to files, and no sign of anything else.
_SIMPLE = re.compile(r"[\w \t\n./,:@%+=~*?{}\"'|&;<>-]*")


def what_is_unknown(text: str, reading: LooseReading) -> str:
    """Return what the lenient reader may have missed in a text.

    `ANYTHING`: the text may run other commands. `PATHS`: its commands may also touch other paths. `WORDS`: only the
    values of its expansions are unknown.
    """
    without = _EXPANSION.sub("x", text)
    is_simple = _SIMPLE.fullmatch(without) is not None and "<<" not in text and _OF_A_USER.search(without) is None
    is_simple = is_simple and not any(map(is_special, _LOOP.findall(text)))
    commands = [each for each in reading.commands if not each.is_guess]
    is_known = reading.is_plain and is_simple and text.isascii() and all(map(_is_accounted, commands))
    if not is_known:
        return ANYTHING
    if any(_may_make_links(each) for each in commands):
        return PATHS
    return WORDS


def _may_make_links(command: LooseCommand) -> bool:
    """Return whether a path may lead elsewhere after a command: it makes links, moves them or unpacks some."""
    shapes = record_of(program_of(command.words)).shapes
    return any(shape.keeps or shape.format for shape in shapes)


def _is_accounted(command: LooseCommand) -> bool:
    """Return whether a command runs nothing but its program, whatever its expansions become."""
    words = command.words
    if command.assignments or not words or words[0].is_open or words[0].is_glob:
        return False
    record = record_of(words[0].text)
    return record.runs_nothing and not record.evaluates and words[0].text not in MOVING
