"""Lists, pipelines and the constructs around commands, as the strict reader reads them.

Source: bash(1), "SHELL GRAMMAR".
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from permitry.actions.builtins import MOVES
from permitry.actions.command import Command, Redirection
from permitry.actions.reading.redirections import RedirectionReader
from permitry.actions.reading.words import UnreadableError
from permitry.actions.variables import dies_with_shell
from permitry.core.action import Word

__all__ = ["COMMENT", "LONGEST", "RESERVED", "Assigned", "CompoundReader"]

LONGEST = 64 * 1024
DEEPEST = 10
"""How many constructs there may be around a command."""
MOST_WORDS = 20
"""How many words a loop may go over one by one."""
MOST_COMMANDS = 200
"""How many commands may be read when there is a loop."""

RESERVED = frozenset([
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while", "{", "}",
])  # fmt: skip
"""The words of the shell itself."""

_APART = frozenset(["$(…)", "&", "(…)", "<(…)", ">(…)"])
_OPENS = frozenset("[{cfisuw")
_BLANK = (" ", "\t")

_OF_CONDITIONS = ("&&", "||", "(", ")", "< ", "> ")
_NAMES = ("-v", "-R")
_COMPARES = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")
_NUMBER = re.compile(r"-?[0-9]+|\$[#?$]|\$\{#\w+\}|\$\(\([0-9]*\)\)")

# Each pattern matches in only one way, so that backtracking takes linear time.
COMMENT = re.compile(r"[^\n]*")
_REGEX = re.compile(r"(?:[A-Za-z0-9_.^+*?/:,=%@\[\]{}()|-]|\\[A-Za-z0-9_.^+*?/|()\[\]{}$-]|\$(?=[ \t)|]))+(?=[ \t])")
_LOOP_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@attrs.frozen
class Assigned:
    """A place in the text that gives a variable a value.

    `is_plain`: it is a command of its own that certainly runs, and once, in the shell of the text itself; or a loop.
    `is_number`: what it gives is a number.
    """

    name: str
    is_plain: bool = False
    is_loop: bool = False
    is_number: bool = False


def _is_number(word: Word) -> bool:
    """Return whether a word is certainly a number: anything else may be a name whose value bash evaluates."""
    return _NUMBER.fullmatch(word.text) is not None


class CompoundReader(RedirectionReader):
    """Reads lists of commands into `found`; `known` are the names of variables whose values are followed."""

    def __init__(self, text: str, known: frozenset[str] = frozenset()) -> None:
        super().__init__(text)
        self.known = known
        self.found: list[Command] = []
        self.assigned: list[Assigned] = []
        self.follows = ""
        self.within: tuple[str, ...] = ()
        self.repeated = 0
        # The variables in arithmetic whose value is not followed.
        self.summed: set[str] = set()
        # Why the text is refused, unless it is read again with the values of its variables.
        self.late: UnreadableError | None = None
        # Where a command begins that reads what others print, and these.
        self.printers: dict[int, str] = {}

    def simple(self) -> None:
        """Consume a simple command."""
        raise NotImplementedError

    def is_number(self, name: str) -> bool:
        """Return whether the value of a variable is a number: so far, one that the text has given it."""
        is_given = any(each.name == name and each.is_number and each.is_plain for each in self.assigned)
        if is_given and not super().is_number(name):
            self.summed.add(name)
        return is_given or super().is_number(name)

    # Lists and pipelines ---------------------------------------------------------------------------------------------

    def list_of_commands(self, *closers: str) -> str:
        """Consume commands up to and including one of `closers`, or up to the end of the text; return the closer."""
        begin, before = self.at, len(self.found)
        self.separators()
        while (closer := self.closer(closers, begin)) is None:
            self.read_pipelines()
        if len(self.found) == before:
            raise self.refuse("no command")
        self.at += len(closer)
        return closer

    def closer(self, closers: Sequence[str], begin: int) -> str | None:
        """Return the closer that is here; empty at the end of the text if that may end the list."""
        if self.at >= len(self.text):
            if closers:
                raise self.refuse(f"no `{closers[-1]}` for what begins", begin)
            return ""
        return next((each for each in closers if self.at_closer(each)), None)

    def at_closer(self, closer: str) -> bool:
        """Return whether this closer is here: an operator, or a reserved word."""
        return self.text.startswith(closer, self.at) and (closer in (")", ";;") or self.ends_word(len(closer)))

    def at_reserved(self, word: str) -> bool:
        """Return whether a word of the shell is here."""
        return self.text.startswith(word, self.at) and self.ends_word(len(word))

    def read_pipelines(self) -> None:
        """Consume pipelines joined by `&&` and `||`, and the separator after them."""
        before, assigned = len(self.found), len(self.assigned)
        self.pipeline()
        while (connector := self.connector()) not in (";", "&"):
            self.follows = connector
            self.separators()
            self.pipeline()
        if connector == "&":
            self.put_within("&", before, assigned)
        self.follows = ";"

    def put_within(self, name: str, before: int, assigned: int) -> None:
        """Put what was found since into a construct that is known only at its end."""
        self.found[before:] = [attrs.evolve(each, within=(name, *each.within)) for each in self.found[before:]]
        self.put_apart(assigned)

    def put_apart(self, assigned: int) -> None:
        """Keep that what was assigned since need not be seen by the commands that follow."""
        self.assigned[assigned:] = [attrs.evolve(each, is_plain=each.is_loop) for each in self.assigned[assigned:]]

    def separators(self) -> None:
        """Consume blanks, newlines and comments before a command."""
        self.blanks()
        while (char := self.peek()) in ("\n", "#"):
            if char == "\n":
                self.newline()
            else:
                self.at = self.scan(COMMENT)
            self.blanks()

    def connector(self) -> str:
        """Consume the operator after a pipeline and return it: `&&`, `||`, `&`, or `;` for all else that ends one."""
        if self.text.startswith(("&&", "||"), self.at):
            self.at += 2
            return self.text[self.at - 2 : self.at]
        match self.peek():
            case ";" if self.peek(1) in (";", "&"):
                pass
            case "&":
                self.at += 1
                self.separators()
                return "&"
            case ";" | "\n":
                self.at += self.peek() == ";"
                self.separators()
            case ")" | "":
                pass
            case char:
                raise self.refuse(f"`{char}`, which is not read here")
        return ";"

    def pipeline(self) -> None:
        """Consume commands joined by `|` and `|&`."""
        around = self.within
        self.before_pipeline()
        begin, before, assigned = self.at, len(self.found), len(self.assigned)
        self.command()
        while self.peek() == "|" != self.peek(1):
            printer = self.text[begin : self.at]
            self.at += 1
            if self.peek() == "&":
                self.at += 1
                printer = ""
                self.redirect(before, [Redirection(">", None)])
            self.separators()
            self.printers[self.at] = printer
            self.follows = "|"
            before = len(self.found)
            self.command()
            self.found[before:] = [attrs.evolve(each, is_fed=True) for each in self.found[before:]]
            self.put_apart(assigned)
        self.within = around

    def before_pipeline(self) -> None:
        """Consume `!` and `time`, each at most once."""
        left = {"time", "!"}
        while word := next((each for each in left if self.at_reserved(each) and self.peek(len(each)) in _BLANK), ""):
            left.remove(word)
            self.at += len(word)
            self.blanks()
            self.within = (*self.within, word)
            if word == "time":
                self.options_of_time()

    def options_of_time(self) -> None:
        """Consume `-p`, and refuse `time` alone."""
        if self.text.startswith(("-p ", "-p\t"), self.at):
            self.at += 2
            self.blanks()
        if self.peek() in ("", "-", "\n", ";", "|", "&", "#", ")"):
            raise self.refuse("`time` without a command")

    # Constructs ------------------------------------------------------------------------------------------------------

    def command(self) -> None:
        """Consume a construct or a simple command."""
        if self.peek() == "(" != self.peek(1):
            self.compound("(…)", 1, lambda: self.list_of_commands(")"))
            return
        for word, (name, read) in self.constructs().items() if self.peek() in _OPENS else ():
            if self.at_keyword(word):
                self.compound(name, len(word), read)
                return
        self.simple()

    def constructs(self) -> Mapping[str, tuple[str, Callable[[], object]]]:
        """Return for each reserved word that opens a construct its name, and how it is read."""
        return {
            "[[": ("[[", self.condition),
            "{": ("{…}", lambda: self.list_of_commands("}")),
            "case": ("case", self.cases),
            "for": ("for", self.loop),
            "if": ("if", self.branches),
            "until": ("until", self.repeat),
            "while": ("while", self.repeat),
        }

    def at_keyword(self, word: str) -> bool:
        """Return whether the reserved word `word` is here and opens a construct."""
        return self.at_reserved(word) and self.peek(len(word)) in (" ", "\t", "\n")

    def compound(self, name: str, length: int, read: Callable[[], object]) -> None:
        """Consume a construct by `read`, and the redirections after it, which apply to all its commands."""
        before = len(self.found)
        self.inside(name, read, length)
        redirections: list[Redirection] = []
        while not self.at_end_of_command():
            if not self.at_redirection():
                raise self.refuse(f"a word behind `{name}`")
            redirections.append(self.redirection())
        self.redirect(before, redirections)

    def inside(self, name: str, read: Callable[[], object], length: int = 0) -> None:
        """Consume by `read` what is inside a construct, after the `length` of its opening."""
        around, assigned = self.within, len(self.assigned)
        if len(around) >= DEEPEST:
            raise self.refuse(f"more than {DEEPEST} constructs around a command")
        self.within = (*around, name)
        self.at += length
        read()
        self.within = around
        self.put_apart(assigned)

    def commands_inside(self, construct: str, closer: str) -> None:
        """Consume the commands of a substitution, and the `closer` after them."""
        follows, documents, self.documents = self.follows, self.documents, []
        begin = self.at
        if construct == ">(…)":
            self.follows = "|"
        self.inside(construct, lambda: self.list_of_commands(*([closer] if closer else [])))
        if self.documents or (documents and "\n" in self.text[begin : self.at]):
            raise self.refuse("a here-document that goes on behind a substitution", begin)
        self.follows, self.documents = follows, documents

    def redirect(self, before: int, redirections: Sequence[Redirection]) -> None:
        """Add redirections to all commands found since `before`."""
        for index in range(before, len(self.found) if redirections else before):
            command = self.found[index]
            self.found[index] = attrs.evolve(command, redirections=(*command.redirections, *redirections))

    def at_end_of_command(self) -> bool:
        """Consume blanks and a comment; return whether the command ends here."""
        self.blanks()
        if self.peek() == "#":
            self.at = self.scan(COMMENT)
        if self.peek() == "(":
            raise self.refuse("`(`, which is not read here")
        return self.peek() == "" or (self.peek() in "\n;|&)" and not self.text.startswith("&>", self.at))

    def branches(self) -> None:
        """Consume ` list then list { elif list then list } [else list] fi`."""
        closer = "elif"
        while closer == "elif":
            self.list_of_commands("then")
            closer = self.list_of_commands("elif", "else", "fi")
        if closer == "else":
            self.list_of_commands("fi")

    def repeat(self) -> None:
        """Consume ` list do list done`, which may run any number of times."""
        begin, before = self.at, len(self.found)
        self.list_of_commands("do")
        self.list_of_commands("done")
        self.check_repeated(begin, before)

    def check_repeated(self, begin: int, before: int) -> None:
        """Refuse a loop that may run any number of times, and changes the folder for its next time."""
        inside = len(self.within)
        if any(
            command.argv[0] in MOVES and _APART.isdisjoint(command.within[inside:]) for command in self.found[before:]
        ):
            raise self.refuse("a loop that changes the folder", begin)

    def cases(self) -> None:
        """Consume ` word in { [(] pattern { | pattern } ) [list] ;; } esac`."""
        begin = self.at
        self.operand(begin)
        self.separators()
        if not self.at_reserved("in"):
            raise self.refuse("a `case` without its `in`", begin)
        self.at += 2
        self.separators()
        while not self.at_reserved("esac"):
            self.patterns()
            self.separators()
            if self.text.startswith(";;", self.at):
                self.at += 2
            elif not self.at_reserved("esac") and self.list_of_commands(";;", "esac") == "esac":
                return
            self.separators()
        self.at += len("esac")

    def patterns(self) -> None:
        """Consume `[(] pattern { | pattern } )`."""
        begin = self.at
        self.at += self.peek() == "("
        while True:
            self.operand(begin)
            self.blanks()
            self.at += 1
            match self.text[self.at - 1 : self.at]:
                case ")":
                    return
                case "|":
                    pass
                case _:
                    raise self.refuse("a pattern of `case` without its end", begin)

    def condition(self) -> None:
        """Consume ` word { word } ]]`, with `&&`, `||`, `(`, `)`, `<` and `>` between the words."""
        begin = self.at
        self.blanks()
        words = [Word("[[")]
        while not self.at_reserved("]]"):
            if self.at_reserved("=~"):
                words += self.matching()
                continue
            operator = next((each for each in _OF_CONDITIONS if self.text.startswith(each, self.at)), "")
            if operator:
                self.at += len(operator)
            elif self.ends_word() or self.at_process() or self.peek() == "#":
                # Whether a comment begins here depends on the version and the options of the shell.
                raise self.refuse("a `[[` without its end", begin)
            else:
                words.append(self.word())
            self.blanks()
        self.at += len("]]")
        if len(words) == 1:
            raise self.refuse("a `[[` without a word", begin)
        for last, word, after in zip(words[:-1], words[1:], (*words[2:], Word("")), strict=True):
            if word.text in _NAMES or (word.text in _COMPARES and not (_is_number(last) and _is_number(after))):
                raise self.refuse("a `[[` that evaluates a name", begin)
        self.found.append(Command((*words, Word("]]")), (), (), begin, self.at, self.follows, self.within))

    def matching(self) -> Iterator[Word]:
        """Consume `=~` and a regular expression, of literal characters or a word, and yield both."""
        yield Word("=~")
        self.at += len("=~")
        self.blanks()
        begin = self.at
        if self.at_regex():
            self.at = self.scan(_REGEX)
            yield Word(self.text[begin : self.at])
        else:
            yield self.operand(begin)
        if self.peek() not in _BLANK:
            raise self.refuse("a regular expression of an unusual kind", begin)
        self.blanks()

    def at_regex(self) -> bool:
        """Return whether a regular expression of literal characters is here, with a `|` only in parentheses."""
        depth = 0
        text = re.sub(r"\\.", "", self.text[self.at : self.scan(_REGEX)])
        for char in text:
            depth += (char == "(") - (char == ")")
            if depth < 0 or (char == "|" and not depth):
                return False
        return bool(text) and not depth

    # Loops -----------------------------------------------------------------------------------------------------------

    def loop(self) -> None:
        """Consume ` NAME in words; do list done`, the list once for each word that is known."""
        begin, before = self.at, len(self.found)
        name = self.loop_name()
        self.assigned.append(Assigned(name, is_plain=True, is_loop=True))
        words = self.loop_words(name)
        if self.connector() == "&" or not self.at_keyword("do") or self.documents:
            raise self.refuse("a loop without its `do`", begin)
        self.at += 2
        body = self.at
        for word in words:
            self.at = body
            self.forget(name)
            if name in self.known and not (word.is_open or word.is_home):
                self.keep_value(name, word)
            elif name in self.known and word.is_open:
                self.sources[name] = word.text
            self.list_of_commands("done")
            self.check_size(body)
        self.forget(name)
        if any(word.is_open or word.is_glob for word in words):
            try:
                self.check_repeated(begin, before)
            except UnreadableError as error:
                if self.known:
                    raise
                self.late = error

    def loop_name(self) -> str:
        """Consume ` NAME in` and return the name."""
        self.blanks()
        name = self.text[self.at : self.scan(_LOOP_NAME)]
        self.at += len(name)
        if not name or not dies_with_shell(name, is_exported=False) or self.peek() not in _BLANK:
            raise self.refuse("a loop with an unusual variable")
        self.blanks()
        if not (self.at_reserved("in") and self.peek(2) in _BLANK):
            raise self.refuse("a loop without words")
        self.at += 2
        return name

    def loop_words(self, name: str) -> Sequence[Word]:
        """Return the words of a loop; one open word for them if their number is not known, or they are many."""
        words: list[Word] = []
        while not self.at_end_of_command():
            begin = self.at
            words += self.words()
            if self.at == begin:
                raise self.refuse("a loop over something else than words", begin)
        if not words:
            raise self.refuse("a loop over no word")
        if name in self.known and len(words) <= MOST_WORDS:
            return words
        return [Word("", is_open=True)]

    def check_size(self, body: int) -> None:
        """Refuse a loop that runs too many commands, and one that leaves a here-document open."""
        self.repeated += self.at - body
        if self.repeated > LONGEST or len(self.found) > MOST_COMMANDS:
            raise self.refuse("a loop that runs too many commands", body)
        if self.documents:
            raise self.refuse("a here-document that begins in a loop and goes on behind it", body)
