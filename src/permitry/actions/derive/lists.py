"""A list of words where shell text is expected: programs make several commands of it."""

import functools
from collections.abc import Sequence

from permitry.actions.derive.script import ShellReading, read_argv, read_command
from permitry.actions.folders import Folder
from permitry.core.action import Run

__all__ = ["read_list"]


def read_list(words: Sequence[str], folder: Folder, *, has_moved: bool = False) -> tuple[ShellReading, ...]:
    """Return every reading of a list that is given to a shell in place of a text; any of them may be what runs.

    `execvp` takes it for a program and its arguments. `sh -c` runs the first word and hands it the others, as
    `subprocess.run(words, shell=True)` does. Others make a text of it: with blanks, as `" ".join(words)`, or commas, as
    templates of JavaScript do.
    """
    read = functools.partial(read_command, folder=folder, has_moved=has_moved)
    readings = [read(text) for text in dict.fromkeys((words[0], " ".join(words), ",".join(words)))]
    if len(words) > 1 and _runs_nothing(readings[-1]):
        readings.pop()
    return (read_argv(words, folder, has_moved=has_moved), *readings)


def _runs_nothing(reading: ShellReading) -> bool:
    """Return whether all it does is to look for a program such as `ls,-l`: only a path leads to one of such a name."""
    match reading.certain:
        case (Run(words=(program, *_)),):
            return "," in program.text and "/" not in program.text and not (program.is_open or program.is_glob)
        case _:
            return False
