"""Whether commands only read: those inside programs that run another one, such as `timeout` and `sh -c`, as well.

For each command of the strict reader, the result is None if it only reads, or the reason why it may do more. It is None
only if `programs.toml` lists the program, its sub-command and its options. A command is refused if it uses a wrapper in
a way that is not listed.

Source: shared/reference/security.md, section 3 and "Contracts used by the case files".
"""

from collections.abc import Iterable, Iterator

import attrs

from permitry.actions.command import Command
from permitry.actions.programs.catalogue import record_of, remember
from permitry.actions.programs.classify import doubt_of, only_looks
from permitry.actions.programs.entries import RefusedError, Wrapper
from permitry.actions.programs.nested import only_checks
from permitry.actions.programs.wrappers import PARAMETERS, runs_file, runs_text, wrapped
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.actions.variables import leads_elsewhere
from permitry.core.action import Word

__all__ = [
    "Classified",
    "Refused",
    "classify",
    "classify_one",
    "only_reads",
    "unwrap",
    "why_not_reading",
    "why_not_reading_all",
]

DEEPEST = 4
"""How many wrappers and shells there may be around a program."""

_NETWORK_FILES = ("/dev/tcp", "/dev/udp")


@attrs.frozen
class Classified:
    """A classified command without its wrappers; `doubt` is why it may do more than read, None if it only reads.

    `looks`: it certainly only looks. Its redirections are not considered. `command.within` names the wrappers.
    `has_moved`: a command before it may have changed the folder.
    """

    command: Command
    doubt: str | None = None
    looks: bool = False
    has_moved: bool = attrs.field(default=False, eq=False, kw_only=True)


@attrs.frozen
class Refused:
    """A command that cannot be unwrapped, and the reason: with unknown wrappers or assignments it may run anything."""

    command: Command
    reason: str


def classify(commands: Iterable[Command]) -> tuple[Classified | Refused, ...]:
    """Return the commands of a script, unwrapped and classified, in order.

    The commands are also considered together: after a `cd`, `git` may find an embedded repository, whose configuration
    may run programs.
    """
    results: list[Classified | Refused] = []
    has_moved = False
    for outer in commands:
        try:
            inner = unwrap(outer)
        except RefusedError as error:
            results.append(Refused(outer, str(error)))
            continue
        for command in inner:
            results.append(classify_one(command, has_moved=has_moved))
            has_moved = has_moved or command.words[0].text == "cd"
    return tuple(results)


def classify_one(command: Command, *, has_moved: bool = False) -> Classified:
    """Return a command without wrappers, and whether it only reads."""
    doubt = doubt_of(command, has_moved=has_moved)
    looks = doubt is not None and only_looks(command, has_moved=has_moved)
    return Classified(command, doubt, looks, has_moved=has_moved)


def why_not_reading(command: Command) -> str | None:
    """Return why a command may do more than read, in one phrase for a human; None if it only reads."""
    return why_not_reading_all((command,))


@remember(64)
def only_reads(words: tuple[Word, ...]) -> bool:
    """Return whether a command of these words only reads."""
    return why_not_reading(Command(words)) is None


def why_not_reading_all(commands: Iterable[Command]) -> str | None:
    """Return why the commands of a script, or their redirections, may do more than read; None if all only read."""
    for one in classify(commands):
        reason = one.reason if isinstance(one, Refused) else one.doubt or _why_not_redirected(one.command)
        if reason is not None:
            return reason
    return None


def _why_not_redirected(command: Command) -> str | None:
    for redirection in command.redirections:
        target = redirection.target
        if target is None:
            continue
        if any(name in target for name in _NETWORK_FILES):
            return f"`{target}` opens a network connection"
        if redirection.writes is not None:
            return f"writes `{target}`"
    return None


# Wrappers ------------------------------------------------------------------------------------------------------------


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
        inner, assignments = wrapped(command, entry, entry.runs or Wrapper())
        if not inner:
            yield command
            return
        assignments = (*command.assignments, *assignments)
        command = attrs.evolve(command, words=inner, assignments=assignments, within=(*command.within, name))
    yield command


def _shell(command: Command, depth: int) -> Iterator[Command]:
    """Yield the commands in the text of a shell.

    A shell that runs a file is left as it is, as the file would be if it were named alone.
    """
    name, arguments = command.words[0].text, command.words[1:]
    is_text = runs_text(arguments)
    if not any((is_text, runs_file(arguments), only_checks(command.words))):
        raise RefusedError(f"what `{name}` would run is not known")
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
