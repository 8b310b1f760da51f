"""Commands that a program runs on this machine by an option, though what it runs otherwise is known or elsewhere."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.inner import program_of
from permitry.actions.programs.nested import find_command
from permitry.actions.programs.running import wrapper_of
from permitry.actions.programs.spelling import option_values
from permitry.core.action import Word

__all__ = ["local_commands"]

_KEY = re.compile(r"\s*([^=\s]*)[=\s]*(.*)", re.DOTALL)


def local_commands(words: Sequence[Word]) -> Iterator[str]:
    """Yield the texts of the commands, or the files with some, that options of a program have it run here."""
    for option, patterns in record_of(program_of(words)).runs_here.items():
        for value in option_values(_before_command(words), (option,)):
            yield from _behind_key(value.text, patterns.split())


def _before_command(words: Sequence[Word]) -> Sequence[Word]:
    """Return the words before those that are run elsewhere."""
    wrapper = wrapper_of(program_of(words))
    if wrapper is None:
        return words
    starts, _ = find_command(words[1:], wrapper)
    return words[: 1 + min(starts, default=len(words))]


def _behind_key(value: str, patterns: Sequence[str]) -> Iterator[str]:
    """Yield the command in a value: behind a key that fits one of some patterns, or all of it if any is one."""
    key, command = _KEY.findall(value)[0]
    if "*" in patterns:
        key, command = value, value
    if _fits(key.casefold(), patterns):
        yield command


def _fits(text: str, patterns: Sequence[str]) -> bool:
    """Return whether a text fits one of some patterns, and none of those with a `!` before them."""
    is_left_out = any(fnmatchcase(text, each[1:]) for each in patterns if each.startswith("!"))
    return not is_left_out and any(fnmatchcase(text, each) for each in patterns)
