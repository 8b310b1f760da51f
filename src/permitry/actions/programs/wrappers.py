"""Unwraps programs that run another one, such as `timeout` and `sh -c`, so that the program they run is classified.

A command is refused if it uses a wrapper in a way that `programs.toml` does not list.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import attrs

from permitry.actions.command import Command
from permitry.actions.programs.arguments import is_spread, read_options
from permitry.actions.programs.catalogue import Entry, RefusedError, Wrapper, record_of
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.actions.variables import fact_of, leads_elsewhere
from permitry.core.action import Word

__all__ = ["PARAMETERS", "check_assignments", "unwrap"]

DEEPEST = 4
"""How many wrappers and shells there may be around a program."""

PARAMETERS = "$@"
"""Among what is around a command: it is in the text of a shell that has parameters."""
_SHELL_OPTIONS = frozenset({"-c", "-lc"})
_HOW = re.compile(r"-[euvx]*o|-[euvx]+|--")
"""Options of a shell that only say how it runs the file behind them; one that ends in `o` has a value."""


def unwrap(command: Command) -> tuple[Command, ...]:
    """Return the command that runs inside the wrappers of `command`, or the commands in the text of a `sh -c`.

    Neither assignments nor redirections are checked: those of a shell are moved to its commands, redirections to the
    first, which runs in the same folder. `within` names the wrappers, `start` and `end` are those of the outermost
    command.

    Raises: `RefusedError` if a wrapper is used in a way that is not listed.
    """
    return tuple(_unwrap(command, 0))


def _unwrap(command: Command, depth: int) -> Iterator[Command]:
    while not command.only_assigns:
        name = command.words[0].text
        entry = record_of(name)
        if not (entry.wraps or entry.shell == "bash"):
            yield command
            return
        depth += 1
        if depth > DEEPEST:
            raise RefusedError("too many programs that run another")
        if entry.shell:
            yield from _shell(command, depth)
            return
        inner, assignments = _wrapped(command, entry, entry.runs or Wrapper())
        if not inner:
            yield command
            return
        assignments = (*command.assignments, *assignments)
        command = attrs.evolve(command, words=inner, assignments=assignments, within=(*command.within, name))
    yield command


def _shell(command: Command, depth: int) -> Iterator[Command]:
    """Yield the commands in the text of a shell, which must come right behind `-c`; its parameters are any words.

    A shell that runs a file is left as it is, as the file would be if it were named alone.
    """
    name, arguments = command.words[0].text, command.words[1:]
    is_text = len(arguments) > 1 and arguments[0].text in _SHELL_OPTIONS and arguments[1].text[:1] not in ("-", "+")
    is_text = is_text and not any(map(is_spread, arguments[:2]))
    if not (is_text or _runs_file(arguments)):
        raise RefusedError(f"`{name}` with something else than `-c` and one text, or a file")
    variable = next((name for name, _ in command.assignments if leads_elsewhere(name)), None)
    if variable is not None:
        raise RefusedError(f"`{name}` with another `{variable}`")
    if not is_text:
        yield command
        return
    try:
        first, *others = read_strictly(arguments[1].text)
    except UnreadableError as error:
        raise RefusedError(f"`{name} -c` with a text that is not readable: {error}") from error
    redirections = (*command.redirections, *first.redirections)
    around = (*command.within, name, *([PARAMETERS] if len(arguments) > len(["-c", "text"]) else []))
    for inner in (attrs.evolve(first, follows=command.follows, redirections=redirections), *others):
        within = (*around, *inner.within)
        assignments = (*command.assignments, *inner.assignments)
        is_fed = inner.is_fed or command.is_piped
        moved = attrs.evolve(inner, start=command.start, end=command.end, within=within, assignments=assignments)
        moved = attrs.evolve(moved, is_fed=is_fed)
        yield from _unwrap(moved, depth)


def _runs_file(arguments: Sequence[Word]) -> bool:
    """Return whether a shell runs the file that is its first operand."""
    at = 0
    while at < len(arguments) and _HOW.fullmatch(arguments[at].text):
        at += 1 + arguments[at].text.endswith("o")
    file = arguments[at] if at < len(arguments) else Word("-")
    return file.text[:1] not in ("", "-", "+") and not any(map(is_spread, arguments[: at + 1]))


def _wrapped(command: Command, entry: Entry, wrapper: Wrapper) -> tuple[tuple[Word, ...], tuple[tuple[str, str], ...]]:
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


def check_assignments(assignments: Iterable[tuple[str, str]]) -> None:
    """Refuse a variable or a value that is not listed as harmless."""
    for name, value in assignments:
        plain = fact_of(name, "plain")
        if not (isinstance(plain, str) and re.fullmatch(plain, value)):
            raise RefusedError(f"sets `{name}`")
