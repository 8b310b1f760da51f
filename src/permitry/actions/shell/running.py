"""What programs run: nested commands, and how their operands are one."""

import re

import attrs

from permitry.actions.programs.catalogue import Options, Wrapper, record_of
from permitry.core.action import Word

__all__ = [
    "ANY_COMMAND",
    "OF_SHELLS",
    "Inner",
    "as_wrapper",
    "opens_computed",
    "runs_computed",
    "wrapper_of",
]

_COMPUTED = r"""(?!\s*+(?:[0-9]|"[^"\\]*+"\s*+(?:[;})\n]|\Z)))"""
_RUNS = re.compile(r"(?:(?<!\|)\|(?!\|)&?+|\bsystem\s*\()" + _COMPUTED)
_OPENS = re.compile(r"(?:>>?+(?!=)|\bgetline\b[^;}\n<]{0,99}<)" + _COMPUTED)
_ARGUMENTS = re.compile(r"\bARGV\s*\[[^\]\n]{0,99}\]\s*=(?!=)|\bsplit\s*\([^,\n]{0,99},\s*ARGV\b")
"""Sets the names of the files that a program of `awk` reads."""
_READS_TEXT = re.compile(r"""(?:\A|[;{(\n=])\s*+"[^"\\]*+"\s*+\|&?+(?=\s*+getline\b)""")
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


def runs_computed(program: str) -> bool:
    """Return whether a program of `awk` may run a command that is not a literal in it."""
    return _RUNS.search(_READS_TEXT.sub("", program)) is not None


def opens_computed(program: str) -> bool:
    """Return whether a program of `awk` may run a command or open a file that is not a literal in it."""
    return runs_computed(program) or _OPENS.search(program) is not None or _ARGUMENTS.search(program) is not None


def wrapper_of(name: str) -> Wrapper | None:
    """Return how a program runs its operands, as does a dynamic loader of any name; None if not known to run them."""
    return record_of(name).runs or (Wrapper() if _LOADER.fullmatch(name) else None)


def as_wrapper(name: str) -> Wrapper:
    """Return how a program runs its operands; without options where nothing is known about that."""
    return wrapper_of(name) or Wrapper()
