"""What programs that run another one, such as `timeout` and `sh -c`, run by their words.

A command is refused if it uses a wrapper in a way that `programs.toml` does not list.
"""

import re
from collections.abc import Iterable, Sequence

from permitry.actions.command import Command
from permitry.actions.programs.arguments import is_spread, read_options
from permitry.actions.programs.entries import Entry, RefusedError, Wrapper
from permitry.actions.variables import dies_with_shell, fact_of
from permitry.core.action import Word

__all__ = ["PARAMETERS", "check_assignments", "runs_file", "runs_text", "wrapped"]

PARAMETERS = "$@"
"""Among what is around a command: it is in the text of a shell that has parameters."""
_SHELL_OPTIONS = frozenset({"-c", "-lc"})
_HOW = re.compile(r"-[euvx]*o|-[euvx]+|--")
"""Options of a shell that only say how it runs the file behind them; one that ends in `o` has a value."""


def runs_text(arguments: Sequence[Word]) -> bool:
    """Return whether a shell runs a text, which must come right behind `-c`; its parameters are any words."""
    is_text = len(arguments) > 1 and arguments[0].text in _SHELL_OPTIONS and arguments[1].text[:1] not in ("-", "+")
    return is_text and not any(map(is_spread, arguments[:2]))


def runs_file(arguments: Sequence[Word]) -> bool:
    """Return whether a shell runs the file that is its first operand."""
    at = 0
    while at < len(arguments) and _HOW.fullmatch(arguments[at].text):
        at += 1 + arguments[at].text.endswith("o")
    file = arguments[at] if at < len(arguments) else Word("-")
    return file.text[:1] not in ("", "-", "+") and not any(map(is_spread, arguments[: at + 1]))


def wrapped(command: Command, entry: Entry, wrapper: Wrapper) -> tuple[tuple[Word, ...], tuple[tuple[str, str], ...]]:
    """Return the words that a wrapper runs as a command, none if it runs nothing; and the variables that it sets."""
    name = command.words[0].text
    parts = read_options(command.words[1:], entry, name=name, options_first=True, is_any=bool(entry.unsets))
    refused = next((each for each in entry.refused if each in parts.names), None)
    if refused is not None:
        raise RefusedError(f"`{name} {refused}` {entry.refused[refused]}")
    if any(value is not None and is_spread(value) for _, value in parts.found):
        raise RefusedError(f"`{name}` with a pattern")
    operands = parts.operands
    count = wrapper.leading
    while wrapper.sets and count < len(operands) and "=" in operands[count].text:
        count += 1
    unset = [("PATH" if value is None else value.text, "") for name, value in parts.found if name in entry.unsets]
    if not all(variable.isidentifier() for variable, _ in unset):
        raise RefusedError(f"`{name}` with an unusual variable")
    assignments = (*unset, *(word.text.partition("=")[::2] for word in operands[wrapper.leading : count]))
    if entry.shows & parts.names:
        return (), ()
    if parts.is_spread or any(map(is_spread, operands[: count + 1])):
        raise RefusedError(f"`{name}` with a pattern")
    if len(operands) <= count:
        if entry.bare and not unset:
            return (), ()
        raise RefusedError(f"`{name}` without a command")
    return tuple(operands[count:]), assignments


def check_assignments(assignments: Iterable[tuple[str, str]], *, is_exported: bool = True) -> None:
    """Refuse a variable or a value that is neither listed as harmless nor dies with the shell."""
    for name, value in assignments:
        plain = fact_of(name, "plain")
        is_plain = isinstance(plain, str) and re.fullmatch(plain, value) is not None
        if not (is_plain or dies_with_shell(name, is_exported=is_exported)):
            raise RefusedError(f"sets `{name}`")
