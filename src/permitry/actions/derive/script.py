"""From shell text, or the arguments of a program, to actions.

Only what the strict reader accepts is certain. A text that it refuses is an unknown action; for restrictions, the
lenient reader then finds the actions that the text may have.
"""

import functools
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import attrs

from permitry.actions.builtins import ASSIGNING
from permitry.actions.command import Command
from permitry.actions.derive import loose
from permitry.actions.derive.given import given_of, operands_in, run_of
from permitry.actions.derive.lines import lines_of, with_keyword
from permitry.actions.derive.opened import why_may_run_more
from permitry.actions.derive.order import is_in_order, start_together, writers_in
from permitry.actions.derive.redirections import connect_perhaps, read_redirection
from permitry.actions.derive.runners import program_of
from permitry.actions.derive.substituted import are_usual, with_examples, with_names
from permitry.actions.derive.unwrap import Classified, Refused, classify, classify_one
from permitry.actions.derive.values import expand, shown_values
from permitry.actions.folders import Folder, Walk
from permitry.actions.history import Changes, History, Reader
from permitry.actions.patches import hidden_patch
from permitry.actions.programs.candidates import reads_code
from permitry.actions.programs.catalogue import catalogue, record_of, remember
from permitry.actions.programs.found import names_by
from permitry.actions.programs.inputs import takes_commands
from permitry.actions.programs.local_commands import local_commands
from permitry.actions.programs.made import run_of_made
from permitry.actions.programs.names import prints_names
from permitry.actions.programs.sed import with_script
from permitry.actions.programs.settings import touch_by_variables
from permitry.actions.reading.compounds import RESERVED
from permitry.actions.reading.strict import LONGEST, UnreadableError, read_strictly
from permitry.actions.unpacked import Given
from permitry.actions.variables import assignments_kept_by_shell, is_special, sets_of
from permitry.core.action import Action, Connect, Operands, Run, Touch, Unknown, Word
from permitry.core.words import CommandLine, Found

if TYPE_CHECKING:
    from permitry.actions.reading.lenient import LooseReading

__all__ = ["ShellReading", "kept", "read_argv", "read_command"]

_Read: TypeAlias = tuple[tuple[Command, ...], tuple[Classified | Refused, ...]]

_LONGEST_KEPT = 1_000
_LARGEST_KEPT = 5_000
_MOST_KEPT = 64
_PATCHING = frozenset({"git", "patch"})
_MOST_WORDS = 4_096
_MANY_WORDS = 40
_PLAIN_PATH = re.compile(r"[\w./@%+=:,-]+")


def _change_any() -> Changes:
    return Changes(is_anywhere=True)


@attrs.frozen
class ShellReading:
    """The actions of a command.

    `certain` are those of the strict reader; what it refuses is an `Unknown` among them. `possible` must run as far as
    the lenient reader can see, and `guessed` may run; both are only for restrictions. `doubt` is why the command may do
    more than read, None if it only reads. `changes` returns its changes to the disk that change where paths lead.
    """

    certain: tuple[Action, ...]
    possible: tuple[Action, ...] = ()
    doubt: str | None = None
    guessed: tuple[Action, ...] = ()
    changes: Callable[[], Changes] = attrs.field(default=_change_any, eq=False, repr=False, kw_only=True)


def read_command(text: str, folder: Folder, *, has_moved: bool = False) -> ShellReading:
    """Return the actions of shell text run in `folder`; `has_moved`: this is not the current folder of the session."""
    try:
        has_home = folder.home is not None and _PLAIN_PATH.fullmatch(folder.home) is not None
        before = kept(text, has_moved, has_home) if len(text) <= _LONGEST_KEPT else None
        commands, found = before or _read(text, has_moved=has_moved, has_home=has_home)
    except UnreadableError as error:
        from permitry.actions.derive.accounted import what_is_unknown  # noqa: PLC0415 -- as the lenient reader

        reading = loose.read_text(text)
        unknown = Unknown(text, error.reason, error.offset, about=what_is_unknown(text, reading))
        possible, guessed = loose.by_certainty(loose.possible_actions(reading, folder))
        return ShellReading((unknown,), possible, unknown.reason, guessed)
    return _Script(text, commands, found, folder, functools.partial(loose.read_text, text)).read()


# What a text says depends on the text alone. It is read again when a call is recorded, and agents repeat commands.
@remember(_MOST_KEPT)
def kept(text: str, has_moved: bool, has_home: bool) -> _Read | None:  # noqa: FBT001 -- a key
    """Return the same as `_read`; None for what may be too large to keep, as the commands of a loop are."""
    commands, found = _read(text, has_moved=has_moved, has_home=has_home)
    return (commands, found) if len(found) * len(text) <= _LARGEST_KEPT else None


def _read(text: str, *, has_moved: bool, has_home: bool) -> _Read:
    commands = read_strictly(text, has_home=has_home)
    return commands, _classify(commands, has_moved=has_moved)


def _classify(commands: tuple[Command, ...], *, has_moved: bool) -> tuple[Classified | Refused, ...]:
    moved = (Command((Word("cd"), Word("."))),) if has_moved else ()
    return classify((*moved, *commands))[len(moved) :]


def read_argv(argv: Sequence[str], folder: Folder, *, has_moved: bool = False) -> ShellReading:
    """Return the actions of one program started without a shell."""
    text = " ".join(argv)
    if len(argv) > _MOST_WORDS:
        reason = f"more than {_MOST_WORDS} arguments"
        return ShellReading((Unknown(text[:LONGEST], reason),), doubt=reason)
    if not argv or not argv[0] or "\0" in text:
        return ShellReading((Unknown(text, "no program is named"),), doubt="no program is named")
    command = Command(tuple(Word(word) for word in argv), end=len(text))
    read = functools.partial(loose.read_words, command.words)
    found = _classify((command,), has_moved=has_moved)
    return _Script(text, (command,), found, folder, read).read()


@attrs.define
class _Script:
    """Commands that the strict reader accepted; `_read_with_nested` reads the same text by the lenient reader."""

    text: str
    commands: Sequence[Command]
    found: Sequence[Classified | Refused]
    folder: Folder
    _read_with_nested: "Callable[[], LooseReading]"
    certain: list[Action] = attrs.field(factory=list)
    possible: list[Action] = attrs.field(factory=list)
    guessed: list[Action] = attrs.field(factory=list)
    doubts: list[str] = attrs.field(factory=list)
    needs_all: bool = False
    names_within: tuple[str, ...] | None = None
    found_names: Found | None = None
    sets: tuple[str, ...] = ()
    is_last: bool = False
    written: dict[tuple[str, ...], tuple[str, ...]] = attrs.field(factory=dict)

    @functools.cached_property
    def with_nested(self) -> "LooseReading":
        """The commands that the lenient reader finds in the text, nested commands included."""
        return self._read_with_nested()

    def read(self) -> ShellReading:
        """Return what the commands do."""
        found = self.found
        self.sets = tuple(dict.fromkeys(each for one in found for each in assignments_kept_by_shell(one.command)))
        is_ordered = all(map(is_in_order, found))
        writing = writers_in(found)
        self.is_last = is_ordered or len(writing) <= 1
        is_new = bool(self.folder.earlier())
        walk = Walk(self.folder)
        history = History(start=self.folder.earlier, is_ordered=is_ordered)
        together = start_together(found)
        for at, each in enumerate(found):
            folder = walk.before(each.command).after(history.next())
            if writing <= {at} and not is_new:
                folder = attrs.evolve(folder, writes_alone=True)
            if isinstance(each, Refused):
                self.unknown(each.command, each.reason)
                known: Classified | Refused = each
            else:
                known = self.with_values(each, folder)
                values = tuple(shown_values(each.command, folder)) if self.is_usual else ()
                self.command(known, folder, values=values)
                walk.after(known.command)
            history.add(_find_changes(known, folder, together=together))
        if self.needs_all:
            self.besides(loose.possible_actions(self.with_nested, self.folder))
        self.add_wrappers({each.command.words for each in found})
        run = run_of_made((*self.certain, *self.possible, *self.guessed))
        if run is not None:
            reason = f"`{run.words[0].text}` may be a file that the text itself makes"
            self.certain.append(Unknown(self.text, reason))
            self.doubts.append(reason)
        doubt = next(iter(self.doubts), None)
        # All commands of a pipeline have ended before the next command of the call begins.
        changes = _change_any if together and doubt is not None else history.next()
        return ShellReading(tuple(self.certain), tuple(self.possible), doubt, tuple(self.guessed), changes=changes)

    @functools.cached_property
    def is_usual(self) -> bool:
        """Whether what searches print, and where words are split, is as usual."""
        return are_usual(self.text, self.commands)

    @functools.cached_property
    def steers(self) -> bool:
        """Whether the text may give a variable a value that programs read."""
        names = (name for command in self.commands for name, _ in command.assignments)
        return not all(map(str.islower, names)) or any(each.words[0].text in ASSIGNING for each in self.commands)

    @functools.cached_property
    def lines(self) -> Mapping[tuple[int, int], CommandLine]:
        """The commands as they are written, by where they are."""
        return lines_of(self.commands)

    @functools.cached_property
    def is_alone(self) -> bool:
        """Whether one command does more than read, and the others write nothing: no file that it runs is theirs."""
        many = sum(isinstance(each, Refused) or each.doubt is not None for each in self.found)
        return many == 1 and not any(one.command.writes_files for one in self.found)

    @functools.cached_property
    def names_option(self) -> bool:
        """Whether a file in the text has a name that a program takes for an option: the text may make it."""
        targets = (each.target or "" for command in self.commands for each in command.redirections)
        words = (text for command in self.commands for text in command.argv if not text.startswith("-"))
        return any("/-" in f"/{name}" for name in (*targets, *words))

    def line_of(self, command: Command) -> CommandLine | None:
        """Return what a command is written as, if that is more than its words."""
        line = self.lines.get((command.start, command.end))
        return None if line is None or (line.words == command.words and not line.assigned) else line

    def besides(self, found: Iterable[loose.FoundAction]) -> None:
        """Add actions that are not certain."""
        possible, guessed = loose.by_certainty(found)
        self.possible += possible
        self.guessed += guessed

    def unknown(self, command: Command, reason: str) -> None:
        """Add a command that may run anything, including text that other commands write to its input."""
        self.certain.append(Unknown(self.text[command.start : command.end] or self.text, reason, command.start))
        self.doubts.append(reason)
        self.needs_all = True

    def with_values(self, one: Classified, folder: Folder) -> Classified:
        """Return a command with the values of expansions that are known."""
        command = expand(one.command, folder, self.commands) if self.is_usual else one.command
        self.written[command.argv] = one.command.argv
        return _classify_again(one, command)

    def command(self, one: Classified, folder: Folder, *, values: tuple[tuple[str, str], ...]) -> None:
        """Add the actions of a command; `values` are those of expansions in it, for a human."""
        is_piped = one.command.follows == "|" and self.names_within == one.command.within
        has_names = is_piped and not self.names_option
        if not has_names:
            self.found_names = None
        if self.is_usual:
            one = _classify_again(one, with_names(one.command, self.found_names, self.commands))
        command = one.command
        selects = folder.writes_alone and not self.steers and not any(map(_is_program, command.within))
        run = self.run(command, one.doubt, attrs.evolve(folder, selects=selects))
        run = attrs.evolve(run, looks=one.looks, values=values)
        actions: list[Action] = [run]
        for each in command.redirections:
            actions += read_redirection(each, run, folder, is_usual=self.is_usual)
        self.certain += actions
        self.found_names = names_by(command, self.found_names)
        self.names_within = command.within if prints_names(command, has_names=has_names) else None
        if (reason := _why_more(one, has_names=has_names)) is not None:
            self.unknown(command, reason)
        self.besides((each, True) for each in connect_perhaps(command))
        self.besides((each, True) for each in touch_by_variables(command, folder))
        if one.doubt is not None:
            self.inner(command, folder)
        self.doubts += filter(None, map(_why_not_reading, actions))

    def inner(self, command: Command, folder: Folder) -> None:
        """Add the nested commands that a program runs."""
        if record_of(program_of(command.words)).language and (command.is_piped or command.redirections):
            self.needs_all = True
        command = attrs.evolve(command, words=with_script(command.words, self.document(command)))
        words = () if command.only_assigns else command.words
        assignments = [pair for pair in command.assignments if pair[0] not in command.unknown or is_special(pair[0])]
        reading = loose.read_words(words, assignments)
        takes = functools.partial(takes_commands, is_piped=command.is_piped, has_input=command.has_input)
        if any(takes(each.words, each.within) for each in reading.commands):
            self.unknown(command, f"`{command.words[0].text}` runs commands that come from elsewhere")
        sets = (*self.sets, *sets_of(command))
        line = self.lines.get((command.start, command.end))
        line = line and attrs.evolve(line, is_alone=self.is_alone)
        found = tuple(loose.inner_actions(command, reading, folder, sets, line))
        if sum(not _is_supposed(action) for action, _ in found) > 1:  # Of several, the order is not known.
            found = tuple(loose.inner_actions(command, reading, attrs.evolve(folder, is_ordered=False), sets, line))
        is_elsewhere = program_of(command.words) in catalogue().elsewhere
        self.besides(each for each in found if is_elsewhere or _is_supposed(each[0]))
        # INVARIANT: law 3. The nested commands that a program runs must be permitted as well.
        self.certain += [action for action, _ in found if not (is_elsewhere or _is_supposed(action))]
        for text in local_commands(command.words):
            sure, guessed = loose.loosely(text, folder)
            self.certain += [attrs.evolve(each, line=line) if isinstance(each, Run) else each for each in sure]
            self.besides((action, True) for action in guessed)

    def run(self, command: Command, doubt: str | None, folder: Folder, *, is_wrapper: bool = False) -> Run:
        given = given_of(command, self.document(command), self.certain, is_last=self.is_last)
        run = run_of(command, doubt, folder, given=given, is_wrapper=is_wrapper)
        sets = (*self.sets, *sets_of(command))
        line = self.line_of(command)
        return attrs.evolve(run, sets=sets, line=line) if sets or line is not None else run

    def document(self, command: Command) -> str | None:
        """Return the here-document that `patch`, an interpreter, a console or `sed -f -` reads; None for others."""
        is_read = hidden_patch(command.words, "") is not None or reads_code(command.words)
        is_read = is_read or program_of(command.words) in _PATCHING
        is_read = is_read or record_of(program_of(command.words)).language != ""
        is_read = is_read or with_script(command.words, "") != command.words
        if not is_read or all(each.target is not None for each in command.redirections):
            return None
        argvs = (command.argv, self.written.get(command.argv))
        texts = [text for each in self.with_nested.commands if each.argv in argvs for text in each.stdin]
        return "\n".join(texts) if texts else None

    def add_wrappers(self, seen: Container[tuple[Word, ...]]) -> None:
        """Add the wrappers that were unwrapped as actions: a restriction may be about `bash` itself."""
        for command in map(with_keyword, self.commands):
            if command.words not in seen:
                self.possible.append(self.run(command, "it runs another program", self.folder, is_wrapper=True))
                sets = (*self.sets, *sets_of(command))
                self.besides(loose.inner_actions(command, loose.read_words(command.words), self.folder, sets))


def _classify_again(one: Classified, command: Command) -> Classified:
    """Return a command whose words are known better by now, and whether it only reads."""
    if command.words != one.command.words:
        one = classify_one(with_examples(command), has_moved=one.has_moved)
    return attrs.evolve(one, command=command)


def _why_more(one: Classified, *, has_names: bool) -> str | None:
    """Return why a command may run another that its words do not show; None if it does not."""
    words = one.command.words
    may_nest = one.doubt is not None and len(words) > _MANY_WORDS
    # Of many nested commands, each is inside all those around it: looking at them one by one takes cubic time.
    if may_nest and not loose.read_words(words).is_complete:
        return loose.TOO_MUCH
    return why_may_run_more(one.command, has_names=has_names)


def _why_not_reading(action: Action) -> str | None:
    match action:
        case Run():
            return action.doubt
        case Touch():
            return None if not action.access.is_change else f"writes `{action.place.text}`"
        case Connect():
            return f"`{action.text}` opens a network connection"
        case _:
            return None


def _find_changes(one: Classified | Refused, folder: Folder, *, together: bool) -> Reader | None:
    """Return the function that reads what a command changes; None if it may change anything."""
    if isinstance(one, Refused):
        return _change_none if together else None
    if one.doubt is None:
        return _change_none
    read = functools.partial(_operands_behind, one.command.words, folder)
    return functools.partial(_if_listed, read) if together else read


def _operands_behind(words: tuple[Word, ...], folder: Folder, changes: Changes) -> Operands:
    return operands_in(words, folder.after(lambda: changes), Given())


def _if_listed(read: Reader, changes: Changes) -> Operands:
    operands = read(changes)
    return operands if operands.is_listed else _change_none(changes)


def _change_none(_: Changes) -> Operands:
    return Operands(is_listed=True)


def _is_program(name: str) -> bool:
    """Return whether what is around a command is another program, which may change its environment."""
    return name not in RESERVED and name != "&" and "…" not in name


def _is_supposed(action: Action) -> bool:
    return isinstance(action, Run) and any(name.endswith("?") for name in action.within)
