r"""The strict reader of shell text: a small grammar that refuses everything it does not know.

What it returns is exactly what bash runs, argument by argument; a command is allowed only if this reader accepts it. A
construct is added only if it passes the differential fuzzing against bash itself (`tests/peers/test_bash.py`). The text
is read once, the body of a loop once for each word, without backtracking.

::

    list      = pipeline { ("&&" | "||" | ";" | newline) pipeline }
    pipeline  = { "!" | "time" ["-p"] } command { ("|" | "|&") command }
    command   = simple | ( "(" list ")" | "{" list "}" | loop ) { redirection }
    loop      = "for" NAME "in" word { word } (";" | newline) "do" list "done"
    simple    = { NAME=word | redirection } word { word | redirection }

Before a pipeline, `!` and `time` may each be there once.

Source: shared facts on shell readers; bash(1), "SHELL GRAMMAR", "REDIRECTION".
"""

import re
from collections.abc import Callable, Sequence

import attrs

from permitry.actions.shell.redirections import Redirection, RedirectionReader
from permitry.actions.shell.words import UnreadableError
from permitry.core.action import Word

__all__ = ["Command", "Redirection", "UnreadableError", "read_strictly"]

LONGEST = 64 * 1024
DEEPEST = 10
"""How many constructs there may be around a command."""
MOST_WORDS = 20
"""How many words a loop may go over."""
MOST_COMMANDS = 200
"""How many commands may be read when there is a loop."""
MOST_IN_ALL = 1_000
"""How many commands may be read at all."""

_RESERVED = frozenset([
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while", "{", "}",
])  # fmt: skip
_CHANGES_READING = frozenset(["alias", "emulate", "set", "setopt", "shopt", "unsetopt"])
_KNOWN_OF_SET = re.compile(r"[-+][efuvx]*o?|errexit|noglob|nounset|pipefail|xtrace")
# With these, the variable of a loop may get another value, or become several words.
_CHANGES_VARIABLES = frozenset([
    ".", "builtin", "command", "compgen", "declare", "enable", "eval", "export", "fc", "getopts", "let", "local",
    "mapfile", "read", "readarray", "readonly", "source", "trap", "typeset", "unset", "wait",
])  # fmt: skip
_CHANGES_BY_OPTION = frozenset(["[", "printf", "test"])
_BLANK = (" ", "\t")
_ENDS_COMMAND = frozenset(["", "\n", ";", "|", "&", ")"])
_SEPARATING = str.maketrans("\t\n", "  ")

# Each pattern matches in only one way, so that backtracking takes linear time.
_COMMENT = re.compile(r"[^\n]*")
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# No variable that bash or a program uses has such a name, so the loop has no effect but on its own words.
_LOOP_NAME = re.compile(r"(?!histchars)[a-z][a-z0-9]*")


@attrs.frozen
class Command:
    """One simple command: its assignments, its words, and its redirections, with those of the groups around it.

    `follows` is the connector before it: empty for the first, `&&`, `||`, `;` (a newline as well) or `|`; the first
    command of a group follows what the group follows. `within` are the constructs around it, outermost first: `(…)`,
    `{…}`, `for`, and `!` or `time` before its pipeline.
    """

    words: tuple[Word, ...]
    assignments: tuple[tuple[str, str], ...] = ()
    redirections: tuple[Redirection, ...] = ()
    start: int = 0
    end: int = 0
    follows: str = ""
    within: tuple[str, ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        """The arguments, program first."""
        return tuple(word.text for word in self.words)


def read_strictly(text: str) -> tuple[Command, ...]:
    """Return the commands that bash would run for `text`, in order; those in a loop once for each of its words.

    Raises: `UnreadableError` for anything outside the grammar.
    """
    if len(text) > LONGEST:
        raise UnreadableError(f"longer than {LONGEST} characters", LONGEST)
    if not text.translate(_SEPARATING).isprintable():
        offset, char = next((at, each) for at, each in enumerate(text) if not (each in "\t\n" or each.isprintable()))
        raise UnreadableError(f"an invisible character (U+{ord(char):04X})", offset)
    return _Reader(text).script()


def _changes_reading(argv: Sequence[str]) -> bool:
    """Return whether a command may change how bash parses the text after it."""
    if argv[0] in ("builtin", "command"):
        return not _CHANGES_READING.isdisjoint(argv)
    if argv[0] == "set":
        return not all(_KNOWN_OF_SET.fullmatch(text) for text in argv[1:])
    return argv[0] in _CHANGES_READING


class _Reader(RedirectionReader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.found: list[Command] = []
        self.follows = ""
        self.within: tuple[str, ...] = ()
        self.names = {"IFS"}
        self.repeated = 0

    # Lists and pipelines ---------------------------------------------------------------------------------------------

    def script(self) -> tuple[Command, ...]:
        self.list_of_commands("")
        if self.documents:
            raise self.refuse("a here-document without its end")
        for command in self.found[:-1]:
            if _changes_reading(command.argv):
                raise self.refuse(f"`{command.argv[0]}`, behind which text may mean something else", command.start)
        if self.repeated:
            self.check_variables()
        return tuple(self.found)

    def list_of_commands(self, closer: str) -> None:
        """Consume commands up to and including `closer`; if it is empty, up to the end of the text."""
        begin, before = self.at, len(self.found)
        self.separators()
        while not self.closes(closer, begin):
            self.joined_pipelines()
        if len(self.found) == before:
            raise self.refuse("no command")
        self.at += len(closer)

    def closes(self, closer: str, begin: int) -> bool:
        """Return whether `closer` is here: `)`, a reserved word, or if empty, the end of the text."""
        if self.at >= len(self.text):
            if closer:
                raise self.refuse(f"no `{closer}` for what begins", begin)
            return True
        if closer == ")":
            return self.peek() == ")"
        return bool(closer) and self.at_reserved(closer)

    def at_reserved(self, word: str) -> bool:
        return self.text.startswith(word, self.at) and self.ends_word(len(word))

    def joined_pipelines(self) -> None:
        """Consume pipelines joined by `&&` and `||`, and the separator after them."""
        self.pipeline()
        while (connector := self.connector()) != ";":
            self.follows = connector
            self.separators()
            self.pipeline()
        self.follows = ";"

    def separators(self) -> None:
        """Consume blanks, newlines and comments before a command."""
        self.blanks()
        while (char := self.peek()) in ("\n", "#"):
            if char == "\n":
                self.newline()
            else:
                self.at = self.scan(_COMMENT)
            self.blanks()

    def connector(self) -> str:
        """Consume the operator after a pipeline and return it: `&&`, `||`, or `;` for anything that may end a list."""
        if self.text.startswith(("&&", "||"), self.at):
            self.at += 2
            return self.text[self.at - 2 : self.at]
        match self.peek():
            case ";" | "\n":
                self.at += self.peek() == ";"
                self.separators()
            case ")" | "":
                pass
            case char:
                raise self.refuse(f"`{char}`, which is not read here")
        return ";"

    def pipeline(self) -> None:
        around = self.within
        self.before_pipeline()
        before = len(self.found)
        self.command()
        while self.peek() == "|" != self.peek(1):
            self.at += 1
            if self.peek() == "&":
                self.at += 1
                self.redirect(before, [Redirection(">", None)])
            self.separators()
            self.follows = "|"
            before = len(self.found)
            self.command()
        self.within = around

    def before_pipeline(self) -> None:
        """Consume `!` and `time`, each at most once."""
        left = {"time", "!"} if self.peek() in ("t", "!") else set()
        while word := next((each for each in left if self.at_reserved(each) and self.peek(len(each)) in _BLANK), ""):
            left.remove(word)
            self.at += len(word)
            self.blanks()
            self.within = (*self.within, word)
            if word == "time":
                self.options_of_time()

    def options_of_time(self) -> None:
        if self.text.startswith(("-p ", "-p\t"), self.at):
            self.at += 2
            self.blanks()
        if self.peek() in ("", "-", "\n", ";", "|", "&", "#", ")"):
            raise self.refuse("`time` without a command")

    # Commands --------------------------------------------------------------------------------------------------------

    def command(self) -> None:
        if self.peek() == "(" != self.peek(1):
            self.compound("(…)", 1, lambda: self.list_of_commands(")"))
        elif self.at_keyword("{"):
            self.compound("{…}", 1, lambda: self.list_of_commands("}"))
        elif self.at_keyword("for"):
            self.compound("for", 3, self.loop)
        else:
            self.simple()

    def at_keyword(self, word: str) -> bool:
        """Return whether the reserved word `word` is here and opens a construct."""
        return self.at_reserved(word) and self.peek(len(word)) in (" ", "\t", "\n")

    def compound(self, name: str, length: int, read: Callable[[], None]) -> None:
        """Consume a construct by `read`, and the redirections after it, which apply to all its commands."""
        around, before = self.within, len(self.found)
        if len(around) >= DEEPEST:
            raise self.refuse(f"more than {DEEPEST} constructs around a command")
        self.within = (*around, name)
        self.at += length
        read()
        self.within = around
        redirections: list[Redirection] = []
        while not self.at_end_of_command():
            if not self.at_redirection():
                raise self.refuse(f"a word behind `{name}`")
            redirections.append(self.redirection())
        self.redirect(before, redirections)

    def redirect(self, before: int, redirections: Sequence[Redirection]) -> None:
        """Add redirections to all commands found since `before`."""
        for index in range(before, len(self.found) if redirections else before):
            command = self.found[index]
            self.found[index] = attrs.evolve(command, redirections=(*command.redirections, *redirections))

    def simple(self) -> None:
        start = self.at
        words: list[Word] = []
        assignments: list[tuple[str, str]] = []
        redirections: list[Redirection] = []
        is_last = False
        while not self.at_end_of_command():
            begin = self.at
            if self.at_redirection():
                is_last = is_last or self.peek() == "&"
                redirections.append(self.redirection())
            elif not words and (name := self.assigned_name()) is not None:
                assignments.append((name, self.assigned_value()))
            elif is_last:
                # A plain `sh` reads `a &>f b` as two commands.
                raise self.refuse("a word behind `&>`")
            else:
                words.append(self.word())
                if len(words) == 1:
                    self.check_program(words[0], begin)
        if not words:
            lacking = "an assignment or redirection without a command" if self.at > start else "a command is missing"
            raise self.refuse(lacking, start)
        place = (start, self.at, self.follows, self.within)
        if len(self.found) == MOST_IN_ALL:
            raise self.refuse(f"more than {MOST_IN_ALL} commands", start)
        self.found.append(Command(tuple(words), tuple(assignments), tuple(redirections), *place))

    def at_end_of_command(self) -> bool:
        """Consume blanks and a comment; return whether the command ends here."""
        self.blanks()
        char = self.peek()
        if char == "#":
            self.at = self.scan(_COMMENT)
            char = self.peek()
        if char == "(":
            raise self.refuse("`(`, which is not read here")
        return char in _ENDS_COMMAND and not self.text.startswith("&>", self.at)

    def check_program(self, word: Word, begin: int) -> None:
        raw = self.text[begin : self.at]
        if raw in _RESERVED:
            raise self.refuse(f"the reserved word `{raw}`", begin)
        if word.is_glob and word.text != "[":
            raise self.refuse("a program named by a pattern", begin)
        if "$" in raw:
            raise self.refuse("a program named by a variable", begin)
        if not word.text.isascii() or not word.text or word.text.startswith("~"):
            raise self.refuse("a program with an unusual name", begin)

    def assigned_name(self) -> str | None:
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

    def assigned_value(self) -> str:
        if self.peek() == "(":
            raise self.refuse("an array")
        return "" if self.ends_word() else self.word(in_assignment=True).text

    # Loops -----------------------------------------------------------------------------------------------------------

    def loop(self) -> None:
        """Consume ` NAME in words; do list done`, the list once for each word."""
        begin = self.at
        name = self.loop_name()
        values = self.loop_words()
        self.connector()
        if not self.at_keyword("do") or self.documents:
            raise self.refuse("a loop without its `do`", begin)
        self.at += 2
        body = self.at
        for value in values:
            self.at = body
            self.values[name] = value
            self.list_of_commands("done")
            self.check_size(body)
        del self.values[name]

    def loop_name(self) -> str:
        self.blanks()
        end = self.scan(_LOOP_NAME)
        name = self.text[self.at : end]
        if not name or self.text[end : end + 1] not in (" ", "\t") or name in self.values:
            raise self.refuse("a loop with an unusual variable")
        self.at = end
        self.names.add(name)
        self.blanks()
        if not (self.at_reserved("in") and self.peek(2) in (" ", "\t")):
            raise self.refuse("a loop without words")
        self.at += 2
        return name

    def loop_words(self) -> list[str]:
        values: list[str] = []
        while not self.at_end_of_command():
            begin = self.at
            word = self.word()
            if self.at == begin or word.is_glob or word.is_home:
                raise self.refuse("a loop over words that are not plain", begin)
            values.append(word.text)
        if not values or len(values) > MOST_WORDS:
            raise self.refuse(f"a loop over no word or more than {MOST_WORDS}")
        return values

    def check_size(self, body: int) -> None:
        """Refuse a loop that runs too many commands, and one that leaves a here-document open."""
        self.repeated += self.at - body
        if self.repeated > LONGEST or len(self.found) > MOST_COMMANDS:
            raise self.refuse("a loop that runs too many commands", body)
        if self.documents:
            raise self.refuse("a here-document that begins in a loop and goes on behind it", body)

    def check_variables(self) -> None:
        """Refuse a loop with a command that may give its variable another value, or split it into words."""
        for command in self.found:
            program = command.argv[0]
            by_option = program in _CHANGES_BY_OPTION and any(text.startswith("-v") for text in command.argv)
            is_assigned = any(name in self.names for name, _ in command.assignments)
            if by_option or is_assigned or program in _CHANGES_VARIABLES:
                raise self.refuse("a loop whose variable may change", command.start)
