r"""The strict reader of shell text: a small grammar that refuses everything it does not know.

What it returns is exactly what bash runs, argument by argument, but for open words, whose text is not known; a command
is allowed only if this reader accepts it. A construct is added only if it passes the differential fuzzing against bash
itself (`tests/peers/test_bash.py`). The text is read once, or twice if it has variables, and the body of a loop once
for each word, without backtracking.

::

    list      = pipeline { ("&&" | "||" | ";" | "&" | newline) pipeline }
    pipeline  = ["!"] ["time"] command { ("|" | "|&") command }
    command   = simple | ( "(" list ")" | "{" list "}" | if | while | for | case | function ) { redirection }
    if        = "if" list "then" list { "elif" list "then" list } [ "else" list ] "fi"
    while     = ("while" | "until") list "do" list "done"
    for       = ("for" | "select") NAME "in" word { word } (";" | newline) "do" list "done"
              | "for" "((" NAME = number ";" NAME < number ";" NAME "++" "))" (";" | newline) "do" list "done"
    case      = "case" word "in" { ["("] word { "|" word } ")" [list] ";;" } "esac"
    function  = NAME "(" ")" "{" list "}"
    simple    = { NAME=word | redirection } word { word | redirection } | NAME=value { NAME=value }
    value     = word | "(" { word | newline } ")"

Source: shared facts on shell readers; bash(1), "SHELL GRAMMAR", "REDIRECTION".
"""

import collections
import re
from collections.abc import Container, Mapping, Sequence

from permitry.actions.builtins import ASSIGNING, DECLARING, MOVING, NAMING, SYNTACTIC
from permitry.actions.command import Command, Redirection
from permitry.actions.reading.compounds import LONGEST, RESERVED, Assigned
from permitry.actions.reading.constructs import ConstructReader
from permitry.actions.reading.words import UnreadableError
from permitry.actions.variables import is_evaluated, is_special, leads_elsewhere
from permitry.core.action import Word

__all__ = ["LONGEST", "UnreadableError", "read_strictly"]

MOST_IN_ALL = 1_000
"""How many commands may be read at all."""

_SETS = re.compile("-[a-z]*[su]")
_REPEATED = frozenset(["for", "function", "select", "until", "while"])
_KNOWN_OF_SET = re.compile(r"[-+][efuvx]*o?|errexit|noglob|nounset|pipefail|xtrace")
_NO_NAME_ATTACHED = re.compile("-[erspfv]*[adinptuN]?")
_CHANGES_BY_OPTION = frozenset(["[", "printf", "test"])
_PLAIN_DECLARATION = re.compile(r"-[gprx]+|-[fF]+")
_EVALUATE = ASSIGNING | _CHANGES_BY_OPTION
_SUBSCRIPT = re.compile(r"(?:-[A-Za-z]+)?[A-Za-z_][A-Za-z0-9_]*\[")
"""A name, perhaps attached to an option, with a subscript: bash evaluates it, and the first element is the variable."""
_HOME = "HOME"
_NUMBER, _SUM = re.compile("[0-9]{1,18}"), re.compile(r"\$\(\([^()]*\)\)")
_SEPARATING = str.maketrans("\t\n", "  ")

# Each pattern matches in only one way, so that backtracking takes linear time.
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_strictly(text: str, *, has_home: bool = False) -> tuple[Command, ...]:
    """Return the commands that bash would run for `text`, in order; those in a loop once for each of its words.

    Those of a loop whose number of times is not known are there once. `has_home`: `$HOME` is known, and has no
    character that the shell would split or expand.

    Raises: `UnreadableError` for anything outside the grammar.
    """
    if len(text) > LONGEST:
        raise UnreadableError(f"longer than {LONGEST} characters", LONGEST)
    if not text.translate(_SEPARATING).isprintable():
        offset, char = next((at, each) for at, each in enumerate(text) if not (each in "\t\n" or each.isprintable()))
        raise UnreadableError(f"an invisible character (U+{ord(char):04X})", offset)
    reader = _Reader(text)
    found = reader.script()
    reader.check_counted(_unchanged(reader.assigned, found))
    reader.check_sums(_changed(found))
    if has_home and _HOME in text:
        reader.assigned.append(Assigned(_HOME, is_plain=True))
    lines = reader.find_lines()
    known = reader.find_known(lines)
    if known:
        return _Reader(text, known, lines).script()
    if reader.late is not None:
        raise reader.late
    return found


def _known(assigned: Sequence[Assigned], commands: Sequence[Command]) -> frozenset[str]:
    """Return the names of variables whose values the text alone decides wherever it gives them one.

    That is in loops over words alone, or in one assignment, and nothing else in the text may change the variable.
    """
    changed = _changed(commands)
    every = collections.Counter(each.name for each in assigned)
    if changed is None or "IFS" in every or "IFS" in changed:
        return frozenset()
    alone = {name for name, count in every.items() if count == 1}
    alone |= every.keys() - {each.name for each in assigned if not each.is_loop}
    plain = {each.name for each in assigned if each.is_plain} & alone - changed
    return frozenset(name for name in plain if name == _HOME or not is_special(name))


def _unchanged(assigned: Sequence[Assigned], commands: Sequence[Command]) -> frozenset[str]:
    """Return the names of variables to which the text gives a value in one place alone."""
    changed = _changed(commands)
    every = collections.Counter(each.name for each in assigned)
    if changed is None:
        return frozenset()
    return frozenset(name for name in every if every[name] == 1) - changed


def _changed(commands: Sequence[Command]) -> set[str] | None:
    """Return the names of variables that commands may change by themselves; None if they may change any."""
    names: set[str] = set()
    for command in commands:
        program, words = command.argv[0], command.words[1:]
        by_option = program in _CHANGES_BY_OPTION and any(
            word.is_open or "-v" in word.text or "%n" in word.text for word in words[:1]
        )
        if program in NAMING and all(map(_is_name_or_option, words)):
            names.update(word.text.partition("=")[0] for word in words)
        elif by_option or program in ASSIGNING:
            return None
    return names


def _is_name_or_option(word: Word) -> bool:
    """Return whether a word is not an option with a value attached, which may be a name: `read -aNAME`."""
    is_known = not word.text.startswith("-") or _NO_NAME_ATTACHED.fullmatch(word.text) is not None
    return is_known and not (word.is_open or word.is_glob)


def _changes_reading(command: Command) -> bool:
    """Return whether a command may change how bash parses or expands the text after it."""
    argv = command.argv
    if argv[0] in ("builtin", "command"):
        return not SYNTACTIC.isdisjoint(argv) or any(word.is_open for word in command.words[1:2])
    if argv[0] == "set":
        return not all(_KNOWN_OF_SET.fullmatch(text) for text in argv[1:])
    if argv[0] == "hash":
        return any(word.is_open or word.text.startswith("-") for word in command.words[1:])
    if argv[0] in ("alias", "shopt"):
        return any(word.is_open or "=" in word.text or _SETS.match(word.text) for word in command.words[1:])
    return argv[0] in SYNTACTIC and not (argv[0] == "eval" and _is_plain_eval(command))


def _is_plain_eval(command: Command) -> bool:
    """Return whether a text for `eval` is known, and leaves how bash reads the text after it as it is."""
    if any(word.is_open or word.is_glob for word in command.words):
        return False
    try:
        inner = read_strictly(" ".join(command.argv[2 if command.argv[1:2] == ("--",) else 1 :]))
    except UnreadableError:
        return False
    return not any(map(_changes_reading, inner))


def _evaluates(command: Command) -> bool:
    """Return whether a command takes a word for arithmetic, so that a substitution in the value of a variable runs."""
    program, words = command.argv[0], command.words[1:]
    if program == "printf" and words[:1] == (Word("-v"),) and any(is_special(word.text) for word in words[1:2]):
        return True
    takes_names = program in ASSIGNING or any(word.text.startswith(("-v", "-R")) for word in words)
    takes_names = takes_names or (program == "printf" and any("%n" in word.text for word in words[:1]))
    has_subscript = program in _EVALUATE and any(_SUBSCRIPT.match(word.text) for word in words)
    return program == "let" or (takes_names and has_subscript)


class _Reader(ConstructReader):
    def __init__(self, text: str, known: frozenset[str] = frozenset(), lines: Mapping[int, str] | None = None) -> None:
        super().__init__(text, known, lines)
        if _HOME in known:
            self.values[_HOME] = Word("~", is_home=True)

    def script(self) -> tuple[Command, ...]:
        self.list_of_commands()
        if self.documents:
            raise self.refuse("a here-document without its end")
        for at, command in enumerate(self.found, start=1):
            is_last = at == len(self.found) and _REPEATED.isdisjoint(command.within)
            if not is_last and _changes_reading(command):
                raise self.refuse(f"`{command.argv[0]}`, behind which text may mean something else", command.start)
        self.check_functions()
        for command in self.found:
            if _evaluates(command):
                raise self.refuse(f"`{command.argv[0]}`, which evaluates the value of a variable", command.start)
        return tuple(self.found)

    def find_known(self, lines: Container[int]) -> frozenset[str]:
        """Return the names of variables whose values are followed; `lines` are the loops whose input is known."""
        reads = {loop.start for begin, loop in self.loops.items() if begin in lines}
        others = [each for each in self.found if each.start not in reads]
        return _known(self.assigned, others) if self.assigned else frozenset()

    def simple(self) -> None:
        start = self.at
        words: list[Word] = []
        assignments: list[tuple[str, Word]] = []
        redirections: list[Redirection] = []
        is_last = has_array = False
        while not self.at_end_of_command():
            begin = self.at
            if self.at_process() and words:
                words.append(self.process())
            elif self.at_redirection():
                is_last = is_last or self.peek() == "&"
                redirections.append(self.redirection())
            elif not words and (name := self.read_assigned_name()) is not None:
                has_array = has_array or self.peek() == "("
                assignments.append((name, self.read_assigned_value()))
            elif is_last:
                # A plain `sh` reads `a &>f b` as two commands.
                raise self.refuse("a word behind `&>`")
            else:
                is_first = not words
                words += self.words()
                if is_first:
                    self.check_program(words[0], begin)
        if words and has_array:
            raise self.refuse("an array before a command", start)
        self.add(words, assignments, redirections, start)

    def add(
        self,
        words: list[Word],
        assignments: list[tuple[str, Word]],
        redirections: list[Redirection],
        start: int,
    ) -> None:
        """Add a command that begins at `start` to what was found."""
        only_assigns = not words and bool(assignments) and not redirections
        if only_assigns:
            words = [Word(f"{name}={value.text}") for name, value in assignments]
        if not words:
            lacking = "an assignment or redirection without a command" if self.at > start else "a command is missing"
            raise self.refuse(lacking, start)
        if len(self.found) == MOST_IN_ALL:
            raise self.refuse(f"more than {MOST_IN_ALL} commands", start)
        texts = tuple((name, value.text) for name, value in assignments)
        unknown = frozenset(name for name, value in assignments if value.is_open)
        place = (start, self.at, self.follows, self.within)
        command = Command(tuple(words), texts, tuple(redirections), *place, only_assigns, unknown)
        self.found.append(command)
        is_plain = only_assigns and not self.within and self.follows in ("", ";")
        is_kept = only_assigns or command.argv[0] in MOVING
        names = [name for name, _ in assignments] if is_kept else []
        if command.argv[0] in NAMING | DECLARING:
            names += [word.text.partition("=")[0] for word in command.words[1:]]
        if any(map(leads_elsewhere, names)):
            raise self.refuse("an assignment by which a path leads elsewhere", start)
        for name, value in assignments:
            # What is set for `read` alone has no effect on the words of other commands.
            if name != "IFS" or command.argv[0] != "read":
                self.assign(name, value, is_plain=is_plain)
        if command.argv[0] in DECLARING:
            self.check_declaration(command)

    def assign(self, name: str, value: Word, *, is_plain: bool) -> None:
        """Keep that a variable was assigned, and its value if it is followed."""
        if is_evaluated(name):
            raise self.refuse(f"an assignment of `{name}`")
        is_number = (_SUM if value.is_open else _NUMBER).fullmatch(value.text) is not None
        self.assigned.append(Assigned(name, is_plain=is_plain, is_number=is_number))
        is_known = name in self.known and is_plain and not (value.is_open or value.is_home)
        if is_known:
            self.keep_value(name, Word(value.text))
        elif name in self.known and is_plain and value.is_open:
            self.sources[name] = value.text

    def check_declaration(self, command: Command) -> None:
        """Refuse options by which bash evaluates what is assigned, or takes it for the name of another variable."""
        for word in command.words[1:]:
            if word.text.startswith(("-", "+")) and not _PLAIN_DECLARATION.fullmatch(word.text):
                raise self.refuse(f"`{command.argv[0]} {word.text}`", command.start)

    def check_program(self, word: Word, begin: int) -> None:
        raw = self.text[begin : self.at]
        if raw in RESERVED:
            raise self.refuse(f"the reserved word `{raw}`", begin)
        if word.is_glob and word.text != "[":
            raise self.refuse("a program named by a pattern", begin)
        if "$" in raw or word.is_open:
            raise self.refuse("a program named by a variable", begin)
        if not word.text.isascii() or not word.text or word.text.startswith("~"):
            raise self.refuse("a program with an unusual name", begin)

    def read_assigned_name(self) -> str | None:
        """Consume `NAME=` and return NAME; without one, consume nothing and return None."""
        at = self.scan(_ASSIGNED)
        following = self.text[at : at + 1]
        if at == self.at or following not in ("=", "[", "+"):
            return None
        if following == "=":
            name = self.text[self.at : at]
            self.at = at + 1
            return name
        if following == "[" or self.text.startswith("+=", at):
            raise self.refuse("an assignment of an unusual kind")
        return None

    def read_assigned_value(self) -> Word:
        if self.peek() == "(":
            return self.array()
        if self.ends_word():
            return Word("")
        return self.word(in_assignment=True)
