"""Programs of `awk`, read to see whether they only print.

An allow-list over a single pass of words: no pipes, no redirections, no functions but the harmless ones. The one hard
question is whether a `/` divides or begins a regular expression; where implementations disagree, the text is refused.

Source: POSIX awk, "Grammar" and "Lexical Conventions"; the scanners of gawk and mawk.
"""

import itertools
import string

import attrs

from permitry.actions.programs.arguments import Parts, is_spread
from permitry.actions.programs.catalogue import RefusedError
from permitry.actions.programs.sed import closes_brackets

__all__ = ["check_awk"]

_DIGITS = frozenset(string.digits)
_LETTERS = frozenset(string.ascii_letters + "_")
_NAME = _LETTERS | _DIGITS
_FUNCTIONS = frozenset(
    {
        "length",
        "substr",
        "index",
        "split",
        "sub",
        "gsub",
        "match",
        "sprintf",
        "sin",
        "cos",
        "atan2",
        "exp",
        "log",
        "sqrt",
    }
    | {"int", "rand", "srand", "tolower", "toupper", "gensub", "asort", "asorti", "strftime", "systime", "mktime"}
    | {"strtonum", "and", "or", "xor", "compl", "lshift", "rshift", "patsplit", "typeof", "isarray"}
)
_OPENING = frozenset({"if", "while", "for", "switch"})
_KEYWORDS = (
    _OPENING
    | {"BEGIN", "END", "BEGINFILE", "ENDFILE", "else", "do", "in", "print", "printf", "return", "next", "nextfile"}
    | {"exit", "delete", "break", "continue", "case", "default", "function", "func"}
)
_REFUSED = frozenset(
    {"system", "getline", "close", "fflush", "ARGV", "ARGC", "SYMTAB", "FUNCTAB", "PROCINFO"}
    | {"extension", "include", "load", "namespace"}
)
_PUNCTUATION = frozenset("!$%&()*+,-:;<=>?[]^{}~|/")
_VALUE = "value"
_KEYWORD = "keyword"


@attrs.define
class _Awk:
    text: str
    at: int = 0
    before: str = "\n"
    name: str = ""
    parens: list[bool] = attrs.field(factory=list)
    braces: int = 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def program(self) -> None:
        own = _own_functions(self.text)
        while char := self.peek():
            if char in " \t":
                self.at += 1
            elif char == "\n":
                self.at += 1
                self.before = "\n"
            elif char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif char == '"':
                self.string()
            elif char in _LETTERS:
                self.word(own)
            elif char in _DIGITS or char == ".":
                self.number()
            elif char in _PUNCTUATION:
                self.punctuation(char)
            else:
                raise RefusedError(f"`{char}` in a program of `awk`")
        if self.parens or self.braces:
            raise RefusedError("a program of `awk` without its end")

    def string(self) -> None:
        self.at += 1
        while (char := self.peek()) != '"':
            self.step(char)
        self.at += 1
        self.before = _VALUE

    def step(self, char: str) -> None:
        """Step over one character of a string or an expression, with the backslash before it."""
        self.at += char == "\\"
        if self.peek() in ("", "\n"):
            raise RefusedError("a text of `awk` without its end")
        self.at += 1

    def number(self) -> None:
        """Step over a number; one with a letter in or behind it is read in different ways."""
        while (char := self.peek()) and (char in _DIGITS or char == "."):
            self.at += 1
        if char and char in _LETTERS:
            raise RefusedError("a number of `awk` with letters")
        self.before = _VALUE

    def word(self, own: frozenset[str]) -> None:
        begin = self.at
        while (char := self.peek()) and char in _NAME:
            self.at += 1
        name = self.text[begin : self.at]
        if name in _REFUSED:
            raise RefusedError(f"`{name}` in a program of `awk`")
        is_word = name in _KEYWORDS or name == "length"
        if char == "(" and not is_word and name not in _FUNCTIONS and name not in own:
            raise RefusedError(f"the function `{name}` of `awk`")
        self.before = _KEYWORD if is_word else _VALUE
        self.name = name

    def punctuation(self, char: str) -> None:
        if char == "/":
            self.slash()
            return
        double = self.text[self.at : self.at + 2]
        if double in ("||", "&&", ">=", "<=", "++", "--"):
            self.at += 2
            self.before = double
            return
        if char in "|&":
            raise RefusedError(f"`{char}` in a program of `awk`")
        if char == ">":
            self.greater(double)
        self.at += 1
        self.before = self.nested(char)

    def greater(self, double: str) -> None:
        """Refuse a `>` that is, or may be, a redirection: only parentheses and patterns make it a comparison."""
        if double == ">>" or (self.braces and not self.parens):
            raise RefusedError("a redirection in a program of `awk`")

    def nested(self, char: str) -> str:
        """Keep account of what is open, and return what `char` is to a slash behind it."""
        if char == "(":
            self.parens.append(self.before == _KEYWORD and self.name in _OPENING)
        elif char == ")":
            if not self.parens:
                raise RefusedError("`)` in a program of `awk`")
            return _KEYWORD if self.parens.pop() else _VALUE
        elif char in "{}":
            self.braces += 1 if char == "{" else -1
            if self.braces < 0 or self.parens:
                raise RefusedError(f"`{char}` in a program of `awk`")
        return _VALUE if char == "]" else char

    def slash(self) -> None:
        """Step over a division, or over the regular expression that begins here."""
        if self.before in (_KEYWORD, "++", "--", "$"):
            raise RefusedError("`/` in a program of `awk`")
        self.at += 1
        if self.before == _VALUE:
            self.before = "/"
            return
        begin = self.at
        if self.peek() == "=":
            raise RefusedError("`/=` in a program of `awk`")
        while (char := self.peek()) != "/":
            self.step(char)
        if not closes_brackets(self.text[begin : self.at]):
            raise RefusedError("a bracket of `awk` without its end")
        self.at += 1
        self.before = _VALUE


def _own_functions(text: str) -> frozenset[str]:
    pairs = itertools.pairwise(text.replace("(", " ").split())
    return frozenset(name for keyword, name in pairs if keyword in ("function", "func"))


def check_awk(parts: Parts) -> None:
    """Refuse the arguments of `awk` unless the program among them only prints."""
    if parts.is_spread:
        raise RefusedError("`awk` with a pattern for a value")
    if not parts.operands:
        return
    program, files = parts.operands[0], parts.operands[1:]
    if is_spread(program):
        raise RefusedError("a program of `awk` from a pattern")
    if any(word.is_open or word.text.startswith("/inet") for word in files):
        raise RefusedError("`awk` reads from the network")
    _Awk(program.text).program()
