"""Commands that a program runs on this machine by an option, though what it runs otherwise is known or elsewhere."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.inner import program_of
from permitry.actions.programs.nested import find_command
from permitry.actions.programs.running import wrapper_of
from permitry.actions.programs.spelling import values_in
from permitry.core.action import Word

__all__ = ["local_commands"]

_KEY = re.compile(r"\s*([^=\s]*)[=\s]*(.*)", re.DOTALL)


def local_commands(words: Sequence[Word]) -> Iterator[str]:
    """Yield the texts of the commands, or the files with some, that options of a program have it run here."""
    runs_here = record_of(program_of(words)).runs_here
    own = _before_command(words) if runs_here else ()
    for option, patterns in runs_here.items():
        for at, word in enumerate(own[1:], start=2):
            for attached in values_in(word.text, (option,)):
                value = attached or "".join(each.text for each in own[at : at + 1])
                key, rest = _KEY.fullmatch(value).groups() if "*" not in patterns.split() else ("", value)
                if _fits(key.casefold() or value, patterns.split()):
                    yield rest


def _before_command(words: Sequence[Word]) -> Sequence[Word]:
    """Return the words before those that are run elsewhere."""
    wrapper = wrapper_of(program_of(words))
    if wrapper is None:
        return words
    starts, _ = find_command(words[1:], wrapper)
    return words[: 1 + min(starts, default=len(words))]


def _fits(text: str, patterns: Sequence[str]) -> bool:
    """Return whether a text fits one of some patterns, and none of those with a `!` before them."""
    is_left_out = any(fnmatchcase(text, each[1:]) for each in patterns if each.startswith("!"))
    return not is_left_out and any(fnmatchcase(text, each) for each in patterns)
