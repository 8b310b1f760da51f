"""Parses scripts of `sed`, to see what they do besides printing.

The grammar covers what all implementations read in the same way. A script with an unknown command, or with text that
two implementations read differently, is refused.

Source: sed(1); the scanners of GNU sed 4.9, busybox 1.35 and BSD.
"""

import re
import string
from collections.abc import Iterable

import attrs

from permitry.actions.programs.entries import RefusedError
from permitry.core.action import Access, Word

__all__ = ["Effects", "read_script"]

_DIGITS = frozenset(string.digits)
_LABEL = frozenset(string.ascii_letters + string.digits + "_.")
_PLAIN = frozenset("=dDgGhHnNpPxzF")
_NUMBERED = frozenset("qQl")
_LABELLED = frozenset("btT:v")
_TEXTUAL = frozenset("aic")
_FILES = {"r": Access.READ, "R": Access.READ, "w": Access.WRITE, "W": Access.WRITE}
_NO_DELIMITERS = frozenset("[]\\\n")
_FLAGS = frozenset("gpiImMe") | _DIGITS
_ESCAPED = re.compile(r"\\.", re.DOTALL)


@attrs.frozen
class Effects:
    """What a script does besides printing: the files it names, and the texts it passes to a shell.

    `runs_input`: it runs lines of its input, or text made from them. `is_common`: every implementation accepts it; an
    old one reports an error for a delimiter within brackets.
    """

    files: tuple[tuple[Access, Word], ...] = ()
    commands: tuple[str, ...] = ()
    runs_input: bool = False
    is_common: bool = True


def read_script(text: str) -> Effects:
    """Return what a script does.

    Raises: `RefusedError` for one that cannot be parsed.
    """
    sed = _Sed(text)
    sed.script()
    return Effects(tuple(sed.files), tuple(sed.commands), sed.runs_input, sed.is_common)


def _end_of_bracket(text: str, at: int, delimiter: str) -> int:
    """Return the index after the bracket expression whose `[` is just before `at`.

    Raises: `RefusedError` if implementations disagree on where it ends.
    """
    at += text.startswith("^", at)
    at += text.startswith("]", at)
    while text[at : at + 1] not in ("", "]"):
        if text.startswith("\\]", at):
            # For some it ends here, for others at the next bracket; so the text in between must not matter.
            at, between = at + 2, at + 2
            while text[at : at + 1] not in ("", "]", "[", "\\", delimiter):
                at += 1
            if text[at : at + 1] != "]":
                raise RefusedError(f"`{text[between - 2 : at]}` in a bracket of `sed`")
        elif text[at] == "[" and text[at + 1 : at + 2] in (":", ".", "="):
            end = text.find(text[at + 1] + "]", at + 2)
            at = end + 2 if end >= 0 else len(text)
        else:
            at += 2 if text[at] == "\\" else 1
    if at >= len(text):
        raise RefusedError("a bracket of `sed` without its end")
    return at + 1


@attrs.define
class _Sed:
    """A parser of one script; each method consumes what it is named after, or refuses the script."""

    text: str
    at: int = 0
    files: list[tuple[Access, Word]] = attrs.field(factory=list)
    commands: list[str] = attrs.field(factory=list)
    runs_input: bool = False
    is_common: bool = True

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip(self, characters: Iterable[str]) -> str:
        begin = self.at
        while (char := self.peek()) and char in characters:
            self.at += 1
        return self.text[begin : self.at]

    def line(self) -> str:
        """Consume the rest of the line, and return it."""
        begin, end = self.at, self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end
        return self.text[begin : self.at]

    def script(self) -> None:
        while True:
            self.skip(" \t\n;")
            if not self.peek():
                return
            if self.peek() == "#":
                self.line()
            else:
                self.addresses()
                self.command()

    # Addresses -----------------------------------------------------------------------------------

    def addresses(self) -> None:
        if self.address(""):
            self.skip(" \t")
            if self.peek() == ",":
                self.at += 1
                self.skip(" \t")
                if not self.address("+~"):
                    raise RefusedError("an address of `sed`")
        self.skip(" \t!")

    def address(self, signs: str) -> bool:
        char = self.peek()
        if char and char in signs:
            self.at += 1
            return bool(self.skip(_DIGITS))
        if char == "$":
            self.at += 1
            return True
        if self.skip(_DIGITS):
            if self.peek() == "~":
                self.at += 1
                self.skip(_DIGITS)
            return True
        if char == "\\":
            self.at += 1
        elif char != "/":
            return False
        if self.pattern(self.delimiter()):
            self.is_common = False
        self.skip("IM")
        return True

    # Texts between delimiters --------------------------------------------------------------------

    def delimiter(self) -> str:
        char = self.peek()
        if not char or char in _NO_DELIMITERS or not (char.isascii() and char.isprintable()):
            raise RefusedError("a delimiter of `sed`")
        self.at += 1
        return char

    def pattern(self, delimiter: str) -> bool:
        """Consume a regular expression, and return whether it has a delimiter in brackets, where some end it."""
        is_hidden = False
        while (char := self.peek()) != delimiter:
            begin = self.at
            self.at = _end_of_bracket(self.text, begin + 1, delimiter) if char == "[" else begin + 1 + (char == "\\")
            passed = self.text[begin : self.at]
            if not char or len(passed) < self.at - begin or "\n" in passed:
                raise RefusedError("an expression of `sed` without its end")
            is_hidden = is_hidden or (char == "[" and delimiter in _ESCAPED.sub("", passed))
        self.at += 1
        return is_hidden

    def replacement(self, delimiter: str) -> None:
        """Consume the second text of `s` or `y`, in which a backslash may continue a line."""
        while (char := self.peek()) != delimiter:
            if char in ("", "\n"):
                raise RefusedError("a text of `sed` without its end")
            self.at += 1 + (char == "\\")
        self.at += 1

    # Commands ------------------------------------------------------------------------------------

    def command(self) -> None:
        char = self.peek()
        self.at += 1
        after: tuple[str, ...] = ("", "\n", ";", "}", "#")
        if char in ("{", "}"):
            return
        if char in _NUMBERED:
            self.skip(" ")
            self.skip(_DIGITS)
        elif char in _LABELLED:
            self.skip(" ")
            self.skip(_LABEL)
            after = ("", "\n", ";", "}")
        elif char not in _PLAIN:
            self.longer(char)
        if char not in _LABELLED:
            self.skip(" \t")
        if self.peek() not in after:
            raise RefusedError(f"`{self.peek()}` behind a command of `sed`")

    def longer(self, char: str) -> None:
        """Consume the argument of a command that takes one."""
        if char == "s":
            self.substitution()
        elif char == "y":
            delimiter = self.delimiter()
            if self.pattern(delimiter):
                raise RefusedError("a bracket in `y` of `sed`")
            self.replacement(delimiter)
        elif char in _FILES:
            self.file(_FILES[char])
        elif char in _TEXTUAL:
            self.lines()
        elif char == "e":
            self.executed()
        else:
            raise RefusedError(f"the command `{char}` of `sed`")

    def substitution(self) -> None:
        delimiter = self.delimiter()
        if self.pattern(delimiter):
            self.is_common = False
        self.replacement(delimiter)
        if "e" in self.skip(_FLAGS):
            self.runs_input = True
        if self.peek() == "w":
            self.at += 1
            self.file(Access.WRITE)

    def file(self, access: Access) -> None:
        """Consume the name of a file: everything up to the end of the line."""
        self.skip(" \t")
        name = self.line()
        if not name or not name.isprintable() or "\\" in name:
            raise RefusedError("a file name of `sed`")
        self.files.append((access, Word(name)))

    def executed(self) -> None:
        """Consume the rest of the line, which `e` passes to a shell; if it is empty, `e` runs its input."""
        self.skip(" \t")
        text = self.line()
        if "\\" in text:
            raise RefusedError("a backslash behind `e` of `sed`")
        if text:
            self.commands.append(text)
        else:
            self.runs_input = True

    def lines(self) -> None:
        """Consume the text of `a`, `i` or `c`: this line or the next one, and further ones after a backslash."""
        self.skip(" \t")
        if self.peek() == "\\":
            self.at += 1
            blanks = self.skip(" \t")
            if not self.peek() and not blanks:
                return
            if self.peek() == "\n" and not blanks:
                self.at += 1
                self.joined()
                return
        if self.peek() in ("", "\n", "\\"):
            raise RefusedError("a text of `sed` that does not begin")
        self.joined()

    def joined(self) -> None:
        """Consume a line, and the next one too if it ends in a backslash."""
        while True:
            text = self.line()
            if not (len(text) - len(text.rstrip("\\"))) % 2:
                return
            if not self.peek():
                raise RefusedError("a text of `sed` without its end")
            self.at += 1
