r"""The strict reader of shell text: a small grammar that refuses whatever it does not know.

What it returns is what bash runs, argument for argument; it is the only road from a command to ALLOW. It grows only
with a construct that survives the differential fuzz against bash itself (`tests/peers/test_bash.py`). One pass over
the text, no backtracking, no regular expression.

::

    script    = [separators] pipeline { ("&&" | "||" | ";" | newline) pipeline }
    pipeline  = command { "|" command }
    command   = { NAME=word } word { word | redirection }
    word      = plain characters, \x, '…', "…" without expansions

Source: shared facts on shell readers; bash(1), "QUOTING", "REDIRECTION", "EXPANSION".
"""

import string

import attrs

from permitry.errors import PermitryError

__all__ = ["Command", "Redirection", "UnreadableError", "Word", "read_strictly"]

LONGEST = 64 * 1024

_RESERVED = frozenset(
    [
        "!",
        "[[",
        "]]",
        "{",
        "}",
        "case",
        "coproc",
        "do",
        "done",
        "elif",
        "else",
        "esac",
        "fi",
        "for",
        "function",
        "if",
        "in",
        "select",
        "then",
        "time",
        "until",
        "while",
    ]
)
_NAME_START = frozenset(string.ascii_letters + "_")
_NAME = _NAME_START | frozenset(string.digits)
_BLANK = frozenset(" \t")
_ENDS_WORD = frozenset(" \t\n;&|<>()")
_GLOB = frozenset("*?[")
_LITERAL_AFTER_DOLLAR = frozenset('" |)')
_ESCAPED_IN_DOUBLE = frozenset('$`"\\')


class UnreadableError(PermitryError):
    """Shell text the strict reader does not know; `offset` (0-based, in characters) is where it stopped."""

    def __init__(self, reason: str, offset: int) -> None:
        self.reason = reason
        self.offset = offset
        super().__init__(reason, offset)

    def __str__(self) -> str:
        return f"{self.reason} at character {self.offset + 1}"


@attrs.frozen
class Word:
    """One argument as bash passes it, but for two expansions that depend on the machine.

    `is_glob`: an unquoted `*`, `?` or `[` stands in it, so it may become other words. `is_home`: its leading tilde is
    unquoted, and becomes the home folder.
    """

    text: str
    is_glob: bool = False
    is_home: bool = False

    @property
    def may_be_option(self) -> bool:
        """Whether what the program receives can begin with a hyphen: a file name may be anything."""
        return self.text.startswith("-") or (self.is_glob and self.text[:1] in _GLOB)


@attrs.frozen
class Redirection:
    """One redirection: `operator` is `<`, `>` or `>>`; `target` a file, or None for another descriptor or `<<`."""

    operator: str
    target: str | None


@attrs.frozen
class Command:
    """One simple command: assignments before it, the words, the redirections."""

    words: tuple[Word, ...]
    assignments: tuple[tuple[str, str], ...] = ()
    redirections: tuple[Redirection, ...] = ()
    start: int = 0
    end: int = 0

    @property
    def argv(self) -> tuple[str, ...]:
        """The arguments, program first."""
        return tuple(word.text for word in self.words)


def read_strictly(text: str) -> tuple[Command, ...]:
    """Return the commands bash would run for `text`, in order.

    Raises: `UnreadableError` for anything outside the grammar.
    """
    if len(text) > LONGEST:
        raise UnreadableError(f"longer than {LONGEST} characters", LONGEST)
    for offset, char in enumerate(text):
        if char not in "\t\n" and not char.isprintable():
            raise UnreadableError(f"an invisible character (U+{ord(char):04X})", offset)
    return _Reader(text).script()


@attrs.define
class _HereDocument:
    delimiter: str
    is_quoted: bool
    offset: int


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.documents: list[_HereDocument] = []

    def refuse(self, reason: str, offset: int | None = None) -> UnreadableError:
        return UnreadableError(reason, self.at if offset is None else offset)

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.text[at] if at < len(self.text) else ""

    # Lists and pipelines ---------------------------------------------------------------------------------------------

    def script(self) -> tuple[Command, ...]:
        commands: list[Command] = []
        self.separators()
        while self.at < len(self.text):
            commands.append(self.command())
            if self.connector():
                self.separators()
                if self.at >= len(self.text):
                    raise self.refuse("a command is missing")
        if self.documents:
            raise self.refuse("a here-document without its end")
        if not commands:
            raise self.refuse("no command")
        return tuple(commands)

    def separators(self) -> None:
        """Step over blanks, newlines and comments before a command."""
        while self.at < len(self.text):
            if self.peek() == "\n":
                self.newline()
            elif self.peek() in _BLANK:
                self.at += 1
            elif self.peek() == "#":
                self.comment()
            else:
                return

    def comment(self) -> None:
        while self.peek() not in ("", "\n"):
            self.at += 1

    def connector(self) -> bool:
        """Step over what stands between two commands; return whether another command must follow."""
        if self.text.startswith(("&&", "||"), self.at):
            self.at += 2
            return True
        match self.peek():
            case "|" if self.peek(1) != "&":
                self.at += 1
                return True
            case ";" if self.peek(1) not in (";", "&"):
                self.at += 1
                self.separators()
                return False
            case "\n":
                self.separators()
                return False
            case "":
                return False
        raise self.refuse(f"`{self.peek()}`, which is not read here")

    def newline(self) -> None:
        """Step over a newline, and over the here-documents that begin after it."""
        self.at += 1
        documents, self.documents = self.documents, []
        for document in documents:
            self.body(document)

    def body(self, document: _HereDocument) -> None:
        while True:
            if self.at >= len(self.text):
                raise self.refuse("a here-document without its end", document.offset)
            end = self.text.find("\n", self.at)
            line = self.text[self.at :] if end < 0 else self.text[self.at : end]
            self.at = len(self.text) if end < 0 else end + 1
            if line == document.delimiter:
                return
            if not document.is_quoted and set(line) & set("$`\\"):
                raise self.refuse("an expansion in a here-document", document.offset)

    # Commands --------------------------------------------------------------------------------------------------------

    def command(self) -> Command:
        start = self.at
        words: list[Word] = []
        assignments: list[tuple[str, str]] = []
        redirections: list[Redirection] = []
        while not self.at_end_of_command():
            if self.at_redirection():
                redirections.append(self.redirection())
                continue
            begin = self.at
            name = self.assigned_name() if not words else None
            if name is not None:
                assignments.append((name, self.assigned_value()))
                continue
            words.append(self.word())
            if len(words) == 1:
                self.check_program(words[0], begin)
        if not words:
            lacking = "an assignment or redirection without a command" if self.at > start else "a command is missing"
            raise self.refuse(lacking, start)
        return Command(tuple(words), tuple(assignments), tuple(redirections), start, self.at)

    def at_end_of_command(self) -> bool:
        """Step over blanks and a comment; return whether the command ends here."""
        while self.peek() in _BLANK and self.peek():
            self.at += 1
        if self.peek() == "#":
            self.comment()
        if self.text.startswith("&>", self.at):
            raise self.refuse("`&>`, which is not read here")
        if self.peek() and self.peek() in "()":
            raise self.refuse(f"`{self.peek()}`, which is not read here")
        return self.peek() == "" or self.peek() in "\n;|&"

    def check_program(self, word: Word, begin: int) -> None:
        raw = self.text[begin : self.at]
        if raw in _RESERVED:
            raise self.refuse(f"the reserved word `{raw}`", begin)
        if word.is_glob and word.text != "[":
            raise self.refuse("a program named by a pattern", begin)
        if not word.text.isascii() or not word.text or word.text.startswith("~"):
            raise self.refuse("a program with an unusual name", begin)

    def assigned_name(self) -> str | None:
        """Return NAME and step over `NAME=`, or return None and stay."""
        at = self.at
        if self.peek() not in _NAME_START or not self.peek():
            return None
        while at < len(self.text) and self.text[at] in _NAME:
            at += 1
        following = self.text[at : at + 1]
        if following == "[" or self.text.startswith("+=", at):
            if "=" in self.text[at : self.end_of_word(at)]:
                raise self.refuse("an assignment of an unusual kind")
            return None
        if following != "=":
            return None
        name = self.text[self.at : at]
        self.at = at + 1
        return name

    def end_of_word(self, at: int) -> int:
        while at < len(self.text) and self.text[at] not in _ENDS_WORD:
            at += 1
        return at

    def assigned_value(self) -> str:
        if self.peek() == "" or self.peek() in _ENDS_WORD:
            if self.peek() == "(":
                raise self.refuse("an array")
            return ""
        begin = self.at
        word = self.word(in_assignment=True)
        if "~" in self.text[begin : self.at]:
            raise self.refuse("a tilde in an assignment", begin)
        return word.text

    # Redirections ----------------------------------------------------------------------------------------------------

    def at_redirection(self) -> bool:
        at = self.at
        while at < len(self.text) and self.text[at] in string.digits:
            at += 1
        return at < len(self.text) and self.text[at] in "<>"

    def redirection(self) -> Redirection:
        begin = self.at
        while self.peek() in string.digits and self.peek():
            self.at += 1
        descriptor = self.text[begin : self.at]
        if len(descriptor) > 1:
            raise self.refuse("a redirection of an unusual descriptor", begin)
        for operator in ("<<<", "<<-", "<>", "<&", "<(", ">(", ">|", "<<", ">&", ">>", "<", ">"):
            if self.text.startswith(operator, self.at):
                self.at += len(operator)
                return self.redirected(operator, begin)
        raise self.refuse("a redirection", begin)  # pragma: no cover -- at_redirection has seen one

    def redirected(self, operator: str, begin: int) -> Redirection:
        if operator == ">&":
            return self.duplicated(begin)
        if operator == "<<":
            return self.here_document(begin)
        if operator not in ("<", ">", ">>", ">|"):
            raise self.refuse(f"`{operator}`, which is not read here", begin)
        target = self.target(begin)
        return Redirection(">" if operator == ">|" else operator, target.text)

    def target(self, begin: int) -> Word:
        while self.peek() in _BLANK and self.peek():
            self.at += 1
        if self.peek() == "" or self.peek() in _ENDS_WORD or self.peek() == "#":
            raise self.refuse("a redirection without a target", begin)
        word = self.word()
        if word.is_glob:
            raise self.refuse("a redirection to a pattern", begin)
        return word

    def duplicated(self, begin: int) -> Redirection:
        digit = self.peek()
        if digit in ("1", "2") and (self.peek(1) == "" or self.peek(1) in _ENDS_WORD):
            self.at += 1
            return Redirection(">", None)
        raise self.refuse("`>&` to something else than 1 or 2", begin)

    def here_document(self, begin: int) -> Redirection:
        word_begin = self.at
        while self.text[word_begin : word_begin + 1] in (" ", "\t"):
            word_begin += 1
        word = self.target(begin)
        raw = self.text[word_begin : self.at]
        if not word.text or "\n" in word.text:
            raise self.refuse("a here-document with an unusual end", begin)
        self.documents.append(_HereDocument(word.text, is_quoted=raw != word.text, offset=begin))
        return Redirection("<", None)

    # Words -----------------------------------------------------------------------------------------------------------

    def word(self, *, in_assignment: bool = False) -> Word:
        begin = self.at
        parts: list[str] = []
        is_glob = False
        while (char := self.peek()) and char not in _ENDS_WORD:
            match char:
                case "'":
                    parts.append(self.single_quoted())
                case '"':
                    parts.append(self.double_quoted())
                case "\\":
                    parts.append(self.escaped())
                case "$" | "`":
                    raise self.refuse("an expansion")
                case "{" | "}":
                    parts.append(self.brace())
                case "~" if not in_assignment:
                    parts.append(self.tilde(begin))
                case _:
                    is_glob = is_glob or char in _GLOB
                    parts.append(char)
                    self.at += 1
        if self.peek() == "(":
            raise self.refuse("`(`, which is not read here")
        return Word("".join(parts), is_glob, is_home=self.text.startswith("~", begin))

    def single_quoted(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise self.refuse("a quote without its end")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def double_quoted(self) -> str:
        begin = self.at
        self.at += 1
        parts: list[str] = []
        while (char := self.peek()) != '"':
            if char == "":
                raise self.refuse("a quote without its end", begin)
            if char == "`" or (char == "$" and self.peek(1) not in _LITERAL_AFTER_DOLLAR):
                raise self.refuse("an expansion")
            if char == "\\":
                following = self.peek(1)
                if following in ("\n", ""):
                    raise self.refuse("a line that goes on behind a backslash")
                if following in _ESCAPED_IN_DOUBLE:
                    self.at += 1
                    char = following
            parts.append(char)
            self.at += 1
        self.at += 1
        return "".join(parts)

    def escaped(self) -> str:
        following = self.peek(1)
        if following in ("\n", ""):
            raise self.refuse("a line that goes on behind a backslash")
        self.at += 2
        return following

    def brace(self) -> str:
        """Read `{…}` that bash leaves alone: nothing but letters, digits, `_` and `-` inside."""
        if self.peek() == "}":
            raise self.refuse("a brace")
        end = self.at + 1
        while end < len(self.text) and (self.text[end] in _NAME or self.text[end] == "-"):
            end += 1
        if self.text[end : end + 1] != "}":
            raise self.refuse("a brace")
        text = self.text[self.at : end + 1]
        self.at = end + 1
        return text

    def tilde(self, begin: int) -> str:
        if self.at == begin and not (self.peek(1) in ("", "/") or self.peek(1) in _ENDS_WORD):
            raise self.refuse("the home folder of somebody else")
        if self.at > begin and self.text[self.at - 1] in "=:":
            raise self.refuse("a tilde that may be a home folder")
        self.at += 1
        return "~"
