"""All commands that a text might run: those the lenient reader finds, and the nested commands they run, recursively."""

import itertools
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence

import attrs

from permitry.actions.builtins import DECLARING
from permitry.actions.derive.runners import MOST_WORDS, Inner, program_of, runs_others, unfolded
from permitry.actions.programs.catalogue import record_of, remember
from permitry.actions.programs.git import sets_elsewhere
from permitry.actions.programs.inputs import reads_commands, reads_shell
from permitry.actions.programs.languages import LANGUAGES
from permitry.actions.programs.running import ANY_COMMAND
from permitry.actions.programs.sed import with_script
from permitry.actions.reading.lenient import BEFORE_COMMANDS, LooseCommand, LooseReading, read_leniently
from permitry.actions.variables import fact_of
from permitry.core.action import Word

__all__ = ["read_recursively", "read_words_recursively"]

DEEPEST = 8
"""How many programs that run another one there may be around a command."""

MOST_COMMANDS = 2000
MOST_INNER_WORDS = 4000
"""How many words all nested commands together may have: each counts as often as there are commands around it."""

MOST_TEXT = 80 * 1024
"""How many characters of nested shell texts are read."""

_EXPORTERS = DECLARING | {"doas", "env", "strace", "sudo"}
_MOST_VALUES = 8


def read_recursively(text: str) -> LooseReading:
    """Return every command that a shell text might run, nested commands included; never raises.

    A program named with its folder is reported twice: `/bin/rm x` is followed by `rm x`, with the same offsets.
    """
    reading = read_leniently(text)
    return _Reading(is_complete=reading.is_complete, is_plain=reading.is_plain).run(reading.commands)


def read_words_recursively(words: Sequence[Word], assignments: Sequence[tuple[str, str]] = ()) -> LooseReading:
    """Return the same for the words of one command; offsets are those in the words joined by blanks."""
    end = len(" ".join(word.text for word in words))
    return _Reading().run((LooseCommand(tuple(words), assignments=tuple(assignments), end=end),))


@attrs.define
class _Reading:
    is_complete: bool = True
    is_plain: bool = True
    found: dict[LooseCommand, None] = attrs.field(factory=dict)
    # The nested texts that were read, each with whether that was only as a guess.
    texts: dict[str, bool] = attrs.field(factory=dict)
    waiting: deque[tuple[LooseCommand, int]] = attrs.field(factory=deque)
    printed: list[tuple[str, LooseCommand, int]] = attrs.field(factory=list)
    fed: set[LooseCommand] = attrs.field(factory=set)
    text_left: int = MOST_TEXT
    words_left: int = MOST_INNER_WORDS
    is_fed: bool = False
    languages: set[Callable[[str], Iterator[str]]] = attrs.field(factory=set)

    def run(self, commands: Sequence[LooseCommand]) -> LooseReading:
        self.fed.update(_feeding(commands))
        self.waiting.extend((command, 0) for command in commands)
        while self.waiting:
            command, depth = self.waiting.popleft()
            if command not in self.found:
                self.visit(command, depth)
            if not self.waiting and (self.is_fed or self.languages):
                self.feed()
        return LooseReading(tuple(self.found), self.is_complete, self.is_plain and self.is_complete)

    def visit(self, command: LooseCommand, depth: int) -> None:
        """Add a command to the result, and queue the commands that it runs."""
        if len(self.found) >= MOST_COMMANDS or self.words_left <= 0:
            self.is_complete = False
            return
        self.words_left -= len(command.words) * depth
        self.found[command] = None
        self.is_fed = self.is_fed or reads_commands(command.words)
        language = record_of(program_of(command.words)).language
        self.languages.update([LANGUAGES[language]] if language else [])
        self.printed += ((text, command, depth) for text in _find_printed(command))
        name = program_of(command.words)
        if name and name != command.words[0].text:
            bare = attrs.evolve(command.words[0], text=name)
            self.found[attrs.evolve(command, words=(bare, *command.words[1:]))] = None
        words = with_script(command.words, "\n".join(command.stdin) if command.stdin else None)
        inners = (*unfolded(words), *_find_values(command))
        has_more = len(command.words) > MOST_WORDS and bool(inners or runs_others(command.words))
        self.is_complete = self.is_complete and not has_more
        for inner in inners:
            self.unfold(inner, command, depth + 1)

    def unfold(self, inner: Inner, outer: LooseCommand, depth: int) -> None:
        if depth > DEEPEST:
            self.is_complete = False
            return
        within, is_guess = (*outer.within, inner.by), outer.is_guess or inner.is_guess
        if inner.text is None:
            words = tuple(itertools.dropwhile(lambda word: word.text in BEFORE_COMMANDS, inner.words))
            command = LooseCommand(words, within=within, start=outer.start, end=outer.end, is_guess=is_guess)
            self.waiting.append((command, depth))
            return
        commands = self.read(inner.text, is_guess=is_guess)
        feeding = set(_feeding(commands))
        for command in commands:
            moved = attrs.evolve(
                command,
                within=(*within, *command.within),
                start=outer.start,
                end=outer.end,
                is_guess=is_guess or command.is_guess,
            )
            self.fed.update((moved,) if command in feeding else ())
            self.waiting.append((moved, depth))

    def read(self, text: str, *, is_guess: bool) -> Sequence[LooseCommand]:
        """Return the commands of a nested text; none if it was read before, except if that was only as a guess."""
        if text in self.texts and self.texts[text] <= is_guess:
            return ()
        if len(text) > self.text_left:
            self.is_complete = False
            return ()
        self.texts[text] = is_guess
        self.text_left -= len(text)
        reading = read_leniently(text)
        self.is_complete = self.is_complete and reading.is_complete
        self.is_plain = self.is_plain and (is_guess or reading.is_plain)
        return reading.commands

    def feed(self) -> None:
        """Read as commands what other commands print or have in here-documents: a program here runs its input."""
        printed, self.printed = self.printed, []
        # Text that must reach a shell goes first, before text that may: each text is read only once.
        for text, command, depth in sorted(printed, key=lambda each: each[1] not in self.fed):
            if self.is_fed:
                self.unfold(Inner("|", text=text, is_guess=command not in self.fed), command, depth + 1)
            for language in self.languages:
                inner = "\n".join(language(text))
                self.unfold(Inner("|", text=inner, is_guess=True), command, depth + 1)


def _feeding(commands: Sequence[LooseCommand]) -> Iterator[LooseCommand]:
    """Yield the commands whose output, or whose own here-document, must be the input of a shell."""
    for at, command in enumerate(commands):
        if (command.is_piped or command.stdin) and _is_shell(command.words):
            yield command
            if command.is_piped:
                yield from _before_pipe(commands[:at], command)


@remember(4096)
def _is_shell(words: tuple[Word, ...]) -> bool:
    """Return whether a command, or a nested command that it runs, is a shell that takes commands from its input."""
    waiting, seen, left = deque([words]), {words}, MOST_INNER_WORDS
    while waiting and left > 0:
        some = waiting.popleft()
        if reads_shell(some):
            return True
        left -= len(some)
        inner = dict.fromkeys(each.words for each in unfolded(some) if each.words and not each.is_guess)
        waiting.extend(each for each in inner if each not in seen)
        seen.update(inner)
    return False


def _before_pipe(commands: Sequence[LooseCommand], reader: LooseCommand) -> Iterator[LooseCommand]:
    """Yield the commands before `reader` in its pipeline, those inside constructs included."""
    inside = len(reader.within)
    begin: int | None = None
    for command in reversed(commands):
        if command.is_guess or command.within[:inside] != reader.within:
            continue
        if len(command.within) > inside:
            begin = command.start
        elif begin is not None and command.end <= begin:
            return
        yield command
        if len(command.within) == inside and not command.is_piped:
            return


def _find_printed(command: LooseCommand) -> Iterator[str]:
    """Yield the texts a command may write to the input of a shell."""
    yield from command.stdin
    if record_of(program_of(command.words)).prints == "operands":
        text = " ".join(word.text for word in command.words[1:] if word.text not in ("-n", "-e", "-en", "-ne", "--"))
        yield text
        yield text.replace("\\n", "\n").replace("\\t", "\t")


def _loads(name: str, value: str) -> bool:
    """Return whether a variable makes a program run a file, or code that is not of the shell."""
    sets = name.startswith("GIT_CONFIG_KEY_") and sets_elsewhere(value)
    pattern = fact_of(name, "loads")
    return sets or (isinstance(pattern, str) and value != "" and re.search(pattern, value) is not None)


def _find_values(command: LooseCommand) -> Iterator[Inner]:
    """Yield the texts that other programs run because of the variables that a command sets."""
    exported = command.words[1:] if program_of(command.words) in _EXPORTERS else ()
    pairs = [word.text.partition("=")[::2] for word in exported[:MOST_WORDS]]
    unknown = {word.text.partition("=")[0] for word in exported[:MOST_WORDS] if word.is_open}
    given = (*command.assignments, *pairs)
    for name, value in given:
        runs = fact_of(name, "runs")
        if runs == "program":
            # `make` runs it with the values of others, as in `$(CC) $(CFLAGS)`.
            yield from (Inner(name, text=f"{value} {each}", is_guess=True) for _, each in given[:_MOST_VALUES])
        if runs == "text":
            yield Inner(name, text=value.lstrip("|"))
        elif name.startswith("GIT_CONFIG_VALUE_"):
            yield Inner(name, text=value.removeprefix("!") if value.startswith("!") else f"git {value}")
        elif _loads(name, value):
            yield attrs.evolve(ANY_COMMAND, by=name)
        elif len(value.split()) > 1 and name not in unknown and (command.words or not name.islower()):
            # Some program may run the value of any variable; those in lower case are mostly local to the shell.
            yield Inner(f"{name}?", text=value, is_guess=True)
