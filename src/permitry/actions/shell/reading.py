"""From shell text, or the arguments of a program, to actions.

The strict reader alone says what is certain. What it refuses is unknown, and then the lenient reader says what may
happen besides, for restrictions.
"""

import functools
from collections.abc import Callable, Container, Iterator, Sequence
from typing import TYPE_CHECKING

import attrs

from permitry.actions.folders import Folder, Walk
from permitry.actions.hosts import other_readings, read_url
from permitry.actions.patches import hidden_patch, paths_of
from permitry.actions.programs.judge import Judged, Refused, judged
from permitry.actions.programs.operands import touches_of as operands_of
from permitry.actions.shell.runners import program_of, reads_commands
from permitry.actions.shell.strict import LONGEST, Command, Redirection, UnreadableError, read_strictly
from permitry.core.action import Access, Action, Connect, Operands, Run, Touch, Unknown, Word

if TYPE_CHECKING:
    from permitry.actions.shell.lenient import LooseCommand, LooseReading

__all__ = ["ShellReading", "loosely", "patched", "read_argv", "read_command"]

_NOWHERE = "/dev/null"
_MOST_WORDS = 4_096
_ELSEWHERE = frozenset({"adb", "docker", "docker-compose", "kubectl", "nerdctl", "podman", "ssh"})
"""What these run, they run on another machine or in a container of its own."""


@attrs.frozen
class ShellReading:
    """What a command does for certain and may do besides, and why it may do more than read (None: it only reads)."""

    certain: tuple[Action, ...]
    possible: tuple[Action, ...] = ()
    doubt: str | None = None


def read_command(text: str, folder: Folder, *, has_moved: bool = False) -> ShellReading:
    """Return the actions of shell text run in `folder`; `has_moved` says that this is not where the session stands."""
    try:
        commands = read_strictly(text)
    except UnreadableError as error:
        unknown = Unknown(text, error.reason, error.offset)
        return ShellReading((unknown,), loosely(text, folder), unknown.reason)
    return _Script(text, commands, folder, functools.partial(_explode, text)).reading(has_moved=has_moved)


def read_argv(argv: Sequence[str], folder: Folder, *, has_moved: bool = False) -> ShellReading:
    """Return the actions of one program started without a shell."""
    text = " ".join(argv)
    if len(argv) > _MOST_WORDS:
        reason = f"more than {_MOST_WORDS} arguments"
        return ShellReading((Unknown(text[:LONGEST], reason),), doubt=reason)
    if not argv or not argv[0] or "\0" in text:
        return ShellReading((Unknown(text, "no program is named"),), doubt="no program is named")
    command = Command(tuple(Word(word) for word in argv), end=len(text))
    read = functools.partial(_explode_words, command.words)
    return _Script(text, (command,), folder, read).reading(has_moved=has_moved)


@attrs.define
class _Script:
    """Commands that were read strictly; `explode` reads the same text generously."""

    text: str
    commands: Sequence[Command]
    folder: Folder
    explode: "Callable[[], LooseReading]"
    certain: list[Action] = attrs.field(factory=list)
    possible: list[Action] = attrs.field(factory=list)
    doubts: list[str] = attrs.field(factory=list)
    needs_all: bool = False

    def reading(self, *, has_moved: bool) -> ShellReading:
        """Return what the commands do."""
        moved = (Command((Word("cd"), Word("."))),) if has_moved else ()
        found = judged((*moved, *self.commands))[len(moved) :]
        walk = Walk(self.folder)
        for each in found:
            if isinstance(each, Refused):
                self.refused(each)
            else:
                self.command(each, walk.before(each.command))
                walk.after(each.command)
        if self.needs_all:
            self.possible += _possible(self.explode(), self.folder)
        self.looked_through({each.command.words for each in found})
        return ShellReading(tuple(self.certain), tuple(self.possible), next(iter(self.doubts), None))

    def refused(self, one: Refused) -> None:
        self.unknown(one.command, one.reason)

    def unknown(self, command: Command, reason: str) -> None:
        """Note a command that may run anything, also what the rest of the text hands to it."""
        self.certain.append(Unknown(self.text[command.start : command.end] or self.text, reason, command.start))
        self.doubts.append(reason)
        self.needs_all = True

    def command(self, one: Judged, folder: Folder) -> None:
        command = one.command
        actions = [self.run(command, one.doubt, folder)]
        actions += [action for each in command.redirections for action in _redirected(each, command.words, folder)]
        self.certain += actions
        if one.doubt is not None:
            reading = _explode_words(command.words)
            if any(reads_commands(each.words) for each in reading.commands):
                self.unknown(command, f"`{command.words[0].text}` runs commands that come from elsewhere")
            # INVARIANT: law 3. What a program runs besides itself must be permitted as well.
            for inner in _inner(command, reading, folder):
                is_sure = program_of(command.words) not in _ELSEWHERE and not _is_supposed(inner)
                (self.certain if is_sure else self.possible).append(inner)
        self.doubts += filter(None, map(_why_not_reading, actions))

    def run(self, command: Command, doubt: str | None, folder: Folder) -> Action:
        patch = hidden_patch(command.words, self.document(command))
        read = functools.partial(_operands, command.words, folder)
        if patch is not None:
            read = functools.partial(_patched, patch, folder)
        within, start, end = command.within, command.start, command.end
        return Run(command.words, doubt, read_operands=read, within=within, start=start, end=end)

    def document(self, command: Command) -> str | None:
        """Return the here-document that a program of patches reads."""
        if hidden_patch(command.words, "") is None or all(each.target is not None for each in command.redirections):
            return None
        texts = [text for each in self.explode().commands if each.argv == command.argv for text in each.stdin]
        return "\n".join(texts) if texts else None

    def looked_through(self, seen: Container[tuple[Word, ...]]) -> None:
        """Note the wrappers that were taken off: a restriction may be about `bash` itself."""
        for command in self.commands:
            if command.words not in seen:
                self.possible.append(self.run(command, "it runs another program", self.folder))
                self.possible += _inner(command, _explode_words(command.words), self.folder)


def _inner(command: Command, reading: "LooseReading", folder: Folder) -> Iterator[Action]:
    """Yield what a program runs besides itself."""
    before: tuple[str, ...] = ()
    for each in reading.commands:
        # A program named with its folder is reported without it as well: those are one.
        if each.argv != (*(name.rpartition("/")[2] for name in before[:1]), *before[1:]):
            before = each.argv
            if each.words != command.words:
                yield from _loose(each, folder)
    if not reading.is_complete:
        yield Unknown(" ".join(command.argv), "too much is run inside it")


def _is_supposed(action: Action) -> bool:
    return isinstance(action, Run) and any(name.endswith("?") for name in action.within)


def _why_not_reading(action: Action) -> str | None:
    match action:
        case Run():
            return action.doubt
        case Touch():
            return None if action.access is Access.READ else f"writes `{action.place.text}`"
        case Connect():
            return f"`{action.text}` opens a network connection"
        case _:
            return None


def patched(text: str, folder: Folder) -> tuple[tuple[Touch, ...], str | None]:
    """Return what a patch touches, and why that is not certain, or None when it is."""
    found = paths_of(text)
    if len(found.touched) > _MOST_WORDS:
        return (), f"the patch touches more than {_MOST_WORDS} files"
    touches = (folder.place_of(Word(path), access, origin="patch") for access, path in found.touched)
    return tuple(touches), found.doubt


def _patched(patch: str, folder: Folder) -> Operands:
    touches, doubt = patched(patch, folder)
    return Operands(touches, is_listed=doubt is None)


def _operands(words: Sequence[Word], folder: Folder) -> Operands:
    named = operands_of(words)
    touches = tuple(folder.place_of(word, access, is_tree=is_tree) for access, word, is_tree in named.paths)
    connects = tuple(connect for word in named.hosts for connect in _connects(word))
    return Operands(touches, connects, is_listed=named.is_listed)


def _connects(word: Word) -> Iterator[Connect]:
    if word.is_open:
        yield Connect(word.text or "an address that comes from elsewhere", is_certain=False)
        return
    # How a program reads an address is its own affair: what it may be restricts, and permits nothing.
    yield attrs.evolve(read_url(word.text), is_certain=False)
    yield from other_readings(word.text)


def _redirected(redirection: Redirection, words: tuple[Word, ...], folder: Folder) -> Iterator[Action]:
    target = redirection.target
    if target is None or target == _NOWHERE:
        return
    connect = _socket(target)
    if connect is not None:
        yield connect
        return
    access = Access.READ if redirection.operator == "<" else Access.WRITE
    origin = f"{redirection.operator} {target}"
    touch = folder.place_of(Word(target, is_home=redirection.is_home), access, origin=origin)
    yield attrs.evolve(touch, words=words)


def _socket(target: str) -> Connect | None:
    """Return the connection that bash opens instead of a file of this name, or None."""
    kind, _, address = target.removeprefix("/dev/").partition("/")
    if not target.startswith(("/dev/tcp/", "/dev/udp/")):
        return None
    host, _, port = address.partition("/")
    return attrs.evolve(read_url(f"{kind}://{host}:{port}"), text=target, is_certain=False)


def loosely(text: str, folder: Folder) -> tuple[Action, ...]:
    """Return what a text may do if somebody runs it as a command."""
    return tuple(_possible(_explode(text), folder))


# What only reads need not be read generously: its reader is loaded on first use.


def _explode(text: str) -> "LooseReading":
    from permitry.actions.shell.explode import explode  # noqa: PLC0415 -- see above

    return explode(text)


def _explode_words(words: Sequence[Word]) -> "LooseReading":
    from permitry.actions.shell.explode import explode_words  # noqa: PLC0415 -- see above

    return explode_words(words)


# What may happen -----------------------------------------------------------------------------------------------------


def _possible(reading: "LooseReading", folder: Folder) -> Iterator[Action]:
    """Yield the actions of commands of which only the order in the text is known."""
    commands = reading.commands
    for command in commands:
        if command.words and command.words[0].text in ("cd", "pushd"):
            folder = folder.joined(folder.moved(command.words[1:]))
    yield from dict.fromkeys(action for command in commands for action in _loose(command, folder))
    if not reading.is_complete:
        yield Unknown("", "the text holds too much to look at")


def _loose(command: "LooseCommand", folder: Folder) -> Iterator[Action]:
    if command.words:
        read = functools.partial(_operands, command.words, folder)
        patch = hidden_patch(command.words, "\n".join(command.stdin) if command.stdin else None)
        if patch is not None:
            read = functools.partial(_patched, patch, folder)
        doubt = "it is not read with certainty"
        yield Run(command.words, doubt, read_operands=read, within=command.within, start=command.start, end=command.end)
    for _, value in command.assignments:
        if "://" in value:
            yield from _connects(Word(value))
    for target, access in ((command.reads, Access.READ), (command.writes, Access.WRITE)):
        for text in target:
            if text != _NOWHERE:
                yield _socket(text) or folder.place_of(
                    Word(text, is_home=text.startswith("~")), access, is_certain=False
                )
