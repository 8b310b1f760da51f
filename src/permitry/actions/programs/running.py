"""What programs run: nested commands, and how their operands are one."""

import re
from collections.abc import Sequence

import attrs

from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import Options, Wrapper
from permitry.core.action import Word

__all__ = ["ANY_COMMAND", "OF_SHELLS", "Inner", "as_wrapper", "may_move", "wrapper_of"]

_LOADER = re.compile(r"ld(?:64|-linux|-musl|\b)[\w.-]*\.so[\w.]*|ld\.so[\w.]*")


@attrs.frozen
class Inner:
    """A nested command that a program runs: its `words`, or a `text` for a shell.

    `by` is the name of the program that runs it, with a question mark if it is not known to do that. `is_guess`: the
    program may not run it.
    """

    by: str
    words: tuple[Word, ...] = ()
    text: str | None = None
    is_guess: bool = False


ANY_COMMAND = Inner("", (Word("{}", is_open=True),), is_guess=True)


OF_SHELLS = Wrapper(
    options=Options(
        plain=frozenset(f"-{letter}" for letter in "aefhiklmnprstuvxBCEHPT"), valued=frozenset({"-o", "-O"})
    )
)
"""What comes before the script of a shell."""


def wrapper_of(name: str) -> Wrapper | None:
    """Return how a program runs its operands, as does a dynamic loader of any name; None if not known to run them."""
    return record_of(name).runs or (Wrapper() if _LOADER.fullmatch(name) else None)


def may_move(words: Sequence[Word]) -> bool:
    """Return whether a program may use its operands in another folder: it runs a command, or is `git` with options."""
    name = words[0].text.rpartition("/")[2]
    if name == "git":
        return any(word.text.startswith("-") for word in words[1:2])
    return wrapper_of(name) is not None or bool(record_of(name).runs_behind)


def as_wrapper(name: str) -> Wrapper:
    """Return how a program runs its operands; without options where nothing is known about that."""
    return wrapper_of(name) or Wrapper()
