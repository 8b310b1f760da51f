"""Constructs that give a name to something: arrays, functions, `select`, and loops that count.

Source: bash(1), "Compound Commands", "Arrays", "Shell Function Definitions".
"""

import re
from collections.abc import Callable, Mapping, Sequence

import attrs

from permitry.actions.builtins import MOVES, has_meaning
from permitry.actions.command import Command, Redirection
from permitry.actions.reading.compounds import RESERVED, Assigned, CompoundReader
from permitry.actions.variables import dies_with_shell, is_special
from permitry.core.action import Word

__all__ = ["ConstructReader"]

_FUNCTION = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)[ \t]*\([ \t]*\)")
_NUMBER = r"[ ]*-?[0-9]+[ ]*"
_COUNTED = re.compile(
    rf"[ \t]*\(\([ ]*([A-Za-z_][A-Za-z0-9_]*)[ ]*={_NUMBER};[ ]*\1[ ]*(?:[<>]=?|!=){_NUMBER};"
    rf"[ ]*(?:\1(?:\+\+|--)|(?:\+\+|--)\1|\1[ ]*[+-]={_NUMBER})[ ]*\)\)"
)
_KEYWORD = len("while")
_OF_LINES = ((), ("-r",))
_OF_TEXTS = frozenset(["[", "[[", "basename", "chmod", "dirname", "echo", "mkdir", "printf", "test", "touch", "true"])
"""Programs that read no file."""
_WHOLE = frozenset(["cat", "md5sum", "rm", "sha1sum", "sha256sum", "wc"])
"""Programs that read their files to the end, or none unless they ask for an answer."""
_OF_PIPES = frozenset(["cut", "head", "sort", "tail", "tr", "uniq", "wc"])
_OF_NULLS = (("-r", "-d", ""), ("-d", "", "-r"), ("-rd", ""))


@attrs.frozen
class _Lines:
    """A loop over what is in its input: the variable, where its `read` begins, and whether names end at a null."""

    name: str
    start: int
    is_apart: bool


class ConstructReader(CompoundReader):
    """Reads these constructs as well; `counted` are the variables of loops that count, `functions` the names.

    `lines` are, by where their loop begins, what the variables of loops are a line of.
    """

    def __init__(self, text: str, known: frozenset[str] = frozenset(), lines: Mapping[int, str] | None = None) -> None:
        super().__init__(text, known)
        self.counted: list[str] = []
        self.functions: set[str] = set()
        self.lines = lines or {}
        self.loops: dict[int, _Lines] = {}

    def constructs(self) -> Mapping[str, tuple[str, Callable[[], object]]]:
        """Return for each reserved word that opens a construct its name, and how it is read."""
        return {**super().constructs(), "select": ("select", self.selection)}

    def command(self) -> None:
        """Consume a construct, the definition of a function, or a simple command."""
        found = _FUNCTION.match(self.text, self.at)
        if found is None:
            super().command()
        else:
            self.function(found)

    # Functions -------------------------------------------------------------------------------------------------------

    def function(self, found: re.Match[str]) -> None:
        """Consume `NAME() { list }`. Its commands count where it is defined; a call is a program of that name.

        A name that means something to permitry is refused, as its words would be read as that program's.
        """
        name, begin = found[1], self.at
        if has_meaning(name) or name in RESERVED or name in self.functions or self.documents:
            raise self.refuse("a function with an unusual name", begin)
        self.functions.add(name)
        self.at = found.end()
        self.separators()
        if not self.at_keyword("{"):
            raise self.refuse("a function of an unusual kind", begin)
        self.inside("function", lambda: self.compound("{…}", 1, lambda: self.list_of_commands("}")))

    def check_functions(self) -> None:
        """Refuse functions where the folder changes, and calls by which their commands mean something else.

        That is by an input or variables that are given to them, or in other functions.
        """
        for each in self.found if self.functions else ():
            is_given = each.is_piped or each.assignments or any(one.operator == "<" for one in each.redirections)
            is_unusual = each.argv[0] in self.functions and (is_given or "function" in each.within)
            if is_unusual or each.argv[0] in MOVES:
                raise self.refuse("a function that is called in an unusual way", each.start)

    # Loops -----------------------------------------------------------------------------------------------------------

    def selection(self) -> None:
        """Consume ` NAME in words; do list done`, which may run any number of times."""
        begin, before = self.at, len(self.found)
        name = self.loop_name()
        self.assigned.append(Assigned(name))
        self.loop_words(name)
        if self.connector() == "&" or not self.at_keyword("do") or self.documents:
            raise self.refuse("a `select` without its `do`", begin)
        self.at += 2
        self.list_of_commands("done")
        self.check_repeated(begin, before)

    def loop(self) -> None:
        """Consume a loop over words, or one that counts: ` ((NAME=1; NAME<9; NAME++)); do list done`."""
        begin, before = self.at, len(self.found)
        found = _COUNTED.match(self.text, self.at)
        if found is None:
            super().loop()
            return
        if is_special(found[1]):
            raise self.refuse("a loop with an unusual variable", begin)
        self.counted.append(found[1])
        self.assigned.append(Assigned(found[1]))
        self.at = found.end()
        self.blanks()
        if self.connector() == "&" or not self.at_keyword("do") or self.documents:
            raise self.refuse("a loop without its `do`", begin)
        self.at += 2
        self.list_of_commands("done")
        self.check_repeated(begin, before)

    def check_counted(self, unchanged: frozenset[str]) -> None:
        """Refuse a loop that counts if its variable may get another value: arithmetic would evaluate that.

        `unchanged` are the names to which the text gives a value in one place alone.
        """
        if not unchanged.issuperset(self.counted):
            raise self.refuse("a loop with a variable that something else may change", 0)

    def check_sums(self, changed: set[str] | None) -> None:
        """Refuse arithmetic with a variable that may have another value than a number.

        `changed` are the names that commands may change by themselves, None if they may change any.
        """
        names = self.summed
        others = {each.name for each in self.assigned if not each.is_number}
        if names and (changed is None or not names.isdisjoint(changed | others) or any(map(is_special, names))):
            raise self.refuse("arithmetic with more than numbers", 0)

    def repeat(self) -> None:
        """Consume a loop; where its condition reads a line of what other commands print, the body has that line."""
        begin, before = self.at, len(self.found)
        self.list_of_commands("do")
        loop = _find_lines(self.found[before:], self.within)
        if loop is not None:
            self.loops[begin - _KEYWORD] = loop
            self.assigned.append(Assigned(loop.name, is_plain=True, is_loop=True))
            self.forget(loop.name)
            if loop.name in self.known:
                self.sources[loop.name] = self.lines.get(begin - _KEYWORD, "")
        self.list_of_commands("done")
        if loop is not None:
            self.forget(loop.name)
            if not all(_leaves_input(each, loop.name) for each in self.found[before + 1 :]):
                # What reads a part of a line leaves the rest of it for a name.
                del self.loops[begin - _KEYWORD]
        self.check_repeated(begin, before)

    def find_lines(self) -> Mapping[int, str]:
        """Return by where each loop begins what its variable is a line of, as far as that is known; once all is read.

        It is a substitution, in quotes where no name is split.
        """
        if any(command.argv[0] == "exec" for command in self.found):
            return {}
        commands = {command.start: command for command in self.found}
        printers = {begin: self.printer_of(begin, commands[loop.start]) for begin, loop in self.loops.items()}
        quotes = {begin: '"' * loop.is_apart for begin, loop in self.loops.items()}
        return {begin: f"{quotes[begin]}$({text}){quotes[begin]}" for begin, text in printers.items() if text}

    def printer_of(self, begin: int, command: Command) -> str:
        """Return the commands whose output the `read` of a loop reads; empty if that is not known."""
        inputs = [each for each in command.redirections if each.operator == "<"]
        if begin in self.printers:
            inputs.append(Redirection("<", None, printer=self.printers[begin]))
        elif command.is_piped:
            return ""
        return inputs[0].printer if len(inputs) == 1 else ""

    # Arrays ----------------------------------------------------------------------------------------------------------

    def array(self) -> Word:
        """Consume `(word …)` and return it, as a value that is not known."""
        begin = self.at
        self.at += 1
        while not self.at_end_of_array(begin):
            start = self.at
            if any(word.text.startswith("[") for word in self.words()) or self.at == start:
                raise self.refuse("an array with subscripts", begin)
        self.at += 1
        if not self.ends_word() or self.peek() == "(":
            raise self.refuse("text behind an array", begin)
        return Word(self.text[begin : self.at], is_open=True)

    def at_end_of_array(self, begin: int) -> bool:
        """Consume blanks and newlines; return whether the array ends here."""
        self.blanks()
        while self.peek() == "\n" and not self.documents:
            self.newline()
            self.blanks()
        if self.peek() != ")" and (self.ends_word() or self.peek() in "#["):
            raise self.refuse("an array of an unusual kind", begin)
        return self.peek() == ")"


def _find_lines(condition: Sequence[Command], within: tuple[str, ...]) -> _Lines | None:
    """Return what a loop of this condition reads, if that is one variable at a time, and nothing else."""
    first, *others = condition
    # Without a name, `read` gives what it reads to `REPLY`.
    options, name = first.argv[1:-1], first.argv[-1] if len(first.argv) > 1 else ""
    is_here = first.within == within and within[-1] == "while" and not first.redirections
    if others or first.argv[0] != "read" or not is_here or not dies_with_shell(name, is_exported=False):
        return None
    is_whole = first.assignments == (("IFS", ""),)
    if options in _OF_LINES and (is_whole or not first.assignments):
        return _Lines(name, first.start, is_apart=False)
    if options in _OF_NULLS and is_whole:
        return _Lines(name, first.start, is_apart=True)
    return None


def _leaves_input(command: Command, name: str) -> bool:
    """Return whether a command in a loop over lines certainly reads nothing of them, or all that is left.

    A name that is read may be a link to the input itself.
    """
    program, words = command.argv[0], command.words[1:]
    if any(each.operator == "<" for each in command.redirections):
        return False
    if command.only_assigns or (command.follows == "|" and program in _OF_PIPES and all(map(_is_option, words))):
        return True
    if program in _WHOLE:
        names = [word for word in words if not _is_option(word)]
        asks = program == "rm" and any("i" in word.text.lower() for word in words if _is_option(word))
        return bool(names) and not asks and all(word.text in (f"${name}", f"${{{name}}}") for word in names)
    return program in _OF_TEXTS


def _is_option(word: Word) -> bool:
    return re.fullmatch(r"-[a-zA-Z0-9]+", word.text) is not None
