"""Variables by which the shell itself or a program is changed: what it runs, or what a name means.

For a permission, a command with one of them is another command, unless the pattern names it.
"""

import fnmatch
import functools
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from permitry.actions.builtins import DECLARING, READING
from permitry.actions.programs.catalogue import shipped

if TYPE_CHECKING:
    from permitry.actions.command import Command

__all__ = [
    "assignments_kept_by_shell",
    "changes_commands",
    "declared",
    "dies_with_shell",
    "fact_of",
    "is_evaluated",
    "is_special",
    "leads_elsewhere",
    "runs_text",
    "sets_of",
    "that_change_commands",
]

_NAMING = READING | {"unset"}
"""Builtins that set the variables they name, or remove them."""
_OF_SCRIPTS = re.compile(r"[a-z][a-z0-9_]*|[A-Z][0-9]?", re.ASCII)
_ATTACHED = re.compile(r"-[a-z]+")


@functools.lru_cache(maxsize=2048)
def fact_of(name: str, field: str) -> str | bool | None:
    """Return what `programs.toml` says of a variable in a field; None if it says nothing."""
    rows = shipped().variables.items()
    return next((row[field] for glob, row in rows if field in row and fnmatch.fnmatchcase(name, glob)), None)


def changes_commands(name: str) -> str | None:
    """Return what a variable of this name changes, in a phrase; None if it is not known to change anything."""
    return str(fact_of(name, "changes") or "") or None


def is_evaluated(name: str) -> bool:
    """Return whether a variable is a number: bash evaluates what is assigned to it, which may run a command."""
    return fact_of(name, "evaluated") is True


def is_special(name: str) -> bool:
    """Return whether a variable has a meaning for the shell itself, or changes commands.

    To assign to it has an effect, such as evaluating the value, or another value is read back.
    """
    return fact_of(name, "special") is True or changes_commands(name) is not None


def dies_with_shell(name: str, *, is_exported: bool) -> bool:
    """Return whether to set a variable of this name changes nothing but what the text itself makes of it.

    A program does not see one that is not exported, unless it was exported before, as may be those that programs are
    known to read. One that is exported may be any that some program reads, unless it has the name of a variable of a
    script: in small letters, or one letter.
    """
    if not name.isidentifier() or is_special(name) or leads_elsewhere(name) or fact_of(name, "steers"):
        return False
    return not is_exported or _OF_SCRIPTS.fullmatch(name) is not None


def runs_text(name: str, value: str) -> bool:
    """Return whether the shell itself runs other text because of this variable, or reads text otherwise.

    `ENV` is also what programs call the place where they run: only a path or an expansion is a file for the shell.
    """
    is_path = name != "ENV" or not {"$", "`", "/"}.isdisjoint(value)
    is_text = name == "PS3" and not {"$", "`"}.isdisjoint(value)
    return (fact_of(name, "runs_text") is True and is_path) or is_text or name.startswith("BASH_FUNC_")


def leads_elsewhere(name: str) -> bool:
    """Return whether `~`, `cd` or a pattern leads to other files once the shell has a variable of this name.

    With any `GLOBIGNORE`, a pattern becomes hidden files too.
    """
    return fact_of(name, "leads") is True


def declared(command: "Command") -> Iterator[tuple[str, str]]:
    """Yield the assignments among the words of a builtin such as `export`."""
    if command.argv[0] in DECLARING:
        for text in command.argv[1:]:
            name, equals, value = text.partition("=")
            if equals:
                yield name, value


def sets_of(command: "Command") -> tuple[str, ...]:
    """Return the assignments of a command that change what it runs."""
    return that_change_commands((*command.assignments, *declared(command)))


def that_change_commands(assignments: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return those assignments that change what a command runs, as text."""
    return tuple(f"{name}={value}" for name, value in assignments if changes_commands(name) is not None)


def assignments_kept_by_shell(command: "Command") -> tuple[str, ...]:
    """Return the same for a command after which the shell keeps them: they are those of every other command too."""
    if command.only_assigns or command.argv[0] in DECLARING:
        return sets_of(command)
    words = command.argv[1:] if command.argv[0] in _NAMING else ()
    # The name of an array may be attached to its option: `read -aPATH`.
    names = (name for word in words for name in (word, _ATTACHED.sub("", word)))
    return that_change_commands((name, "") for name in dict.fromkeys(names))
